import Foundation
import NIOCore
@testable import RefreshCore
import Synchronization
import TestSupport
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Discovery over real connections. The tests set the age of metadata.
struct MetadataCacheTests {
    /// A clock that a test moves.
    private final class Age: Sendable {
        private let start = ContinuousClock.now
        private let seconds = Atomic(0)

        var now: ContinuousClock.Instant { start + .seconds(seconds.load(ordering: .sequentiallyConsistent)) }
        func advance(_ count: Int) { seconds.add(count, ordering: .sequentiallyConsistent) }
    }

    /// The answer of a server on `origin`: the OpenID document, and 404 for the other document.
    private static func discovery(_ request: LoopbackServer.Request, token: String = "/token") -> LoopbackServer.Step? {
        guard request.line.hasPrefix("GET ") else { return nil }
        guard request.line.hasSuffix("/openid-configuration") else { return LoopbackServer.answer(404) }
        let origin = "http://" + (request.header("host") ?? "")
        return LoopbackServer.json(200, #"{"issuer":"\#(origin)","token_endpoint":"\#(origin)\#(token)"}"#)
    }

    private static func request(_ server: LoopbackServer) throws -> RefreshRequest {
        RefreshRequest(
            client: try requestingClient(at: server.origin, registration: ClientRegistration(clientID: "c")),
            refreshToken: RefreshToken(Secret("r1"))
        )
    }

    private func lines(_ server: LoopbackServer, _ prefix: String) -> Int {
        server.requests.count { $0.line.hasPrefix(prefix) }
    }

    @Test func `metadata is fetched once, and again after a day`() async throws {
        let age = Age()
        try await withServer({ request, _ in
            [Self.discovery(request) ?? LoopbackServer.json(200, issuedTokens)]
        }) { server in
            try await withClient({ $0.uptime = { age.now } }) { client in
                for _ in 0..<3 { #expect(await client.refresh(try Self.request(server)).response != nil) }
                #expect(lines(server, "GET") == 2)
                age.advance(86_399)
                _ = await client.refresh(try Self.request(server))
                #expect(lines(server, "GET") == 2)
                age.advance(1)
                #expect(await client.refresh(try Self.request(server)).response != nil)
                #expect(lines(server, "GET") == 4)
            }
        }
    }

    @Test func `the OpenID document is also found where RFC 8414 inserts its name into the issuer`() async throws {
        try await withServer({ request, _ in
            let isThere = request.line == "GET /.well-known/openid-configuration/tenant"
            guard isThere else { return [LoopbackServer.answer(404)] }
            let issuer = request.origin + "/tenant"
            return [LoopbackServer.json(200, #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#)]
        }) { server in
            try await withClient { client in
                let metadata = try await client.metadata(of: Issuer(url: server.origin + "/tenant"))
                #expect(metadata.tokenEndpoint.url == server.origin + "/tenant/token")
            }
            #expect(lines(server, "GET") == 3)
        }
    }

    @Test(arguments: [#""issuer":"https://b.example""#, #""issuer":"ORIGIN""#])
    func `a document that cannot be used is no misconfiguration while the other one is unavailable`(
        fields: String
    ) async throws {
        try await withServer({ request, _ in
            guard request.line.hasSuffix("/openid-configuration") else { return [LoopbackServer.answer(503)] }
            return [LoopbackServer.json(200, "{\(fields.replacing("ORIGIN", with: request.origin))}")]
        }) { server in
            try await withClient { client in
                let fault = await #expect(throws: MetadataError.self) {
                    try await client.metadata(of: Issuer(url: server.origin))
                }
                #expect(fault == .unavailable(status: 503, retryAfter: nil))
            }
        }
    }

    @Test func `many callers at the same time share one fetch`() async throws {
        try await withServer({ request, _ in
            [Self.discovery(request) ?? LoopbackServer.json(200, issuedTokens)]
        }) { server in
            try await withClient { client in
                let issuer = try Issuer(url: server.origin)
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<50 { group.addTask { (try? await client.metadata(of: issuer)) != nil } }
                    for await isFound in group { #expect(isFound) }
                }
                #expect(lines(server, "GET") == 2)
            }
        }
    }

    @Test(arguments: [404, 405, 410])
    func `metadata is fetched again if an endpoint is gone, and the new endpoint is used`(_ status: Int) async throws {
        let age = Age()
        let moved = Atomic(false)
        try await withServer({ request, _ in
            let token = moved.load(ordering: .sequentiallyConsistent) ? "/new" : "/old"
            if let answer = Self.discovery(request, token: token) { return [answer] }
            return [
                request.line == "POST \(token)" ? LoopbackServer.json(200, issuedTokens) : LoopbackServer.answer(status)
            ]
        }) { server in
            try await withClient({ $0.uptime = { age.now } }) { client in
                #expect(await client.refresh(try Self.request(server)).response != nil)
                age.advance(10)
                moved.store(true, ordering: .sequentiallyConsistent)
                let lost = await client.refresh(try Self.request(server))
                #expect(lost.failure?.failureClass == .misconfigured)
                #expect(await client.refresh(try Self.request(server)).response != nil)
                #expect(
                    server.requests.filter { $0.line.hasPrefix("POST") }.map(\.line) == [
                        "POST /old", "POST /old", "POST /new",
                    ]
                )
            }
        }
    }

    /// A store that keeps metadata from one client to the next.
    private final class Shelf: Sendable {
        let kept = EventLog<(place: KeptMetadata.Place, metadata: KeptMetadata)>()
        /// Counts the documents that were refused because no account had their issuer.
        let refused = EventLog<KeptMetadata.Place>()
        let hasAccount = Atomic(true)

        var shelf: MetadataStore {
            MetadataStore(
                find: { [self] place in kept.all.last { $0.place == place }?.metadata },
                keep: { [self] place, metadata in
                    guard hasAccount.load(ordering: .sequentiallyConsistent) else {
                        refused.append(place)
                        return false
                    }
                    kept.append((place, metadata))
                    return true
                }
            )
        }
    }

    @Test func `after a restart kept metadata is used while the fetch fails, and validated again`() async throws {
        let isDown = Atomic(false)
        let shelf = Shelf()
        try await withServer({ request, _ in
            if request.line.hasPrefix("GET"), isDown.load(ordering: .sequentiallyConsistent) {
                return [LoopbackServer.answer(503)]
            }
            return [Self.discovery(request) ?? LoopbackServer.json(200, issuedTokens)]
        }) { server in
            try await withClient { client in
                client.keepMetadata(in: shelf.shelf)
                #expect(await client.refresh(try Self.request(server)).response != nil)
                try await shelf.kept.first("the documents") { _ in true }
            }
            isDown.store(true, ordering: .sequentiallyConsistent)
            let age = Age()
            try await withClient({ $0.uptime = { age.now } }) { client in
                client.keepMetadata(in: shelf.shelf)
                let request = try Self.request(server)
                for _ in 0..<3 { #expect(await client.refresh(request).response != nil) }
                #expect(lines(server, "GET") == 4)
                isDown.store(false, ordering: .sequentiallyConsistent)
                age.advance(6)
                #expect(await client.refresh(request).response != nil)
                #expect(lines(server, "GET") == 6)
            }
        }
    }

    @Test func `metadata that was fetched before the first account is kept at its first use`() async throws {
        let shelf = Shelf()
        shelf.hasAccount.store(false, ordering: .sequentiallyConsistent)
        try await withServer({ request, _ in
            [Self.discovery(request) ?? LoopbackServer.json(200, issuedTokens)]
        }) { server in
            try await withClient { client in
                client.keepMetadata(in: shelf.shelf)
                _ = await client.inspection.finding(about: try Issuer(url: server.origin), profile: nil)
                try await shelf.refused.first("the check's documents") { _ in true }
                shelf.hasAccount.store(true, ordering: .sequentiallyConsistent)
                // The refusal is noted a moment after it was given.
                while shelf.kept.count == 0 {
                    #expect(await client.refresh(try Self.request(server)).response != nil)
                }
            }
            #expect(lines(server, "GET") == 2)
        }
    }

    @Test func `kept metadata follows the rules for fetched metadata, and expires`() async throws {
        let document = { (issuer: String, endpoint: String) in
            Array(#"{"issuer":"\#(issuer)","token_endpoint":"\#(endpoint)"}"#.utf8)
        }
        let day = { (count: Int64) in Duration.seconds(count * 86_400) }
        let cases: [(issuer: String, endpoint: String, age: Duration, isUsed: Bool)] = [
            ("https://login.invalid", "https://login.invalid/token", day(89), true),
            ("https://login.invalid", "https://login.invalid/token", day(90), false),
            ("https://other.invalid", "https://login.invalid/token", .zero, false),
            ("https://login.invalid", "http://127.0.0.1:1/token", .zero, false),
            ("https://login.invalid", "http://login.invalid/token", .zero, false),
        ]
        let now = Timestamp(microseconds: 1_700_000_000_000_000)
        for (issuer, endpoint, age, isUsed) in cases {
            try await withClient({
                $0.now = { now }
                // Nothing listens at the proxy's port, so no server can be asked.
                $0.proxy = ProxySettings(environment: ["https_proxy": "http://127.0.0.1:1"])
            }) { client in
                let kept = KeptMetadata(documents: [document(issuer, endpoint)], fetchedAt: now - age)
                client.keepMetadata(in: MetadataStore(find: { _ in kept }, keep: { _, _ in true }))
                let found = try? await client.metadata(of: Issuer(url: "https://login.invalid"))
                #expect((found?.tokenEndpoint.url == endpoint) == isUsed, "\(issuer) \(endpoint) \(age)")
            }
        }
    }

    @Test func `old metadata is used while the fetch fails, and the server is not asked too often`() async throws {
        let age = Age()
        let isDown = Atomic(false)
        try await withServer({ request, _ in
            if request.line.hasPrefix("GET"), isDown.load(ordering: .sequentiallyConsistent) {
                return [LoopbackServer.answer(503)]
            }
            return [Self.discovery(request) ?? LoopbackServer.json(200, issuedTokens)]
        }) { server in
            try await withClient({ $0.uptime = { age.now } }) { client in
                _ = await client.refresh(try Self.request(server))
                isDown.store(true, ordering: .sequentiallyConsistent)
                age.advance(90_000)
                for _ in 0..<3 { #expect(await client.refresh(try Self.request(server)).response != nil) }
                #expect(lines(server, "GET") == 4)
                age.advance(6)
                isDown.store(false, ordering: .sequentiallyConsistent)
                #expect(await client.refresh(try Self.request(server)).response != nil)
                #expect(lines(server, "GET") == 6)
            }
        }
    }

    @Test func `after a change of network a failed fetch is repeated at once, and on the same network not too often`()
        async throws
    {
        let age = Age()
        let isDown = Atomic(true)
        try await withServer({ request, _ in
            if isDown.load(ordering: .sequentiallyConsistent) { return [LoopbackServer.answer(503)] }
            return [Self.discovery(request) ?? LoopbackServer.json(200, issuedTokens)]
        }) { server in
            let request = try Self.request(server)
            try await withClient({ $0.uptime = { age.now } }) { client in
                for _ in 0..<3 { #expect(await client.refresh(request).response == nil) }
                #expect(lines(server, "GET") == 2)
                isDown.store(false, ordering: .sequentiallyConsistent)
                #expect(await client.refresh(request).response == nil)
                client.forgetFailures()
                #expect(await client.refresh(request).response != nil)
                #expect(lines(server, "GET") == 4)
            }
        }
    }

    @Test func `an endpoint that stays gone is not looked up by every account`() async throws {
        let age = Age()
        try await withServer({ request, _ in [Self.discovery(request) ?? LoopbackServer.answer(404)] }) { server in
            try await withClient({ $0.uptime = { age.now } }) { client in
                for _ in 0..<20 { _ = await client.refresh(try Self.request(server)) }
                #expect(lines(server, "GET") == 2)
                age.advance(5)
                for _ in 0..<20 { _ = await client.refresh(try Self.request(server)) }
                #expect(lines(server, "GET") == 4)
            }
        }
    }

    @Test func `incomplete metadata is fetched again sooner than after a day`() async throws {
        let age = Age()
        try await withServer({ request, _ in
            request.line.hasSuffix("/oauth-authorization-server")
                ? [LoopbackServer.answer(503)] : [Self.discovery(request) ?? LoopbackServer.json(200, issuedTokens)]
        }) { server in
            try await withClient({ $0.uptime = { age.now } }) { client in
                _ = await client.refresh(try Self.request(server))
                age.advance(601)
                _ = await client.refresh(try Self.request(server))
                #expect(lines(server, "GET") == 4)
            }
        }
    }

    struct Refusal: Sendable {
        let answer: LoopbackServer.Step
        let failureClass: FailureClass
        var retryAfter: Duration?
    }

    @Test(arguments: [
        Refusal(answer: LoopbackServer.answer(404), failureClass: .misconfigured),
        Refusal(
            answer: LoopbackServer.answer(503, ["retry-after": "9"]),
            failureClass: .unavailable,
            retryAfter: .seconds(9)
        ),
        Refusal(answer: LoopbackServer.answer(200, [:], "<html>portal</html>"), failureClass: .unavailable),
        Refusal(answer: LoopbackServer.answer(200, [:], "{"), failureClass: .unavailable),
        Refusal(answer: LoopbackServer.answer(302, ["location": "http://portal.example/"]), failureClass: .unavailable),
        Refusal(answer: LoopbackServer.answer(302, ["location": "/login"]), failureClass: .misconfigured),
        Refusal(answer: LoopbackServer.json(200, #"{"issuer":"https://x.example"}"#), failureClass: .misconfigured),
        Refusal(answer: .close, failureClass: .unreachable),
        Refusal(answer: .reset, failureClass: .unreachable),
    ])
    func `without metadata nothing is sent`(_ refusal: Refusal) async throws {
        try await withServer({ _, _ in [refusal.answer] }) { server in
            let outcome = try await withClient { await $0.refresh(try Self.request(server)) }
            #expect(outcome.failure?.failureClass == refusal.failureClass)
            #expect(outcome.failure?.retryAfter == refusal.retryAfter)
            #expect(outcome.failure?.detail.correlationID == "correlation-1")
            #expect(lines(server, "POST") == 0)
        }
    }

    @Test func `a silent server is given up within the discovery time`() async throws {
        try await withServer({ _, _ in [] }) { server in
            let outcome = try await withClient({ $0.discoveryTimeout = .milliseconds(200) }) {
                await $0.refresh(try Self.request(server))
            }
            #expect(outcome.failure?.failureClass == .unreachable)
            #expect(lines(server, "POST") == 0)
        }
    }

    @Test func `if a server hangs on one document, the other is fetched`() async throws {
        try await withServer({ request, _ in
            if request.line.contains("openid-configuration") { return [] }
            let origin = "http://" + (request.header("host") ?? "")
            guard request.line.hasPrefix("GET") else { return [LoopbackServer.json(200, issuedTokens)] }
            return [LoopbackServer.json(200, #"{"issuer":"\#(origin)","token_endpoint":"\#(origin)/t"}"#)]
        }) { server in
            let outcome = try await withClient({ $0.discoveryTimeout = .seconds(6) }) {
                await $0.refresh(try Self.request(server))
            }
            #expect(outcome.response != nil, "\(outcome)")
            #expect(lines(server, "GET /.well-known/openid-configuration") == 1 && lines(server, "POST") == 1)
        }
    }

    @Test func `not more issuers are kept than the limit`() async throws {
        let age = Age()
        try await withServer({ request, _ in
            let origin = "http://" + (request.header("host") ?? "")
            guard let end = request.line.range(of: "/.well-known/openid-configuration") else {
                return [LoopbackServer.answer(404)]
            }
            let issuer = origin + request.line[..<end.lowerBound].dropFirst("GET ".count)
            return [LoopbackServer.json(200, #"{"issuer":"\#(issuer)","token_endpoint":"\#(origin)/t"}"#)]
        }) { server in
            try await withClient {
                $0.metadataLimit = 2
                $0.uptime = { age.now }
            } _: { client in
                for name in ["a", "b", "c"] {
                    _ = try await client.metadata(of: try Issuer(url: "\(server.origin)/\(name)"))
                    age.advance(1)
                }
                #expect(server.requests.count == 6)
                _ = try await client.metadata(of: try Issuer(url: "\(server.origin)/c"))
                #expect(server.requests.count == 6)
                // The first issuer was removed to make room for the third.
                _ = try await client.metadata(of: try Issuer(url: "\(server.origin)/a"))
                #expect(server.requests.count == 8)
            }
        }
    }
}
