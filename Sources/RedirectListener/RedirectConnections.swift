internal import LoopbackPeer
internal import NIOCore
internal import NIOHTTP1

/// The connections of a listener. Lives on its event loop.
final class RedirectConnections {
    let limits: RedirectLimits
    let screen: RequestScreen
    let deliver: RedirectListener.Deliver
    private var open: [ObjectIdentifier: any Channel] = [:]
    /// Those of them that have sent nothing yet, in the order in which they came.
    private var silent: [any Channel] = []
    private var waiting: Set<ObjectIdentifier> = []
    private var isFinished = false

    init(limits: RedirectLimits, screen: RequestScreen, deliver: @escaping RedirectListener.Deliver) {
        self.limits = limits
        self.screen = screen
        self.deliver = deliver
    }

    /// Makes a connection ready for its one request. Another user's is closed without a word; for one too many the oldest that has
    /// sent nothing makes room, and if there is none it is closed itself.
    func begin(_ channel: any Channel) throws {
        guard !isFinished, try isOwn(channel), makeRoom() else { return channel.close(promise: nil) }
        open[ObjectIdentifier(channel)] = channel
        silent.append(channel)
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.closeFuture.whenComplete { _ in bound.value.forget(ObjectIdentifier(channel)) }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteBudget(limits.redirectBytesMax) { bound.value.noteBegun(channel) })
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandler(RedirectConnection(self, channel: channel))
    }

    /// Whether the connection is of a program of this user.
    private func isOwn(_ channel: any Channel) throws -> Bool {
        try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
            LoopbackPeer.isOwn(socket)
        } ?? false
    }

    /// Whether there is room for one more.
    private func makeRoom() -> Bool {
        guard open.count >= limits.redirectConnectionsMax else { return true }
        // Browsers connect in advance, and keep what they do not use.
        guard let oldest = silent.first else { return false }
        forget(ObjectIdentifier(oldest))
        oldest.close(promise: nil)
        return true
    }

    /// Notes that a connection has sent something.
    func noteBegun(_ channel: any Channel) {
        silent.removeAll { $0 === channel }
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
        silent.removeAll { ObjectIdentifier($0) == id }
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
    private var begin: (() -> Void)?

    /// - Parameter begin: called with the first bytes.
    init(_ bytes: Int, begin: @escaping () -> Void) {
        rest = bytes
        self.begin = begin
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        begin?()
        begin = nil
        guard rest >= 0 else { return }
        rest -= unwrapInboundIn(data).readableBytes
        if rest >= 0 { context.fireChannelRead(data) } else { context.fireErrorCaught(Spent()) }
    }
}
