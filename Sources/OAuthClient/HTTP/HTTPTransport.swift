import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OAuthMessages
import RefreshCore
import Synchronization

/// Sends one request and reads its answer, within a time limit. It repeats no request, and follows no redirect.
struct HTTPTransport: Sendable {
    let clients: HTTPClients
    private let configuration: OAuthClientConfiguration
    private let names = NameResolution()

    init(clients: HTTPClients, configuration: OAuthClientConfiguration) {
        self.clients = clients
        self.configuration = configuration
    }

    /// Permission to keep reading after the time limit, for an answer that may hold the only refresh token that the
    /// server still accepts.
    struct Patience: Sendable {
        /// How long to read the answer, from the sending of the request. The time limit holds if it is longer.
        let limit: Duration
        /// Called once, on the event loop, if the time limit passes after the request was sent and before its answer
        /// has come.
        let onOverdue: @Sendable () -> Void
    }

    /// A request to be sent.
    struct Request: Sendable {
        let endpoint: Endpoint
        /// The method; nil means POST with a body, GET without one.
        var method: HTTPMethod?
        var headers: HTTPHeaders
        var body: [UInt8]?
        /// Whether the request holds something that can be used only once. If it has no body, it then counts as sent in
        /// any case.
        var isSpending = false
        /// How long to keep reading after the time limit; nil to stop at the limit.
        var patience: Patience?
        /// The CA file of the profile.
        var caFile: String?
        /// The certificate to present in the handshake; nil for none.
        var identity: ClientIdentity?
    }

    /// Sends `request` and reads the whole answer before `deadline`.
    ///
    /// With patience, the request is sent before `deadline` or not at all, and the answer may come later. The one limit
    /// includes connecting, sending, waiting and reading, so it also ends an answer that comes slowly, byte by byte.
    ///
    /// - Throws: `TransportFailure` if no whole answer arrived.
    func send(_ request: Request, before deadline: ContinuousClock.Instant) async throws(TransportFailure) -> Answer {
        let routed = try await clients.client(
            for: request.endpoint,
            caFile: request.caFile,
            identity: request.identity
        )
        // The client would be shut down if nobody held it.
        defer { withExtendedLifetime(routed) {} }
        let name = clients.nameToLookUp(for: request.endpoint)
        if let name { try await names.pass(name, before: deadline) }
        // A machine that slept since the exchange began has used up its time. The client would still send, but no
        // answer would be read.
        let remaining = configuration.uptime().duration(to: deadline)
        guard remaining > .zero else { throw TransportFailure(cause: .timeLimit, wasSent: false) }
        let progress = SendingProgress(isSentWithHead: request.isSpending && request.body == nil)
        let reader = AnswerReader(on: clients.eventLoop, limit: configuration.bodyLimit)
        do {
            let message = try message(of: request, before: deadline, noting: progress)
            let limit = max(remaining, request.patience?.limit ?? remaining)
            // This uses the client's futures, because their time limit lasts up to the last byte of the answer. The
            // time limit of the async interface ends with the head.
            let exchange = routed.client.execute(
                request: message,
                delegate: reader,
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
        } catch NIOSSLError.uncleanShutdown {
            if let answer = await reader.wholeAnswer() { return answer }
            throw TransportFailure(cause: .connectionLost, wasSent: progress.isSent)
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
        // RFC 9110 §12.5.3: without this field, a server may choose any encoding, also one that is not known here.
        message.headers.replaceOrAdd(name: "accept-encoding", value: "identity")
        message.body = request.body.map { body in
            .stream(contentLength: Int64(body.count)) { [configuration, clients] connection in
                // The machine may have slept while the connection was made. A refresh token must not be sent hours
                // later.
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

/// Records how far the sending of one request has come.
///
/// The HTTP client asks for the body only after it has written the head of the request to an open connection. Until
/// then a refresh token in the body has certainly not left this process; afterwards it may have arrived.
private final class SendingProgress: Sendable {
    private let isSentWithHead: Bool
    private let bodyTaken = Atomic(false)
    private let outOfTime = Atomic(false)

    /// - Parameter isSentWithHead: whether the request counts as sent from the beginning, because the code or token in
    ///   it is not in a body.
    init(isSentWithHead: Bool) {
        self.isSentWithHead = isSentWithHead
    }

    var isBodyTaken: Bool { bodyTaken.load(ordering: .sequentiallyConsistent) }
    /// Whether the code or token in the request may have left this process.
    var isSent: Bool { isSentWithHead || isBodyTaken }
    /// Whether the time limit has ended the request.
    var hasRunOut: Bool { outOfTime.load(ordering: .sequentiallyConsistent) }

    func takeBody() { bodyTaken.store(true, ordering: .sequentiallyConsistent) }
    func runOut() { outOfTime.store(true, ordering: .sequentiallyConsistent) }
}

/// Assembles an answer from the parts that arrive on the event loop.
private final class AnswerReader: HTTPClientResponseDelegate {
    private let answer: NIOLoopBoundBox<Answer?>
    private let eventLoop: any EventLoop
    private let limit: Int

    /// - Parameter limit: the longest body that is read, in bytes.
    init(on eventLoop: any EventLoop, limit: Int) {
        answer = .makeBoxSendingValue(nil, eventLoop: eventLoop)
        self.eventLoop = eventLoop
        self.limit = limit
    }

    /// The answer, if its body is a whole JSON object although the connection ended without TLS's own end; nil if not.
    ///
    /// If a server states no length, the end of the connection ends the answer. Servers in Python do not close TLS
    /// properly then. Somebody who cuts the connection makes the answer shorter, but a JSON object without its end is
    /// not accepted here. The answer may hold the only refresh token that the server still accepts.
    func wholeAnswer() async -> Answer? {
        guard let answer = try? await eventLoop.submit({ self.answer.value }).get(),
            JSONValue.object(inAnswer: Array(answer.text)) != nil
        else { return nil }
        return answer
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
        // A failed future ends the connection, because the rest is not worth reading.
        return task.eventLoop.makeFailedFuture(OversizedAnswer(answer: cut))
    }

    func didFinishRequest(task: HTTPClient.Task<Answer>) throws -> Answer {
        guard let answer = answer.value else { throw HTTPClientError.remoteConnectionClosed }
        return answer
    }
}

/// Carries an answer that was cut off at the limit out of the client.
private struct OversizedAnswer: Error {
    let answer: Answer
}

extension TransportCause {
    /// The failure for an error of the HTTP client, NIO or TLS.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPClientError: self = Self.httpCauses.first { $0.error == error }?.cause ?? .other
        case let error as NIOConnectionError:
            // Both lookups fail if the name does not exist. One alone fails normally for a host with one kind of
            // address.
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
            // NIOSSL does not expose BoringSSL's reason. This is its symbolic name, not a sentence. The fault of the
            // certificate (time, issuer, purpose) is not given at all.
            return stack.contains { $0.description.contains("CERTIFICATE_VERIFY_FAILED") } ? .certificate : .tls
        case .uncleanShutdown:
            return .connectionLost
        default:
            return .tls
        }
    }
}
