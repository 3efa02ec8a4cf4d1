import Foundation
import RefreshCore
import TestSupport
import Testing

@testable import OAuthClient
@testable import OAuthMessages

struct ProxyTests {
    /// A host that does not exist, so that only the proxy can lead to it.
    private static let origin = "https://auth.example.test"

    private func outcome(
        _ environment: [String: String],
        origin: String = origin,
        caFile: String? = nil
    ) async throws -> RefreshOutcome {
        try await withClient {
            $0.proxy = ProxySettings(environment: environment)
            $0.caFile = caFile
        } _: {
            await $0.refresh(try refreshRequest(to: origin))
        }
    }

    @Test func `a refresh goes through the proxy's tunnel, and the proxy sees no token`() async throws {
        let authority = try TestAuthority()
        let tls = try authority.server(for: "DNS:auth.example.test")
        let script: LoopbackServer.Script = { request, _ in
            request.line.hasPrefix("CONNECT") ? [.openTunnel(tls)] : [LoopbackServer.json(200, issuedTokens)]
        }
        try await withServer(script) { server in
            let proxy = "http://user:p%40ss@127.0.0.1:\(server.port)"
            let outcome = try await outcome(["HTTPS_PROXY": proxy], caFile: authority.caFile)
            #expect(outcome.response != nil)
            #expect(server.requests.map(\.line) == ["CONNECT auth.example.test:443", "POST /token"])
            let connect = try #require(server.requests.first)
            let credentials = Data("user:p@ss".utf8).base64EncodedString()
            #expect(connect.header("proxy-authorization") == "Basic \(credentials)")
            #expect(!connect.head.contains("sent-refresh-token") && connect.body.isEmpty)
            #expect(server.requests.last?.header("proxy-authorization") == nil)
        }
        try authority.remove()
    }

    @Test func `a proxy that asks for credentials gives a temporary failure that says so`() async throws {
        try await withServer({ _, _ in [LoopbackServer.answer(407, ["proxy-authenticate": "Basic"])] }) { server in
            let outcome = try await outcome(["https_proxy": "127.0.0.1:\(server.port)"])
            #expect(outcome.failure?.failureClass == .unavailable)
            #expect(outcome.failure?.detail.summary == "the proxy asks for credentials (407)")
        }
    }

    @Test(arguments: [403, 502, 503])
    func `a proxy that opens no connection leaves the server unreachable`(_ status: Int) async throws {
        try await withServer({ _, _ in [LoopbackServer.answer(status)] }) { server in
            let outcome = try await outcome(["https_proxy": "http://127.0.0.1:\(server.port)/"])
            #expect(outcome.failure?.failureClass == .unreachable)
        }
    }

    @Test func `a proxy that is down leaves the server unreachable`() async throws {
        let server = try await LoopbackServer.start { _, _ in [] }
        try await server.stop()
        let outcome = try await outcome(["https_proxy": "http://127.0.0.1:\(server.port)"])
        #expect(outcome.failure?.failureClass == .unreachable)
    }

    @Test(arguments: ["socks5://127.0.0.1:1", "https://127.0.0.1:1", "http://127.0.0.1:x", "http://"])
    func `a proxy that cannot be used is misconfiguration, and is not bypassed`(_ address: String) async throws {
        let outcome = try await outcome(["HTTPS_PROXY": address])
        #expect(outcome.failure?.failureClass == .misconfigured)
        #expect(outcome.failure?.detail.summary.contains("HTTPS_PROXY") == true)
    }

    @Test func `requests to this machine never go through a proxy`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let outcome = try await outcome(["HTTPS_PROXY": "http://127.0.0.1:9"], origin: server.origin)
            #expect(outcome.response != nil)
        }
    }

    @Test(arguments: [
        ("", true), ("*", false), ("auth.example.test", false), ("AUTH.example.test", false), ("example.test", false),
        (".example.test", false), ("*.example.test", false), ("other.test, example.test", false),
        ("other.test example.test", false), ("auth.example.test:443", false), ("auth.example.test:8443", true),
        ("h.example.test", true), ("auth.example", true), ("test.", true),
    ])
    func `NO_PROXY names hosts and domains`(_ list: String, _ isCovered: Bool) throws {
        let endpoint = try #require(Endpoint(Self.origin + "/token"))
        let settings = ProxySettings(environment: ["HTTPS_PROXY": "http://p.test:3128", "NO_PROXY": list])
        #expect(settings.covers(endpoint) == isCovered)
    }

    @Test func `lower-case variables are preferred, and empty ones are ignored`() {
        let both = ["https_proxy": "http://low.test:1", "HTTPS_PROXY": "http://up.test:2"]
        #expect(ProxySettings(environment: both).server?.host == "low.test")
        let empty = ["https_proxy": "", "HTTPS_PROXY": "http://up.test:2"]
        #expect(ProxySettings(environment: empty).server?.port == 2)
        #expect(ProxySettings(environment: [:]).server == nil)
    }
}
