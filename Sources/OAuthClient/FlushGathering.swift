import NIOCore

/// Sends all that one turn of the event loop brings for a connection by one system call.
///
/// The HTTP client flushes a request's head before it asks for the body. Sent by themselves they are two segments, and two
/// wake-ups of whoever reads them.
final class FlushGathering: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer

    private var isFlushPending = false

    func flush(context: ChannelHandlerContext) {
        guard !isFlushPending else { return }
        isFlushPending = true
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.value.eventLoop.assumeIsolated().execute { [self] in
            flushNow(context.value)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // A closing TLS session has something to say, too.
        flushNow(context)
        context.close(mode: mode, promise: promise)
    }

    private func flushNow(_ context: ChannelHandlerContext) {
        guard isFlushPending else { return }
        isFlushPending = false
        context.flush()
    }
}
