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

    @Test(
        arguments: [
            ("socks5://127.0.0.1:1", .resolvesHere), ("socks4a://127.0.0.1:1", .resolvesHere),
            ("ftp://127.0.0.1:1", .unknownKind), ("http://127.0.0.1:x", .malformed), ("http://", .malformed),
            ("http://a b:1", .malformed), ("http://u:%0a@127.0.0.1:1", .malformed), ("http://[::g]:1", .malformed),
        ] as [(String, ProxySettings.Finding)]
    )
    func `a proxy that cannot be used is misconfiguration, and is not bypassed`(
        _ address: String,
        _ flaw: ProxySettings.Finding
    ) async throws {
        let settings = ProxySettings(environment: ["HTTPS_PROXY": address])
        #expect(settings.flaw == flaw && settings.url == nil && settings.address == nil)
        let outcome = try await outcome(["HTTPS_PROXY": address])
        #expect(outcome.failure?.failureClass == .misconfigured)
        #expect(outcome.failure?.detail.summary.contains("HTTPS_PROXY") == true)
    }

    @Test(
        arguments: [
            ("p.test", "http://p.test:80", 80), ("p.test:3128", "http://p.test:3128", 3128),
            ("HTTP://P.test/path?x#y", "http://p.test:80", 80), ("https://p.test", "https://p.test:443", 443),
            ("socks5h://p.test", "socks5h://p.test:1080", 1080), ("http://[::1]:8080", "http://[::1]:8080", 8080),
            ("http://u@p.test:1", "http://u@p.test:1", 1), ("http://u:p@p.test:1", "http://u:p@p.test:1", 1),
            ("http://u:p%40:%2f@p.test:1", "http://u:p%40%3a%2f@p.test:1", 1),
            // What people write without percent-encoding.
            ("http://DOM\\u:p@s%&ß@p.test:1", "http://DOM%5cu:p%40s%25%26%c3%9f@p.test:1", 1),
        ]
    )
    func `libcurl gets a URL with a scheme, a port and percent-encoded credentials`(
        _ text: String,
        _ url: String,
        _ port: Int
    ) {
        let settings = ProxySettings(environment: ["HTTPS_PROXY": text])
        #expect(settings.url?.reveal() == url)
        #expect(settings.address?.port == port)
        #expect(!settings.isUnusable)
    }

    @Test func `requests to this machine never go through a proxy`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let outcome = try await outcome(["HTTPS_PROXY": "http://127.0.0.1:9"], origin: server.origin)
            #expect(outcome.response != nil)
        }
    }

    /// No name server is asked for names below `localhost` (RFC 6761 §6.3).
    static let lists = [
        ("", true), ("*", false), ("other.test *", false), ("auth.example.localhost", false),
        ("AUTH.example.localhost", false), ("example.localhost", false), (".example.localhost", false),
        ("*.example.localhost", false), ("other.test, example.localhost", false),
        ("other.test example.localhost", false), ("localhost", false), ("auth.example.localhost:1", false),
        ("auth.example.localhost:443", true), ("h.example.localhost", true), ("auth.example", true),
        ("localhost.", true), ("127.0.0.0/8", true),
    ]

    @Test(arguments: lists)
    func `NO_PROXY names hosts and domains, and requests to them do not reach the proxy`(
        _ list: String,
        _ isCovered: Bool
    ) async throws {
        try await withServer({ _, _ in [LoopbackServer.answer(503)] }) { server in
            let origin = "https://auth.example.localhost:1"
            let environment = ["HTTPS_PROXY": "http://127.0.0.1:\(server.port)", "NO_PROXY": list]
            let endpoint = try #require(Endpoint(origin + "/token"))
            #expect(ProxySettings(environment: environment).covers(endpoint) == isCovered)
            let outcome = try await outcome(environment, origin: origin)
            #expect(outcome.failure != nil)
            #expect(server.requests.isEmpty != isCovered)
        }
    }

    @Test(
        arguments: [
            ("192.0.2.0/24", "192.0.2.9", false), ("192.0.2.0/29", "192.0.2.9", true),
            ("192.0.2.9", "192.0.2.9", false), ("0.0.0.0/0", "192.0.2.9", false), ("0.0.0.0/33", "192.0.2.9", true),
            ("2001:db8::/32", "[2001:db8::1]", false), ("2001:db8::/33", "[2001:db8:8000::1]", true),
            ("192.0.2.0/24", "[2001:db8::1]", true), ("2001:DB8:0::1", "[2001:db8::1]", false),
            ("192.0.2.9:443", "192.0.2.9", false), ("192.0.2.9:8443", "192.0.2.9", true),
        ]
    )
    func `NO_PROXY names ranges of addresses`(_ list: String, _ host: String, _ isCovered: Bool) throws {
        let endpoint = try #require(Endpoint("https://\(host)/token"))
        let settings = ProxySettings(environment: ["HTTPS_PROXY": "http://p.test:3128", "NO_PROXY": list])
        #expect(settings.covers(endpoint) == isCovered)
    }

    @Test(
        arguments: [
            (["https_proxy": "http://low.test:1", "HTTPS_PROXY": "http://up.test:2"], "low.test", "HTTPS_PROXY"),
            (["https_proxy": "", "HTTPS_PROXY": "http://up.test:2"], "up.test", "HTTPS_PROXY"),
            (["ALL_PROXY": "http://all.test:1", "HTTPS_PROXY": "http://up.test:2"], "up.test", "HTTPS_PROXY"),
            (["all_proxy": "socks5h://low.test", "ALL_PROXY": "http://all.test:1"], "low.test", "ALL_PROXY"),
            (["http_proxy": "http://plain.test:1"], nil, nil), ([:], nil, nil),
        ] as [([String: String], String?, String?)]
    )
    func `HTTPS_PROXY is preferred to ALL_PROXY, lower case to capitals, and empty variables are ignored`(
        _ environment: [String: String],
        _ host: String?,
        _ variable: String?
    ) {
        let settings = ProxySettings(environment: environment)
        #expect(settings.address?.host == host)
        #expect(settings.variable == variable)
    }

    @Test func `the configuration is preferred to the environment`() {
        let environment = ["https_proxy": "http://env.test:1", "no_proxy": "a.test, b.test"]
        let settings = ProxySettings(configured: Secret("https://file.test"), environment: environment)
        #expect(settings.address?.host == "file.test")
        #expect(settings.variable == nil)
        #expect(settings.exceptionCount == 2)
        let both = ProxySettings(configured: Secret("file.test"), exceptions: "*.c.test", environment: environment)
        #expect(both.address?.port == 80 && both.exceptionCount == 1)
        // An empty list overrides the variable, too.
        #expect(ProxySettings(exceptions: "", environment: environment).exceptionCount == 0)
    }

    @Test func `a proxy is shown without its credentials`() {
        let settings = ProxySettings(environment: ["HTTPS_PROXY": "http://user:hunter2@p.test:3128"])
        #expect(!"\(settings)".contains("hunter2") && !String(reflecting: settings).contains("hunter2"))
    }
}
