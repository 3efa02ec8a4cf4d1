import NIOCore
import NIOPosix

/// The answer on a connection, as far as it arrived before it was complete or the server closed.
struct RawReply {
    let status: Int?
    /// The headers, with names in lower case.
    let headers: [String: String]
    let body: String
    /// The length of the body according to the head.
    let promisedBytes: Int?

    var isWhole: Bool { promisedBytes == body.utf8.count }

    /// The string value of a top-level field. It works for values without quotes.
    func field(_ name: String) -> String? {
        guard let start = body.firstRange(of: "\"\(name)\":\"")?.upperBound else { return nil }
        return String(body[start...].prefix { $0 != "\"" })
    }
}

/// A client that reads and writes HTTP by hand, so that tests see broken connections and truncated bodies.
enum RawClient {
    /// The time limit for a test that hangs; longer than any test takes on a busy machine.
    static let limit = Duration.seconds(120)

    /// Posts a form to an endpoint. Each call uses a new connection.
    static func post(_ url: String, _ form: String, headers: [String] = []) async throws -> RawReply {
        try await send("POST", url, headers + ["Content-Type: application/x-www-form-urlencoded"], form)
    }

    static func get(_ url: String, headers: [String] = []) async throws -> RawReply {
        try await send("GET", url, headers, "")
    }

    static func send(_ method: String, _ url: String, _ headers: [String], _ body: String) async throws -> RawReply {
        let (port, path) = try split(url)
        let request = request(method, path, headers + ["Connection: close"], body)
        return try await withConnection(port) { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var received = ByteBuffer()
            for try await bytes in inbound { received.writeImmutableBuffer(bytes) }
            return parse(String(buffer: received))
        }
    }

    /// Sends a request and closes the connection as soon as `signal` returns, without waiting for the answer.
    static func postAndHangUp(
        _ url: String,
        _ form: String,
        when signal: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (port, path) = try split(url)
        let request = request("POST", path, ["Content-Type: application/x-www-form-urlencoded"], form)
        try await withConnection(port) { _, outbound in
            try await outbound.write(ByteBuffer(string: request))
            try await signal()
        }
    }

    /// Posts a form and closes the connection when `byteCount` or more bytes of the answer have come. Returns how many
    /// came.
    static func postUntil(byteCount: Int, _ url: String, _ form: String) async throws -> Int {
        let (port, path) = try split(url)
        let request = request("POST", path, ["Content-Type: application/x-www-form-urlencoded"], form)
        return try await withConnection(port) { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var received = 0
            for try await bytes in inbound {
                received += bytes.readableBytes
                if received >= byteCount { break }
            }
            return received
        }
    }

    /// Posts the forms one after the other on one connection. Returns how many answers had status 200.
    static func repeatPost(_ url: String, forms: [String]) async throws -> Int {
        let (port, path) = try split(url)
        return try await withConnection(port) { inbound, outbound in
            var succeeded = 0
            var iterator = inbound.makeAsyncIterator()
            for form in forms {
                try await outbound.write(ByteBuffer(string: request("POST", path, [], form)))
                var received = ""
                while !parse(received).isWhole, let bytes = try await iterator.next() {
                    received += String(buffer: bytes)
                }
                if parse(received).status == 200 { succeeded += 1 }
            }
            return succeeded
        }
    }

    private typealias Inbound = NIOAsyncChannelInboundStream<ByteBuffer>
    private typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

    struct BadURL: Error {}
    struct TookTooLong: Error {}

    private static func withConnection<Result: Sendable>(
        _ port: Int,
        _ body: @escaping @Sendable (Inbound, Outbound) async throws -> Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await channel.executeThenClose { try await body($0, $1) } }
            group.addTask {
                try await Task.sleep(for: limit)
                throw TookTooLong()
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw TookTooLong() }
            return result
        }
    }

    private static func split(_ url: String) throws -> (port: Int, path: String) {
        let prefix = "http://127.0.0.1:"
        guard url.hasPrefix(prefix) else { throw BadURL() }
        let rest = url.dropFirst(prefix.count)
        guard let slash = rest.firstIndex(of: "/"), let port = Int(rest[..<slash]) else { throw BadURL() }
        return (port, String(rest[slash...]))
    }

    private static func request(_ method: String, _ path: String, _ headers: [String], _ body: String) -> String {
        let lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "Content-Length: \(body.utf8.count)"] + headers
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    private static func parse(_ text: String) -> RawReply {
        guard let end = text.firstRange(of: "\r\n\r\n") else {
            return RawReply(status: nil, headers: [:], body: "", promisedBytes: nil)
        }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        return RawReply(
            status: lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") },
            headers: headers,
            body: String(text[end.upperBound...]),
            promisedBytes: headers["content-length"].flatMap { Int($0) }
        )
    }
}
