internal import Basics
internal import NIOCore
internal import NIOHTTP1

/// One browser's connection: it takes one request, sends one page and closes.
final class RedirectConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a browser may take to read the page before the connection is closed.
    private static let drainTimeout = TimeAmount.seconds(2)

    private enum State {
        case idle
        /// The body of a form is arriving.
        case form([UInt8])
        /// The request is complete. The page is about to be sent, or was sent.
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
            switch RequestHead(head).outcome(at: connections.path, port: channel.localAddress?.port ?? 0) {
            case .query(let query): delivery = Array(query.utf8)
            case .form: state = .form([])
            case .refused(let status): refuse(HTTPResponseStatus(statusCode: status))
            }
        case (.body(let bytes), .form(var form)):
            form.append(contentsOf: bytes.readableBytesView)
            state = .form(form)
        case (.end, .form(let form)):
            deliver(form)
        case (.end, .idle):
            if let delivery { deliver(delivery) }
        // The body of a query, data after a refusal, or a second request: ignored, because only one page is sent.
        case (.head, _), (.body, _), (.end, _): break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        refuse(error is ByteToMessageDecoderError.PayloadTooLargeError ? .payloadTooLarge : .badRequest)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The browser will send nothing more, but it can still read a page that is sent later.
        if case .inputClosed? = event as? ChannelEvent, case .answering = state { return }
        if event is ChannelEvent { channel.close(promise: nil) }
    }

    private func refuse(_ status: HTTPResponseStatus) {
        send(status == .notFound ? .unknown : .noAnswer, status: status)
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
        // CSP Level 3 §7.1 recommends 128 bits.
        let nonce = RandomText.text(bits: 128)
        let html = page.html(nonce: nonce)
        var headers = HTTPHeaders(RedirectPage.headers(for: html, nonce: nonce))
        // RFC 9110 §15.4.4: the browser follows with GET, whatever method it used here.
        if let location = page.location { headers.add(name: "Location", value: location) }
        let shown = page.location == nil ? status : .seeOther
        let head = HTTPResponseHead(version: .http1_1, status: shown, headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: html))), promise: nil)
        let sent = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
        // Only the output is closed. If everything were closed now and unread data were left, the kernel would discard
        // what the browser has not read yet.
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

/// The connections of a listener. It is used only on the listener's event loop.
final class RedirectConnections {
    let limits: RedirectLimits
    /// The only path that accepts deliveries.
    let path: String
    let deliver: RedirectListener.Deliver
    private var open: [ObjectIdentifier: any Channel] = [:]
    /// The connections that have sent nothing yet, in the order in which they came.
    private var silent: [any Channel] = []
    private var waiting: Set<ObjectIdentifier> = []
    private var isFinished = false

    init(limits: RedirectLimits, path: String, deliver: @escaping RedirectListener.Deliver) {
        self.limits = limits
        self.path = path
        self.deliver = deliver
    }

    /// Prepares a connection for its one request. A connection of another user is closed without an answer. If there
    /// are too many, the oldest that has sent nothing is closed instead; if all have sent something, the new one is
    /// closed.
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

    /// Whether the connection comes from a program of this user.
    private func isOwn(_ channel: any Channel) throws -> Bool {
        try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
            LoopbackPeer.isOwn(socket)
        } ?? false
    }

    /// Makes room for one more connection. Returns whether there is room.
    private func makeRoom() -> Bool {
        guard open.count >= limits.redirectConnectionsMax else { return true }
        // Browsers open connections in advance, and keep unused ones open.
        guard let oldest = silent.first else { return false }
        forget(ObjectIdentifier(oldest))
        oldest.close(promise: nil)
        return true
    }

    /// Records that a connection has sent something.
    func noteBegun(_ channel: any Channel) {
        silent.removeAll { $0 === channel }
    }

    /// Records that a connection's request was delivered and waits for its page.
    func awaitPage(_ channel: any Channel) {
        waiting.insert(ObjectIdentifier(channel))
    }

    /// Closes all connections except those that wait for a page. These close themselves after they have sent it.
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

/// Passes a limited number of bytes of a connection on. When the limit is exceeded, it reports that once and passes
/// nothing on any more.
final class ByteBudget: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

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
        if rest >= 0 {
            context.fireChannelRead(data)
        } else {
            context.fireErrorCaught(ByteToMessageDecoderError.PayloadTooLargeError())
        }
    }
}

extension RedirectPage {
    /// The page for an address that this listener does not have.
    static let unknown = RedirectPage(
        .notice,
        title: "This page does not exist",
        text: "A sign-in on this machine is waiting for its answer at another address.",
        advice: "Continue in the window where you were signing in."
    )

    /// The page for a request that delivers nothing.
    static let noAnswer = RedirectPage(
        .failure,
        title: "This is not an answer to a sign-in",
        text: "The browser sent something else, which was not read. The present sign-in continues.",
        advice: "Continue in the window where you were signing in."
    )
}

extension RequestHead {
    fileprivate init(_ head: HTTPRequestHead) {
        self.init(
            method: head.method.rawValue,
            target: head.uri,
            fields: head.headers.map { (name: $0.name, value: $0.value) }
        )
    }
}
