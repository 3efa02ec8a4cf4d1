import DemoIssuer
import Testing

/// The administration interface, as tests in another process use it.
struct AdministrationTests {
    @Test func `a grant issued over HTTP can be refreshed, inspected and revoked`() async throws {
        try await withIssuer { _, url in
            let issued = try await RawClient.post(url + "/admin/grants", "client_id=app&subject=carol&scope=a+b")
            #expect(issued.status == 201)
            let tokens = try await refresh(url, try #require(issued.field("refresh_token")))
            #expect(tokens.field("scope") == "a b")
            let summary = try await RawClient.get(url + "/admin/grants/1")
            #expect(summary.field("subject") == "carol" && summary.body.contains(#""generation":2"#))
            #expect(try await RawClient.post(url + "/admin/grants/1/revoke", "").status == 204)
            let refused = try await refresh(url, try #require(tokens.field("refresh_token")))
            #expect(refused.field("error") == "invalid_grant")
            #expect(try await RawClient.get(url + "/admin/grants/1").field("revoked_by") == "administrator")
        }
    }

    @Test func `policy changes apply to what comes next`() async throws {
        try await withIssuer { issuer, url in
            let form = "access_token_lifetime_ms=20000&rotation=off&id_tokens=on"
            let accepted = try await RawClient.post(url + "/admin/policy", form)
            #expect(accepted.status == 204)
            var expected = GrantPolicy(accessTokenLifetime: .seconds(20), isRotating: false)
            expected.refreshesIDTokens = true
            #expect(await issuer.policy == expected)
            let badToggle = try await RawClient.post(url + "/admin/policy", "rotation=perhaps")
            #expect(badToggle.status == 400)
            let badPeriod = try await RawClient.post(url + "/admin/policy", "rotation=on&access_token_lifetime_ms=-1")
            #expect(badPeriod.status == 400)
            #expect(await issuer.policy == expected)
        }
    }

    @Test func `faults are scripted and cleared`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            let form = "fault=answer&status=429&times=until-cleared"
            #expect(try await RawClient.post(url + "/admin/faults", form).status == 204)
            #expect(try await refresh(url, grant.refreshToken).status == 429)
            #expect(try await refresh(url, grant.refreshToken).status == 429)
            #expect(try await RawClient.send("DELETE", url + "/admin/faults", [], "").status == 204)
            #expect(try await refresh(url, grant.refreshToken).status == 200)
        }
    }

    @Test(arguments: [("delay-after", "&delay_ms=1"), ("answer", "&status=500")])
    func `every fault has its name`(_ name: String, _ fields: String) async throws {
        try await withIssuer { issuer, url in
            #expect(try await RawClient.post(url + "/admin/faults", "fault=\(name)\(fields)").status == 204)
            _ = try await refresh(url, "unknown")
            #expect(await issuer.entries().last?.fault == name)
        }
    }

    @Test(arguments: ["", "fault=earthquake", "fault=delay-after", "fault=answer", "fault=answer&status=500&times=0"])
    func `a nonsensical fault is refused`(_ form: String) async throws {
        try await withIssuer { _, url in
            let reply = try await RawClient.post(url + "/admin/faults", form)
            #expect(reply.status == 400)
        }
    }

    @Test func `the log can be waited for`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            async let waiting = RawClient.get(url + "/admin/log?after=0&wait_ms=15000")
            _ = try await refresh(url, grant.refreshToken)
            #expect(try await waiting.body.contains(#""outcome":"rotated""#))
            let counters = try await RawClient.get(url + "/admin/counters")
            #expect(counters.body.contains(#""token_requests":1"#))
            let patienceOver = try await RawClient.get(url + "/admin/log?after=1&wait_ms=1")
            #expect(patienceOver.body == "[]")
        }
    }

    @Test func `an unknown client or grant is refused`() async throws {
        try await withIssuer { _, url in
            let stranger = try await RawClient.post(url + "/admin/grants", "client_id=nobody")
            #expect(stranger.status == 400)
            let revocation = try await RawClient.post(url + "/admin/grants/7/revoke", "")
            #expect(revocation.status == 404)
            let look = try await RawClient.get(url + "/admin/grants/7")
            #expect(look.status == 404)
        }
    }
}
