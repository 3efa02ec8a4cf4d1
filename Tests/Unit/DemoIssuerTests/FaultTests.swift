import DemoIssuer
import Testing

/// Each scripted fault: what a client sees, and its effects at the server.
struct FaultTests {
    private func generation(_ issuer: DemoIssuer, _ grant: IssuedGrant) async -> Int? {
        await issuer.grant(grant.family)?.generation
    }

    @Test func `a canned answer leaves the grant alone and happens as often as scripted`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.answer(.unavailable(retryAfterSeconds: 7)), times: 2)
            for _ in 1...2 {
                let reply = try await refresh(url, grant.refreshToken)
                #expect(reply.status == 503 && reply.headers["retry-after"] == "7")
            }
            #expect(await generation(issuer, grant) == 1)
            #expect(try await refresh(url, grant.refreshToken).status == 200)
            #expect(await issuer.entries().map(\.outcome) == [.notServed, .notServed, .rotated])
        }
    }

    @Test func `an unmeant invalid_grant passes`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.answer(.oauthError("invalid_grant")))
            let reply = try await refresh(url, grant.refreshToken)
            #expect(reply.status == 400 && reply.field("error") == "invalid_grant")
            #expect(try await refresh(url, grant.refreshToken).status == 200)
        }
    }

    @Test(arguments: [CannedAnswer.html(), .html(status: 502), .junk, .empty])
    func `an invalid answer arrives as written`(_ canned: CannedAnswer) async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.answer(canned))
            let reply = try await refresh(url, grant.refreshToken)
            #expect(reply.status == canned.status)
            #expect(reply.body == canned.body)
            #expect(reply.headers["content-type"] == canned.headers["Content-Type"])
            #expect(await generation(issuer, grant) == 1)
        }
    }

    @Test func `a replaced answer has used up the token`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.replaceAnswer(.html(status: 504)))
            #expect(try await refresh(url, grant.refreshToken).status == 504)
            #expect(await generation(issuer, grant) == 2)
        }
    }

    @Test func `a cut before serving loses nothing`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.cutBefore)
            #expect(try await refresh(url, grant.refreshToken).status == nil)
            #expect(await generation(issuer, grant) == 1)
            #expect(try await refresh(url, grant.refreshToken).status == 200)
        }
    }

    @Test func `a cut after serving loses the answer, and the next try is a reuse`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.cutAfter)
            #expect(try await refresh(url, grant.refreshToken).status == nil)
            #expect(await generation(issuer, grant) == 2)
            #expect(try await refresh(url, grant.refreshToken).field("error") == "invalid_grant")
            #expect(await issuer.grant(grant.family)?.revokedBy == .reuseDetected)
        }
    }

    @Test func `with a grace period the answer lost in a cut can be requested again`() async throws {
        try await withIssuer(policy: GrantPolicy(gracePeriod: .seconds(60))) { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.cutAfter)
            #expect(try await refresh(url, grant.refreshToken).status == nil)
            let again = try await refresh(url, grant.refreshToken)
            #expect(again.status == 200)
            #expect(try await refresh(url, try #require(again.field("refresh_token"))).status == 200)
        }
    }

    @Test func `a truncated answer announces more than it contains`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.truncate)
            let reply = try await refresh(url, grant.refreshToken)
            #expect(reply.status == 200)
            let promised = try #require(reply.promisedBytes)
            #expect(reply.body.utf8.count == promised / 2)
            #expect(await generation(issuer, grant) == 2)
        }
    }

    @Test func `a dripping answer arrives completely`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.drip(.milliseconds(1)))
            let clock = ContinuousClock()
            let began = clock.now
            let reply = try await refresh(url, grant.refreshToken)
            #expect(reply.isWhole && reply.field("access_token") != nil)
            #expect(began.duration(to: clock.now) >= .milliseconds(reply.body.utf8.count))
        }
    }

    @Test func `a huge body has the requested length`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.huge(byteCount: 3_000_001))
            let reply = try await refresh(url, grant.refreshToken)
            #expect(reply.isWhole && reply.body.utf8.count == 3_000_001)
            #expect(reply.body.hasPrefix(#"{"token_type""#))
            #expect(await generation(issuer, grant) == 1)
        }
    }

    @Test func `an endless body continues as long as it is read`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.endless)
            let received = try await RawClient.postUntil(byteCount: 5_000_000, url + "/token", form(grant))
            #expect(received >= 5_000_000)
            #expect(await generation(issuer, grant) == 1)
        }
    }

    @Test func `a reset has used up the token, and the answer does not end`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.reset)
            // After an orderly end, this would not throw.
            await #expect(throws: (any Error).self) { try await refresh(url, grant.refreshToken) }
            #expect(await generation(issuer, grant) == 2)
        }
    }

    @Test func `a doubled answer is followed by itself`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.double)
            let reply = try await refresh(url, grant.refreshToken)
            let promised = try #require(reply.promisedBytes)
            let parts = reply.body.split(separator: "HTTP/1.1 200 OK\r\n", omittingEmptySubsequences: false)
            #expect(parts.count == 2 && parts[0].utf8.count == promised)
            #expect(parts[1].hasSuffix(parts[0]))
            #expect(await generation(issuer, grant) == 2)
        }
    }

    @Test(arguments: ["0", "-3600", "1000000000000", #""soon""#])
    func `any lifetime can be stated without changing the rest of the answer`(_ json: String) async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.expiresIn(json))
            let reply = try await refresh(url, grant.refreshToken)
            #expect(reply.isWhole && reply.body.contains("\"expires_in\":\(json),"))
            #expect(try await refresh(url, try #require(reply.field("refresh_token"))).status == 200)
        }
    }

    @Test func `a kept connection is closed at its reuse, and a new one is served`() async throws {
        try await withIssuer { issuer, url in
            let grants = try await issuer.issueGrants(count: 3, clientID: "app")
            try await issuer.script(.cutReused, times: nil)
            #expect(try await RawClient.repeatPost(url + "/token", forms: grants[..<2].map(form)) == 1)
            #expect(await generation(issuer, grants[0]) == 2)
            #expect(await generation(issuer, grants[1]) == 1)
            #expect(try await refresh(url, grants[2].refreshToken).status == 200)
        }
    }

    @Test func `a late answer is served at once`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.delayAfter(.seconds(3600)))
            try await RawClient.postAndHangUp(url + "/token", form(grant)) {
                _ = try await issuer.waitForRequest { $0.outcome == .rotated }
            }
            #expect(await generation(issuer, grant) == 2)
        }
    }

    @Test func `a client that hangs up before it is served does not change the grant`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.delayBefore(.seconds(3600)))
            try await RawClient.postAndHangUp(url + "/token", form(grant)) {
                _ = try await issuer.waitForRequest { $0.outcome == .held }
            }
            let entry = try await issuer.waitForRequest { $0.outcome == .notServed }
            #expect(entry.fault == "delay-before" && entry.family == grant.family)
            #expect(await generation(issuer, grant) == 1)
        }
    }

    @Test func `a short delay ends in the answer`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.delayBefore(.milliseconds(5)))
            try await issuer.script(.delayAfter(.milliseconds(5)))
            let first = try await refresh(url, grant.refreshToken)
            #expect(try await refresh(url, try #require(first.field("refresh_token"))).status == 200)
            #expect(await issuer.entries().map(\.outcome) == [.held, .rotated, .rotated])
        }
    }

    @Test(arguments: [Fault.delayBefore(.seconds(3600)), .delayAfter(.seconds(3600))])
    func `a delay that is ended ends in the answer`(fault: Fault) async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            // No delay has begun, so this ends none.
            await issuer.endDelays()
            try await issuer.script(fault)
            async let reply = refresh(url, grant.refreshToken)
            _ = try await issuer.waitForRequest { $0.path == "/token" }
            await issuer.endDelays()
            #expect(try await reply.status == 200)
        }
    }

    @Test func `cleared faults are gone`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(.cutBefore, times: nil)
            #expect(try await refresh(url, grant.refreshToken).status == nil)
            #expect(try await refresh(url, grant.refreshToken).status == nil)
            await issuer.clearFaults()
            #expect(try await refresh(url, grant.refreshToken).status == 200)
        }
    }

    @Test func `the queue of faults is bounded`() async throws {
        let issuer = DemoIssuer(configuration: IssuerConfiguration(clients: []))
        for _ in 1...10_000 { try await issuer.script(.cutBefore) }
        await #expect(throws: DemoError("too many faults are scripted")) { try await issuer.script(.cutBefore) }
    }

    private func form(_ grant: IssuedGrant) -> String {
        "grant_type=refresh_token&client_id=app&refresh_token=\(grant.refreshToken)"
    }
}
