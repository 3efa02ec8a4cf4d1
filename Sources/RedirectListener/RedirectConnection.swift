internal import NIOCore
internal import NIOHTTP1

/// One browser's connection: one request, one page, the end.
final class RedirectConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a browser may take to read what it was sent, before the connection is closed under it.
    private static let drainTimeout = TimeAmount.seconds(2)

    private enum State {
        case idle
        /// The body of a form comes.
        case form([UInt8])
        /// The request is over, and the page is to be sent, or was.
        case answering
    }

    private let connections: RedirectConnections
    private let channel: any Channel
    private var state = State.idle
    private var delivery: RedirectListener.Delivery?
    private var timeout: Scheduled<Void>?

    init(_ connections: RedirectConnections, channel: any Channel) {
        self.connections = connections
        self.channel = channel
    }

    func handlerAdded(context: ChannelHandlerContext) {
        close(after: TimeAmount(connections.limits.redirectTimeout))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timeout?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .idle):
            switch connections.screen.outcome(of: head, port: channel.localAddress?.port ?? 0) {
            case .query(let query): delivery = Array(query.utf8)
            case .form: state = .form([])
            case .refused(let refusal): send(refusal.page, status: refusal.status)
            }
        case (.body(let bytes), .form(var form)):
            form.append(contentsOf: bytes.readableBytesView)
            state = .form(form)
        case (.end, .form(let form)):
            deliver(form)
        case (.end, .idle):
            if let delivery { deliver(delivery) }
        // The body of a query, what follows a refusal, and a second request: one page is all there is.
        case (.head, _), (.body, _), (.end, _): break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let refusal: RedirectRefusal = error is ByteBudget.Spent ? .tooLarge : .unreadable
        send(refusal.page, status: refusal.status)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The other side will send no more; a page that is still to come can be read all the same.
        if case .inputClosed? = event as? ChannelEvent, case .answering = state { return }
        if event is ChannelEvent { channel.close(promise: nil) }
    }

    private func deliver(_ delivery: RedirectListener.Delivery) {
        state = .answering
        connections.awaitPage(channel)
        close(after: TimeAmount(connections.limits.redirectAnswerTimeout))
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        connections.deliver(delivery) { [eventLoop = channel.eventLoop] page in
            eventLoop.execute { bound.value.send(page, status: .ok) }
        }
    }

    private func send(_ page: RedirectPage, status: HTTPResponseStatus) {
        guard timeout != nil else { return }
        state = .answering
        let html = page.html(nonce: PageNonce.make())
        let headers = HTTPHeaders(PageNonce.headers(for: html))
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: html.text))), promise: nil)
        let sent = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
        // Closed at once, what is still unread here would have the kernel throw away what is still unread there.
        sent.whenComplete { [channel] _ in channel.close(mode: .output, promise: nil) }
        timeout?.cancel()
        timeout = nil
        let channel = channel
        channel.eventLoop.scheduleTask(in: Self.drainTimeout) { channel.close(promise: nil) }
    }

    private func close(after time: TimeAmount) {
        timeout?.cancel()
        let channel = channel
        timeout = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
