internal import LoopbackPeer
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
        var headers = HTTPHeaders(PageNonce.headers(for: html))
        // RFC 9110 §15.4.4: by GET, whatever brought the browser here.
        if let location = page.location { headers.add(name: "Location", value: location) }
        let shown = page.location == nil ? status : .seeOther
        let head = HTTPResponseHead(version: .http1_1, status: shown, headers: headers)
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

/// Says of a request whether it delivers something, before anybody looks at what that is.
struct RequestScreen: Sendable {
    /// The one path that takes deliveries.
    let path: String

    enum Outcome: Equatable {
        /// What stands behind the question mark.
        case query(Substring)
        /// The body is the delivery.
        case form
        case refused(RedirectRefusal)
    }

    /// - Parameter port: the listener's own.
    func outcome(of head: HTTPRequestHead, port: Int) -> Outcome {
        // A page of another site may have made its own name resolve to 127.0.0.1 (DNS rebinding): the browser then sends that name.
        let hosts = head.headers["Host"]
        guard hosts.count == 1, let host = hosts.first, isOurs(host, port: port) else { return .refused(.wrongHost) }
        let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target.first.map(String.init) == path else { return .refused(.noSuchPage) }
        // What a page fetches in the background is no person being sent back. Browsers that say nothing are taken at their word.
        if let destination = head.headers.first(name: "Sec-Fetch-Dest"), destination != "document" {
            return .refused(.notNavigated)
        }
        switch head.method {
        case .GET: return .query(target.count > 1 ? target[1] : "")
        // OAuth 2.0 Form Post Response Mode §2.
        case .POST: return isForm(head) ? .form : .refused(.noForm)
        default: return .refused(.wrongMethod)
        }
    }

    private func isOurs(_ host: String, port: Int) -> Bool {
        // RFC 9110 §7.2: without a port, the scheme's.
        let names = ["127.0.0.1", "[::1]", "localhost"]
        return names.contains { host.lowercased() == "\($0):\(port)" || port == 80 && host.lowercased() == $0 }
    }

    private func isForm(_ head: HTTPRequestHead) -> Bool {
        let type = head.headers.first(name: "Content-Type")?.split(separator: ";").first
        return type?.lowercased() == "application/x-www-form-urlencoded"
    }
}

/// Why a request delivers nothing.
enum RedirectRefusal: Hashable, CaseIterable {
    case wrongHost
    case noSuchPage
    case notNavigated
    case noForm
    case wrongMethod
    case tooLarge
    /// It is no HTTP.
    case unreadable

    var status: HTTPResponseStatus {
        switch self {
        case .wrongHost: .misdirectedRequest
        case .noSuchPage: .notFound
        case .notNavigated: .forbidden
        case .noForm: .unsupportedMediaType
        case .wrongMethod: .methodNotAllowed
        case .tooLarge: .payloadTooLarge
        case .unreadable: .badRequest
        }
    }

    var page: RedirectPage {
        switch self {
        case .noSuchPage:
            RedirectPage(
                .notice,
                title: "This page does not exist",
                text: "A sign-in on this machine is waiting for its answer at another address.",
                advice: "Continue in the window where you were signing in."
            )
        case .wrongHost, .notNavigated, .noForm, .wrongMethod, .tooLarge, .unreadable:
            RedirectPage(
                .failure,
                title: "This is not an answer to a sign-in",
                text: "The browser sent something else, which was not read. The present sign-in continues.",
                advice: "Continue in the window where you were signing in."
            )
        }
    }
}
