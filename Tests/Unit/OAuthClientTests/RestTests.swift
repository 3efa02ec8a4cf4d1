import OAuthMessages
import Testing

@testable import OAuthClient

/// What remains after the last exchange: nothing.
struct RestTests {
    @Test func `after the last exchange, its memory is given back once, and the next exchange works`() async throws {
        let (rests, rest) = AsyncStream.makeStream(of: Void.self)
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            try await withClient({
                $0.rest = .milliseconds(20)
                $0.onRest = { rest.yield() }
            }) { client in
                for _ in 0..<2 {
                    let outcome = await client.refresh(try refreshRequest(to: server.origin))
                    #expect(outcome.response != nil)
                    for await _ in rests { break }
                }
            }
        }
    }
}
