import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import RefreshCore
import Synchronization

/// One request and its answer, within a time limit; nothing is repeated and no redirect followed.
struct HTTPExchange: Sendable {
    let clients: HTTPClients
    let bodyLimit: Int
    private let names = NameGate()

    init(clients: HTTPClients, bodyLimit: Int) {
        self.clients = clients
        self.bodyLimit = bodyLimit
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
        /// The profile's CA file.
        var caFile: String?
        /// The certificate to present in the handshake; nil for none.
        var identity: ClientIdentity?
    }

    /// Sends `request` and reads the whole answer before `deadline`.
    ///
    /// - Throws: `TransportFailure` if no whole answer arrived.
    func send(_ request: Request, before deadline: ContinuousClock.Instant) async throws(TransportFailure) -> Answer {
        let client = try clients.client(
            for: request.endpoint,
            caFile: request.caFile,
            identity: request.identity
        )
        let name = clients.nameToLookUp(for: request.endpoint)
        if let name { try await names.pass(name, before: deadline) }
        // A machine that slept since the exchange began has used up its time: the client would still send, and hear no answer.
        let remaining = ContinuousClock.now.duration(to: deadline)
        guard remaining > .zero else { throw TransportFailure(cause: .timeLimit, wasSent: false) }
        let bodyWasTaken = BodyWasTaken()
        do {
            var message = try HTTPClient.Request(
                url: request.endpoint.url,
                method: request.method ?? (request.body == nil ? .GET : .POST),
                headers: request.headers
            )
            message.body = request.body.map { body in
                .stream(contentLength: Int64(body.count)) { connection in
                    bodyWasTaken.set()
                    return connection.write(.byteBuffer(ByteBuffer(bytes: body)))
                }
            }
            // By the client's futures: their limit holds to the last byte of the answer, its async face's to the head only.
            let exchange = client.execute(
                request: message,
                delegate: AnswerReader(on: clients.eventLoop, limit: bodyLimit),
                eventLoop: .delegate(on: clients.eventLoop),
                // One limit over connecting, sending, waiting and reading: a server that drips its answer keeps within
                // every shorter one.
                deadline: .now() + TimeAmount(remaining)
            )
            return try await withTaskCancellationHandler {
                try await exchange.get()
            } onCancel: {
                exchange.cancel()
            }
        } catch let cut as OversizedAnswer {
            return cut.answer
        } catch {
            if let name, !bodyWasTaken.isSet { names.forget(name) }
            throw TransportFailure(
                cause: TransportCause(error),
                wasSent: bodyWasTaken.isSet || request.isSpending && request.body == nil
            )
        }
    }
}

/// Whether the connection asked for the request's body.
///
/// The HTTP client does so only after it has written the request's head to an open connection. As long as it did not,
/// the refresh token is certain not to have left this process; everything after is "may have arrived".
private final class BodyWasTaken: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }

    func set() { flag.store(true, ordering: .sequentiallyConsistent) }
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
        answer.value = Answer(status: Int(head.status.code), headers: head.headers)
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
