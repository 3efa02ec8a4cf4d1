@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Refreshes whose connection fails, and the difference between "never sent" and "may have been spent".
struct TransportTests {
    private func failure(
        within limit: Duration = .seconds(10),
        _ script: @escaping LoopbackServer.Script
    ) async throws -> (failure: RefreshFailure, requests: [LoopbackServer.Request]) {
        let result = try await withServer(script) { server in
            let outcome = try await withClient({ ($0.totalTimeout, $0.answerTimeout) = (limit, limit) }) {
                await $0.refresh(try refreshRequest(to: server.origin))
            }
            return (try #require(outcome.failure), server.requests)
        }
        // On a busy machine a short limit may end before the request is sent.
        guard result.1.isEmpty, limit < .seconds(100) else { return result }
        return try await failure(within: limit * 4, script)
    }

    @Test func `a refused connection is unreachable`() async throws {
        let server = try await LoopbackServer.start { _, _ in [] }
        try await server.stop()
        let outcome = try await withClient { await $0.refresh(try refreshRequest(to: server.origin)) }
        #expect(outcome.failure?.failureClass == .unreachable)
        #expect(outcome.failure?.detail.summary == "the server could not be reached")
    }

    @Test func `a name that cannot be resolved is unreachable`() async throws {
        // A label of 70 letters is not valid in DNS, so the network is not asked.
        let origin = "https://" + String(repeating: "a", count: 70) + ".invalid"
        let outcome = try await withClient { await $0.refresh(try refreshRequest(to: origin)) }
        #expect(outcome.failure?.failureClass == .unreachable)
        #expect(outcome.failure?.detail.summary == "the server's name could not be resolved")
    }

    @Test func `without time left for an answer nothing is sent, not even on an open connection`() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        try await withServer({ _, _ in [.send(answer)] }) { server in
            try await withClient { client in
                let endpoint = try #require(Endpoint(server.origin + "/token"))
                let request = HTTPTransport.Request(endpoint: endpoint, headers: [:], body: Array("a=b".utf8))
                _ = try await client.servers.transport.send(request, before: .now + .seconds(10))
                let failure = await #expect(throws: TransportFailure.self) {
                    try await client.servers.transport.send(request, before: .now)
                }
                #expect(failure?.wasSent == false)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a reset after the request is unanswered`() async throws {
        let (failure, requests) = try await failure { _, _ in [.reset] }
        #expect(failure.failureClass == .unanswered)
        #expect(requests.count == 1)
    }

    @Test func `a close after the request is unanswered`() async throws {
        let (failure, requests) = try await failure { _, _ in [.close] }
        #expect(failure.failureClass == .unanswered)
        #expect(requests.count == 1)
    }

    @Test func `silence counts as unanswered at the time limit`() async throws {
        let (failure, requests) = try await failure(within: .seconds(2)) { _, _ in [] }
        #expect(failure.failureClass == .unanswered)
        #expect(failure.detail.summary == "the server did not answer in time")
        #expect(requests.count == 1)
    }

    @Test func `an answer that comes byte by byte is cut off at the time limit`() async throws {
        let (failure, _) = try await failure(within: .seconds(2)) { _, _ in
            [.send("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"), .drip(String(repeating: "x", count: 100_000))]
        }
        #expect(failure.failureClass == .unanswered)
    }

    @Test func `headers that come byte by byte are cut off at the time limit`() async throws {
        let (failure, _) = try await failure(within: .seconds(2)) { _, _ in
            [.drip("HTTP/1.1 200 OK\r\nx: " + String(repeating: "x", count: 10_000))]
        }
        #expect(failure.failureClass == .unanswered)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n" + issuedTokens.dropLast(),
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"acc\r\n",
        "HTTP/1.1 200 OK\r\nconte",
        "HTTP/1.1 40",
    ])
    func `a truncated answer counts as unanswered`(_ text: String) async throws {
        let (failure, requests) = try await failure { _, _ in [.send(text), .close] }
        #expect(failure.failureClass == .unanswered)
        #expect(requests.count == 1)
    }

    /// `issuedTokens` in gzip.
    private static let compressed: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 74, 76, 78, 78, 45, 46, 142, 47, 201, 207, 78, 205, 83, 178, 82, 74,
        52, 84, 210, 81, 2, 115, 226, 75, 42, 11, 82, 129, 34, 78, 169, 137, 69, 169, 69, 64, 209, 212, 138, 130, 204,
        162, 212, 226, 248, 76, 160, 58, 99, 51, 3, 3, 29, 165, 162, 212, 52, 160, 64, 6, 92, 115, 145, 145, 82, 45, 0,
        226, 192, 165, 11, 82, 0, 0, 0,
    ]

    @Test func `an answer that is compressed without being asked for is read`() async throws {
        let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: \(Self.compressed.count)\r\n\r\n"
        try await withServer({ _, _ in [.send(head), .sendBytes(Self.compressed)] }) { server in
            let outcome = try await withClient { await $0.refresh(try refreshRequest(to: server.origin)) }
            #expect(outcome.response?.refreshToken == RefreshToken(Secret("r2")))
            #expect(server.requests.first?.header("accept-encoding") == "identity")
        }
    }

    @Test func `a compressed answer that is longer than the limit, or cut, counts as unanswered`() async throws {
        let cases = [(issuedTokens.utf8.count - 1, Self.compressed[...]), (1 << 20, Self.compressed.dropLast(30))]
        for (limit, part) in cases {
            let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: \(part.count)\r\n\r\n"
            try await withServer({ _, _ in [.send(head), .sendBytes(Array(part))] }) { server in
                let outcome = try await withClient({ $0.bodyLimit = limit }) {
                    await $0.refresh(try refreshRequest(to: server.origin))
                }
                #expect(outcome.failure?.failureClass == .unanswered)
            }
        }
    }

    @Test(arguments: ["000", "001", "099"])
    func `an answer with a status below 100 counts as unanswered, and the next request is answered`(
        _ status: String
    ) async throws {
        let script: LoopbackServer.Script = { _, index in
            index > 0
                ? [LoopbackServer.json(200, issuedTokens)]
                : [.send("HTTP/1.1 \(status) x\r\ncontent-length: 2\r\n\r\n{}")]
        }
        try await withServer(script) { server in
            try await withClient { client in
                let request = try refreshRequest(to: server.origin)
                #expect(await client.refresh(request).failure?.failureClass == .unanswered)
                #expect(await client.refresh(request).response != nil)
            }
        }
    }

    @Test func `an answer that is not HTTP counts as unanswered`() async throws {
        let (failure, _) = try await failure { _, _ in [.send("SSH-2.0-OpenSSH_9.2\r\n\r\n"), .close] }
        #expect(failure.failureClass == .unanswered)
    }

    @Test func `an answer of 100 MB is cut at the limit`() async throws {
        let part = String(repeating: " ", count: 65_536)
        let script: LoopbackServer.Script = { _, _ in
            [.send("HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n"), .flood(part, limit: 104_857_600)]
        }
        try await withServer(script) { server in
            let outcome = try await withClient { await $0.refresh(try refreshRequest(to: server.origin)) }
            #expect(outcome.failure?.failureClass == .unanswered)
            #expect(outcome.failure?.detail.summary == "the answer was larger than the limit")
            // The rest stayed in the server. The client read up to the limit, and some is in socket buffers.
            #expect(server.floodedBytes < 30_000_000)
        }
    }

    @Test func `an answer of exactly the limit is read`() async throws {
        // A whole object would end the reading.
        let form = "access_token=a1&note="
        let body = form + String(repeating: "x", count: (1 << 20) - form.utf8.count)
        let read = { (body: String) in
            try await withServer({ _, _ in [LoopbackServer.json(200, body)] }) { server in
                try await withClient { await $0.refresh(try refreshRequest(to: server.origin)) }
            }
        }
        #expect(try await read(body).response != nil)
        #expect(try await read(body + "x").failure?.failureClass == .unanswered)
    }

    @Test func `a redirect is not followed`() async throws {
        let (failure, requests) = try await failure { _, _ in [LoopbackServer.answer(307, ["location": "/token2"])] }
        #expect(failure.failureClass == .misconfigured)
        #expect(requests.map(\.line) == ["POST /token"])
    }

    @Test func `a cancelled exchange that was sent counts as unanswered`() async throws {
        let (sent, continuation) = AsyncStream.makeStream(of: Void.self)
        let script: LoopbackServer.Script = { _, _ in
            continuation.yield()
            return []
        }
        try await withServer(script) { server in
            try await withClient { client in
                let request = try refreshRequest(to: server.origin)
                let task = Task { await client.refresh(request) }
                for await _ in sent { break }
                task.cancel()
                #expect(await task.value.failure?.failureClass == .unanswered)
            }
        }
    }

    @Test func `after shutdown nothing is sent`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let client = OAuthClient()
            await client.shutdown()
            let outcome = await client.refresh(try refreshRequest(to: server.origin))
            #expect(outcome.failure?.failureClass == .unreachable)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `thirty-two refreshes at once get their own answers`() async throws {
        let script: LoopbackServer.Script = { request, _ in
            let token = request.body.split(separator: "=").last ?? ""
            return [LoopbackServer.json(200, #"{"access_token":"for-\#(token)"}"#)]
        }
        try await withServer(script) { server in
            try await withClient { client in
                await withThrowingTaskGroup(of: Bool.self) { group in
                    for index in 0..<32 {
                        group.addTask {
                            let registration = ClientRegistration(clientID: "client-\(index)")
                            let request = try refreshRequest(to: server.origin, registration: registration)
                            let response = await client.refresh(request).response
                            return response?.accessToken == AccessToken(Secret("for-client-\(index)"))
                        }
                    }
                    while let isOwn = try? await group.next() { #expect(isOwn) }
                }
                #expect(server.requests.count == 32)
            }
        }
    }
}
