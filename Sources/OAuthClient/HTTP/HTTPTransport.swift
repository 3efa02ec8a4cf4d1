import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OAuthMessages
import RefreshCore
import Synchronization

/// One request and its answer, within a time limit; nothing is repeated and no redirect followed.
struct HTTPTransport: Sendable {
    let clients: HTTPClients
    private let configuration: OAuthClientConfiguration
    private let names = NameResolution()

    init(clients: HTTPClients, configuration: OAuthClientConfiguration) {
        self.clients = clients
        self.configuration = configuration
    }

    /// The wish to read on after the time limit, for an answer that may hold the only refresh token the server still takes.
    struct Patience: Sendable {
        /// How long the answer is read for, from when the request is sent; the time limit if that is longer.
        let limit: Duration
        /// Called once, on the event loop, when the time limit has passed with the request sent and its answer still to come.
        let onOverdue: @Sendable () -> Void
    }

    /// A request as it goes out.
    struct Request: Sendable {
        let endpoint: Endpoint
        /// Nil: POST with a body, GET without.
        var method: HTTPMethod?
        var headers: HTTPHeaders
        var body: [UInt8]?
        /// Whether it holds something that is good for one use. Then one without a body counts as sent, whatever became of it.
        var isSpending = false
        /// Nil if no answer is read after the time limit.
        var patience: Patience?
        /// The profile's CA file.
        var caFile: String?
        /// The certificate to present in the handshake; nil for none.
        var identity: ClientIdentity?
    }

    /// Sends `request` and reads the whole answer before `deadline`.
    ///
    /// With patience the request is sent before `deadline` or not at all, and its answer is read for longer. One limit holds over
    /// connecting, sending, waiting and reading, so a server that drips its answer keeps within it.
    ///
    /// - Throws: `TransportFailure` if no whole answer arrived.
    func send(_ request: Request, before deadline: ContinuousClock.Instant) async throws(TransportFailure) -> Answer {
        let routed = try await clients.client(
            for: request.endpoint,
            caFile: request.caFile,
            identity: request.identity
        )
        // A client that nobody holds is shut down.
        defer { withExtendedLifetime(routed) {} }
        let name = clients.nameToLookUp(for: request.endpoint)
        if let name { try await names.pass(name, before: deadline) }
        // A machine that slept since the exchange began has used up its time: the client would still send, and hear no answer.
        let remaining = configuration.uptime().duration(to: deadline)
        guard remaining > .zero else { throw TransportFailure(cause: .timeLimit, wasSent: false) }
        let progress = SendingProgress(isSentWithHead: request.isSpending && request.body == nil)
        do {
            let message = try message(of: request, before: deadline, noting: progress)
            let limit = max(remaining, request.patience?.limit ?? remaining)
            // By the client's futures: their limit holds to the last byte of the answer, its async face's to the head only.
            let exchange = routed.client.execute(
                request: message,
                delegate: AnswerReader(on: clients.eventLoop, limit: configuration.bodyLimit),
                eventLoop: .delegate(on: clients.eventLoop),
                deadline: .now() + TimeAmount(limit)
            )
            let overdue = request.patience.map { patience in
                clients.eventLoop.scheduleTask(in: TimeAmount(remaining)) {
                    if progress.isSent { return patience.onOverdue() }
                    progress.runOut()
                    exchange.cancel()
                }
            }
            defer { overdue?.cancel() }
            return try await withTaskCancellationHandler {
                try await exchange.get()
            } onCancel: {
                exchange.cancel()
            }
        } catch let cut as OversizedAnswer {
            return cut.answer
        } catch {
            if let name, !progress.isBodyTaken { names.forget(name) }
            throw TransportFailure(
                cause: progress.hasRunOut ? .timeLimit : TransportCause(error),
                wasSent: progress.isSent
            )
        }
    }

    private func message(
        of request: Request,
        before deadline: ContinuousClock.Instant,
        noting progress: SendingProgress
    ) throws -> HTTPClient.Request {
        var message = try HTTPClient.Request(
            url: request.endpoint.url,
            method: request.method ?? (request.body == nil ? .GET : .POST),
            headers: request.headers
        )
        message.body = request.body.map { body in
            .stream(contentLength: Int64(body.count)) { [configuration, clients] connection in
                // The machine may have slept while the connection was made: a refresh token does not leave hours after its time.
                guard configuration.uptime() < deadline else {
                    progress.runOut()
                    return clients.eventLoop.makeFailedFuture(HTTPClientError.deadlineExceeded)
                }
                progress.takeBody()
                return connection.write(.byteBuffer(ByteBuffer(bytes: body)))
            }
        }
        return message
    }
}

/// How far the sending of one request has come.
///
/// The HTTP client asks for the body only after it has written the request's head to an open connection. As long as it did
/// not, a refresh token in the body is certain not to have left this process; everything after is "may have arrived".
private final class SendingProgress: Sendable {
    private let isSentWithHead: Bool
    private let bodyTaken = Atomic(false)
    private let outOfTime = Atomic(false)

    /// - Parameter isSentWithHead: whether the request counts as sent from the beginning, because what it spends is not in a body.
    init(isSentWithHead: Bool) {
        self.isSentWithHead = isSentWithHead
    }

    var isBodyTaken: Bool { bodyTaken.load(ordering: .sequentiallyConsistent) }
    /// Whether what the request spends may have left.
    var isSent: Bool { isSentWithHead || isBodyTaken }
    /// Whether the time limit has ended it.
    var hasRunOut: Bool { outOfTime.load(ordering: .sequentiallyConsistent) }

    func takeBody() { bodyTaken.store(true, ordering: .sequentiallyConsistent) }
    func runOut() { outOfTime.store(true, ordering: .sequentiallyConsistent) }
}

/// Puts an answer together as its parts arrive on the event loop.
private final class AnswerReader: HTTPClientResponseDelegate {
    private let answer: NIOLoopBoundBox<Answer?>
    private let limit: Int

    /// - Parameter limit: longest body read, in bytes.
    init(on eventLoop: any EventLoop, limit: Int) {
        answer = .makeBoxSendingValue(nil, eventLoop: eventLoop)
        self.limit = limit
    }

    func didReceiveHead(task: HTTPClient.Task<Answer>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let headers = AnswerHeaders(head.headers.lazy.map { (name: $0.name, value: $0.value) })
        answer.value = Answer(status: Int(head.status.code), headers: headers)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Answer>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        answer.value?.body.append(contentsOf: part.readableBytesView)
        guard var cut = answer.value, cut.body.count > limit else { return task.eventLoop.makeSucceededVoidFuture() }
        cut.body = []
        cut.isTooLarge = true
        // Failing ends the connection: the rest is not worth reading.
        return task.eventLoop.makeFailedFuture(OversizedAnswer(answer: cut))
    }

    func didFinishRequest(task: HTTPClient.Task<Answer>) throws -> Answer {
        guard let answer = answer.value else { throw HTTPClientError.remoteConnectionClosed }
        return answer
    }
}

/// Carries an answer that was cut at the limit out of the client.
private struct OversizedAnswer: Error {
    let answer: Answer
}

extension TransportCause {
    /// What an error of the HTTP client, NIO or TLS means.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPClientError: self = Self.httpCauses.first { $0.error == error }?.cause ?? .other
        case let error as NIOConnectionError:
            // Both lookups fail where a name does not exist; one alone is normal for a host with one kind of address.
            let isUnresolved = error.connectionErrors.isEmpty && (error.dnsAError != nil || error.dnsAAAAError != nil)
            self = isUnresolved ? .nameResolution : .connection
        case let error as NIOSSLError: self = Self.cause(of: error)
        case let error as NIOSSLExtraError:
            let names: [NIOSSLExtraError] = [.failedToValidateHostname, .serverHostnameImpossibleToMatch]
            self = names.contains(error) ? .certificate : .tls
        case is BoringSSLError: self = .tls
        case is IOError, is ChannelError: self = .connection
        default: self = .other
        }
    }

    private static let httpCauses: [(error: HTTPClientError, cause: TransportCause)] = [
        (.connectTimeout, .connection),
        (.tlsHandshakeTimeout, .tls),
        (.httpProxyHandshakeTimeout, .proxyRefused),
        (.invalidProxyResponse, .proxyRefused),
        (.proxyAuthenticationRequired, .proxySignIn),
        (.getConnectionFromPoolTimeout, .timeLimit),
        (.deadlineExceeded, .timeLimit),
        (.readTimeout, .timeLimit),
        (.writeTimeout, .timeLimit),
        (.remoteConnectionClosed, .connectionLost),
        (.uncleanShutdown, .connectionLost),
    ]

    private static func cause(of error: NIOSSLError) -> TransportCause {
        switch error {
        case .noCertificateToValidate, .unableToValidateCertificate:
            return .certificate
        case .handshakeFailed(.sslError(let stack)):
            // NIOSSL keeps BoringSSL's reason to itself; this is its symbolic name, not a sentence. Which fault the
            // certificate has (time, issuer, purpose) is not said at all.
            return stack.contains { $0.description.contains("CERTIFICATE_VERIFY_FAILED") } ? .certificate : .tls
        case .uncleanShutdown:
            return .connectionLost
        default:
            return .tls
        }
    }
}
