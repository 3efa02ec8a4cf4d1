import Testing

@testable import DemoIssuer

/// What the server records of requests, and how a test waits for one.
struct RequestLogTests {
    private static func overlaps(_ issuer: DemoIssuer, _ url: String, _ first: String, _ second: String) async throws {
        try await issuer.script(.delayBefore(.seconds(3600)))
        try await RawClient.postAndHangUp(url + "/token", form(first)) {
            _ = try await issuer.waitForRequest { $0.outcome == .held }
            _ = try await refresh(url, second)
        }
        _ = try await issuer.waitForRequest { $0.outcome == .notServed }
    }

    private static func form(_ token: String) -> String {
        "grant_type=refresh_token&client_id=app&refresh_token=\(token)"
    }

    @Test func `two refreshes of one family at once are flagged`() async throws {
        try await withIssuer { issuer, url in
            let token = try await issuer.issueGrant(clientID: "app").refreshToken
            try await Self.overlaps(issuer, url, token, token)
            #expect(await issuer.counters.overlaps == 1)
            #expect(await issuer.entries().map(\.overlaps) == [false, true, false])
        }
    }

    @Test func `two families at once are not flagged`() async throws {
        try await withIssuer { issuer, url in
            let first = try await issuer.issueGrant(clientID: "app").refreshToken
            let second = try await issuer.issueGrant(clientID: "app").refreshToken
            try await Self.overlaps(issuer, url, first, second)
            #expect(await issuer.counters.overlaps == 0)
        }
    }

    @Test func `refreshes one after the other do not overlap, not even after a cut`() async throws {
        try await withIssuer(policy: GrantPolicy(isRotating: false)) { issuer, url in
            let token = try await issuer.issueGrant(clientID: "app").refreshToken
            try await issuer.script(.cutAfter)
            for _ in 1...3 { _ = try await refresh(url, token) }
            #expect(await issuer.counters.overlaps == 0)
            #expect(await issuer.counters.tokenRequests == 3)
        }
    }

    @Test func `waiting for a request that does not come ends at the limit`() async throws {
        try await withIssuer { issuer, _ in
            await #expect(throws: DemoError("no request came within 0 s")) {
                _ = try await issuer.waitForRequest(within: .milliseconds(1)) { _ in true }
            }
        }
    }

    @Test func `waiting finds entries after the given sequence number`() async throws {
        try await withIssuer(policy: GrantPolicy(isRotating: false)) { issuer, url in
            let token = try await issuer.issueGrant(clientID: "app").refreshToken
            _ = try await refresh(url, token)
            let seen = await issuer.lastSequence
            async let next = issuer.waitForRequest(after: seen) { $0.outcome == .issued }
            _ = try await refresh(url, token)
            #expect(try await next.sequence == seen + 1)
        }
    }

    @Test func `the log keeps the newest entries and numbers without gaps`() {
        var log = RequestLog()
        let draft = RequestLog.Draft(path: "/token")
        let count = 2 * RequestLog.capacity + 1
        for _ in 1...count { log.append(draft, outcome: .issued, at: .zero) }
        #expect(log.lastSequence == count)
        #expect(log.counters.refreshes == count)
        let kept = log.entries(after: 0)
        #expect(kept.count == RequestLog.capacity && kept.last?.sequence == count)
        #expect(log.entries(after: count - 2).map(\.sequence) == [count - 1, count])
        #expect(log.entries(after: count).isEmpty)
    }

    @Test func `no token is in the log`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            let tokens = try await refresh(url, grant.refreshToken)
            let access = try #require(tokens.field("access_token"))
            _ = try await RawClient.get(url + "/userinfo", headers: ["Authorization: Bearer \(access)"])
            let log = try await RawClient.get(url + "/admin/log")
            #expect(log.body.contains("access-accepted"))
            #expect(!log.body.contains("demo-at-") && !log.body.contains("demo-rt-"))
        }
    }
}
