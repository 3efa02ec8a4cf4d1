internal import NIOCore
internal import NIOHTTP1

/// The connections of a listener. Lives on its event loop.
final class RedirectConnections {
    let limits: RedirectLimits
    let screen: RequestScreen
    let deliver: RedirectListener.Deliver
    private var open: [ObjectIdentifier: any Channel] = [:]
    private var waiting: Set<ObjectIdentifier> = []
    private var isFinished = false

    init(limits: RedirectLimits, screen: RequestScreen, deliver: @escaping RedirectListener.Deliver) {
        self.limits = limits
        self.screen = screen
        self.deliver = deliver
    }

    /// Makes a connection ready for its one request; one too many is closed.
    func begin(_ channel: any Channel) throws {
        guard open.count < limits.redirectConnectionsMax, !isFinished else {
            return channel.close(promise: nil)
        }
        open[ObjectIdentifier(channel)] = channel
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.closeFuture.whenComplete { _ in bound.value.forget(ObjectIdentifier(channel)) }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteBudget(limits.redirectBytesMax))
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandler(RedirectConnection(self, channel: channel))
    }

    /// Notes that a connection's request has been delivered, and its page is not there yet.
    func awaitPage(_ channel: any Channel) {
        waiting.insert(ObjectIdentifier(channel))
    }

    /// Closes all connections but those that wait for a page, which close themselves when they have sent it.
    func finish() {
        isFinished = true
        for (id, channel) in open where !waiting.contains(id) { channel.close(promise: nil) }
    }

    private func forget(_ id: ObjectIdentifier) {
        open[id] = nil
        waiting.remove(id)
    }
}

/// Lets so many bytes of a connection pass; with the next one it says so, and lets nothing pass any more.
final class ByteBudget: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Told to the handlers behind it when the budget is spent.
    struct Spent: Error {}

    private var rest: Int

    init(_ bytes: Int) {
        rest = bytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard rest >= 0 else { return }
        rest -= unwrapInboundIn(data).readableBytes
        if rest >= 0 { context.fireChannelRead(data) } else { context.fireErrorCaught(Spent()) }
    }
}
