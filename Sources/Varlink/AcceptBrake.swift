internal import NIOCore

/// Stops accepting while there is no descriptor or no memory for a connection, in the listening channel's pipeline.
///
/// Without it the event loop would spin: the kernel reports a waiting connection again and again, and each attempt to take it fails.
final class AcceptBrake: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// How long accepting rests after a failure, unless a connection ends before: descriptors may become free elsewhere in the
    /// process, and nobody tells of that.
    private static let rest = TimeAmount.seconds(1)
    /// How long a shortage that was told is not told again: callers that come and go during it would fill the log.
    private static let silence = TimeAmount.minutes(1)

    private let registry: ConnectionRegistry
    private var context: ChannelHandlerContext?
    private var isResting = false
    /// When a shortage was told last.
    private var toldAt: NIODeadline?

    init(registry: ConnectionRegistry) {
        self.registry = registry
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        registry.onRemoval = { [weak self] in self?.resume() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else { return context.fireErrorCaught(error) }
        tell(error)
        guard !isResting else { return }
        isResting = true
        // Holding back `read` is not enough: after a failed one the channel still takes itself for reading.
        setReading(false, context)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.rest) { [weak self] in
            self?.resume()
        }
    }

    private func tell(_ error: IOError) {
        let now = NIODeadline.now()
        if let toldAt, now - toldAt < Self.silence { return }
        toldAt = now
        registry.observe(.acceptFailed(errno: error.errnoCode))
    }

    private func resume() {
        guard isResting, let context else { return }
        isResting = false
        setReading(true, context)
    }

    private func setReading(_ isReading: Bool, _ context: ChannelHandlerContext) {
        // It fails only on a channel that is closed, which accepts nothing anyway.
        try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
    }
}
