import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import RefreshCore
import Synchronization

/// One request and its answer, within a time limit; nothing is repeated and no redirect followed.
struct HTTPExchange: Sendable {
    let clients: HTTPClients
    let bodyLimit: Int

    /// A request as it goes out.
    struct Request: Sendable {
        let endpoint: Endpoint
        var headers: HTTPHeaders
        /// Nil for a GET.
        var form: [UInt8]?
        /// The profile's CA file.
        var caFile: String?
    }

    /// Sends `request` and reads the whole answer before `deadline`.
    ///
    /// - Throws: `TransportFailure` if no whole answer arrived.
    func send(_ request: Request, before deadline: ContinuousClock.Instant) async throws(TransportFailure) -> Answer {
        let body = request.form.map(RequestBody.init)
        let client = try await clients.client(for: request.endpoint, caFile: request.caFile)
        // One limit over connecting, sending, waiting and reading: a server that drips its answer keeps within every shorter one.
        // The event loop keeps it: a sleeping task would keep its timer armed after the answer has come.
        let attempt = Task { try await exchange(request, body, by: client, before: deadline) }
        let limit = clients.eventLoop.scheduleTask(in: TimeAmount(ContinuousClock.now.duration(to: deadline))) {
            attempt.cancel()
        }
        defer { limit.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await attempt.value
            } onCancel: {
                attempt.cancel()
            }
        } catch {
            let isLate = ContinuousClock.now >= deadline
            throw TransportFailure(
                cause: isLate ? TransportCause(TimeLimitReached()) : TransportCause(error),
                wasSent: body?.wasTaken ?? false
            )
        }
    }

    private func exchange(
        _ request: Request,
        _ body: RequestBody?,
        by client: HTTPClient,
        before deadline: ContinuousClock.Instant
    ) async throws -> Answer {
        var message = HTTPClientRequest(url: request.endpoint.url)
        message.headers = request.headers
        if let body {
            message.method = .POST
            message.body = .stream(body, length: .known(Int64(body.bytes.readableBytes)))
        }
        // The attempt is ended from outside; the client's own limit only has to be no shorter.
        let response = try await client.execute(
            message,
            timeout: TimeAmount(ContinuousClock.now.duration(to: deadline)) + .seconds(1)
        )
        var bytes: [UInt8] = []
        for try await part in response.body {
            guard bytes.count + part.readableBytes <= bodyLimit else {
                // Leaving the loop ends the connection.
                return Answer(status: Int(response.status.code), headers: response.headers, body: [], isTooLarge: true)
            }
            bytes.append(contentsOf: part.readableBytesView)
        }
        // A cancelled body ends like a complete one.
        try Task.checkCancellation()
        return Answer(status: Int(response.status.code), headers: response.headers, body: bytes)
    }
}

/// A request body that remembers whether the connection asked for it.
///
/// The HTTP client takes the first element only after it has written the request's head to an open connection. As long
/// as it did not, the refresh token is certain not to have left this process; everything after is "may have arrived".
final class RequestBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let bytes: ByteBuffer
    private let isTaken = Atomic(false)

    init(_ bytes: [UInt8]) {
        self.bytes = ByteBuffer(bytes: bytes)
    }

    var wasTaken: Bool { isTaken.load(ordering: .sequentiallyConsistent) }

    func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: RequestBody

        mutating func next() async -> ByteBuffer? {
            // Marked before the bytes are given away. Asked again, it has nothing more to give: one body is sent once.
            body.isTaken.exchange(true, ordering: .sequentiallyConsistent) ? nil : body.bytes
        }
    }
}
