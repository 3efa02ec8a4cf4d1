import Foundation
import RefreshCore
import Synchronization
import TestSupport
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// One request on one connection, sent once.
struct ExchangeTests {
    @Test func `each request has a connection of its own, which ends with it`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            try await withClient { client in
                for _ in 0..<3 {
                    let outcome = await client.refresh(try refreshRequest(to: server.origin))
                    #expect(outcome.response != nil)
                }
            }
            #expect(server.requests.count == 3)
            #expect(server.connections == 3)
        }
    }

    /// libcurl sends a request again by itself if a kept connection turns out to be dead. A token must not be sent so.
    @Test(arguments: [true, false])
    func `even on a kept connection that has died, a request is not sent twice`(_ hasBody: Bool) async throws {
        let script: LoopbackServer.Script = { _, index in
            // Tokens would end the connection as soon as they are read.
            index == 0 ? [LoopbackServer.json(200, "{}")] : [.close]
        }
        try await withServer(script) { server in
            try await withClient({ $0.reusesConnections = true }) { client in
                let endpoint = try #require(Endpoint(server.origin + "/token"))
                let body = hasBody ? Array("a=b".utf8) : nil
                let request = HTTPTransport.Request(endpoint: endpoint, headers: [:], body: body)
                let limit = ContinuousClock.now + .seconds(120)
                _ = try await client.servers.transport.send(request, before: limit)
                let failure = await #expect(throws: TransportFailure.self) {
                    try await client.servers.transport.send(request, before: limit)
                }
                #expect(failure?.wasSent == hasBody)
            }
            #expect(server.requests.count == 2)
            // If libcurl makes another connection, it may not send on it.
            #expect(server.connections <= 2)
        }
    }

    @Test(arguments: ["a\r\nx: y", "a\nb", "a\u{0}b"])
    func `a header with a line break is refused, and nothing is sent`(_ value: String) async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            try await withClient { client in
                let endpoint = try #require(Endpoint(server.origin + "/token"))
                let request = HTTPTransport.Request(endpoint: endpoint, headers: ["x-tenant": value])
                let failure = await #expect(throws: TransportFailure.self) {
                    try await client.servers.transport.send(request, before: .now + .seconds(120))
                }
                #expect(failure?.cause == .requestRefused && failure?.wasSent == false)
            }
            #expect(server.requests.isEmpty && server.connections == 0)
        }
    }

    @Test func `a request states its length, wants no interim answer, and names no proxy's variables`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let long = String(repeating: "x", count: 100_000)
            _ = try await withClient { await $0.refresh(try refreshRequest(to: server.origin, token: long)) }
            let request = try #require(server.requests.first)
            #expect(request.header("content-length") == String(request.body.utf8.count))
            #expect(request.header("transfer-encoding") == nil && request.header("expect") == nil)
            #expect(request.header("accept-encoding") == "identity" && request.header("connection") == "close")
        }
    }

    @Test func `after the client's end, a request is refused and does not wait for ever`() async throws {
        let client = OAuthClient()
        await client.shutdown()
        for _ in 0..<3 {
            let outcome = await client.refresh(try refreshRequest(to: "http://127.0.0.1:1"))
            #expect(outcome.failure?.failureClass == .unreachable)
        }
    }

    @Test func `the library says its version and that of its TLS`() {
        #expect(HTTPLibrary.version.hasPrefix("libcurl/"))
        #expect(HTTPLibrary.version.contains(" "))
    }
}
