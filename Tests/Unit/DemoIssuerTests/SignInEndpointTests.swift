import DemoIssuer
import Testing

/// The server's own pages: consent, codes, devices.
struct SignInEndpointTests {
    // RFC 7636 appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let back = "http%3A%2F%2F127.0.0.1%3A9%2Fcb"

    private func authorize(_ url: String, _ more: String = "", redirectURI: String = back) -> String {
        "\(url)/authorize?response_type=code&client_id=app&state=s1&redirect_uri=\(redirectURI)\(more)"
    }

    private static let proof = "&code_challenge=\(challenge)&code_challenge_method=S256"

    /// Lets the person decide. Returns the address of the redirect.
    private func decide(_ url: String, _ more: String = proof, _ decision: String = "allow") async throws -> RawReply {
        let page = try await RawClient.get(authorize(url, more))
        let id = try #require(page.body.firstMatch(of: /name="request" value="([^"]*)"/)?.1)
        return try await RawClient.post(
            url + "/authorize/decision",
            "request=\(id)&subject=bob&decision=\(decision)"
        )
    }

    private func exchange(_ url: String, _ code: Substring, verifier: String = verifier) async throws -> RawReply {
        let form = "grant_type=authorization_code&client_id=app&code=\(code)&redirect_uri=\(Self.back)"
        return try await RawClient.post(url + "/token", form + "&code_verifier=\(verifier)")
    }

    private func code(_ reply: RawReply) throws -> Substring {
        let location = try #require(reply.headers["location"])
        return try #require(location.firstMatch(of: /code=([^&]*)/)?.1)
    }

    @Test func `consent brings a code, and the code tokens that can be refreshed`() async throws {
        try await withIssuer { issuer, url in
            let sentBack = try await decide(url)
            #expect(sentBack.status == 303)
            let location = try #require(sentBack.headers["location"])
            #expect(location.hasPrefix("http://127.0.0.1:9/cb?code=demo-code-"))
            #expect(location.contains("&state=s1&iss=http%3A%2F%2F127.0.0.1%3A"))
            let tokens = try await exchange(url, try code(sentBack))
            #expect(tokens.status == 200)
            #expect(tokens.field("access_token")?.hasPrefix("demo-at-") == true)
            #expect(tokens.field("id_token") == nil)
            #expect(try await refresh(url, try #require(tokens.field("refresh_token"))).status == 200)
            #expect(await issuer.grant(1)?.subject == "bob")
            #expect(await issuer.entries().map(\.outcome) == [.asked, .approved, .opened, .rotated])
        }
    }

    @Test func `a code is valid once, and a second use ends the grant`() async throws {
        try await withIssuer { issuer, url in
            let code = try code(try await decide(url))
            let tokens = try await exchange(url, code)
            #expect(try await exchange(url, code).field("error") == "invalid_grant")
            let refreshed = try await refresh(url, try #require(tokens.field("refresh_token")))
            #expect(refreshed.field("error") == "invalid_grant")
            #expect(await issuer.entries().map(\.outcome).contains(.spentCodeUsed))
        }
    }

    @Test func `a code without its verifier is refused`() async throws {
        try await withIssuer { _, url in
            let code = try code(try await decide(url))
            #expect(try await exchange(url, code, verifier: "guess").field("error") == "invalid_grant")
        }
    }

    @Test func `a code expires after a minute`() async throws {
        let clock = TestClock()
        try await withIssuer(now: { clock.now }) { _, url in
            let code = try code(try await decide(url))
            clock.pass(.seconds(60))
            #expect(try await exchange(url, code).field("error") == "invalid_grant")
        }
    }

    @Test func `an ID token names the person and the nonce if openid was granted`() async throws {
        try await withIssuer { _, url in
            let sentBack = try await decide(url, Self.proof + "&scope=openid&nonce=n1")
            let tokens = try await exchange(url, try code(sentBack))
            #expect(tokens.field("id_token")?.split(separator: ".").count == 3)
            #expect(try await RawClient.get(url + "/jwks").body.contains(#""crv":"P-256""#))
        }
    }

    @Test func `a person who refuses sends back an error`() async throws {
        try await withIssuer { _, url in
            let location = try #require(try await decide(url, Self.proof, "deny").headers["location"])
            #expect(location.hasPrefix("http://127.0.0.1:9/cb?error=access_denied&"))
        }
    }

    @Test func `a page can be answered once`() async throws {
        try await withIssuer { _, url in
            let page = try await RawClient.get(authorize(url, Self.proof))
            let id = try #require(page.body.firstMatch(of: /name="request" value="([^"]*)"/)?.1)
            let form = "request=\(id)&subject=bob&decision=allow"
            #expect(try await RawClient.post(url + "/authorize/decision", form).status == 303)
            #expect(try await RawClient.post(url + "/authorize/decision", form).status == 400)
        }
    }

    @Test(arguments: ["", "&code_challenge=x&code_challenge_method=plain", "&code_challenge=x"])
    func `a request without PKCE is sent back with an error`(more: String) async throws {
        try await withIssuer { _, url in
            let reply = try await RawClient.get(authorize(url, more))
            #expect(reply.headers["location"]?.contains("?error=invalid_request&") == true)
        }
    }

    @Test(arguments: ["https%3A%2F%2Fevil.example%2F", "http%3A%2F%2F127.0.0.1.evil.example%2F", "javascript%3Ax"])
    func `nobody is sent back to an unknown address`(redirectURI: String) async throws {
        try await withIssuer { _, url in
            let reply = try await RawClient.get(authorize(url, Self.proof, redirectURI: redirectURI))
            #expect(reply.status == 400 && reply.headers["location"] == nil)
        }
    }

    @Test func `an answer by form has the same fields as the query`() async throws {
        try await withIssuer { _, url in
            let page = try await decide(url, Self.proof + "&response_mode=form_post")
            #expect(page.body.contains(#"action="http://127.0.0.1:9/cb""#))
            #expect(page.body.contains(#"name="code" value="demo-code-"#))
            #expect(page.body.contains(#"name="state" value="s1""#))
        }
    }

    // MARK: devices

    private func poll(_ url: String, _ code: String) async throws -> RawReply {
        let type = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
        return try await RawClient.post(url + "/token", "grant_type=\(type)&client_id=app&device_code=\(code)")
    }

    @Test func `a device waits, is slowed down, and gets its tokens after the person's decision`() async throws {
        let clock = TestClock()
        try await withIssuer(now: { clock.now }) { issuer, url in
            let device = try await RawClient.post(url + "/device_authorization", "client_id=app")
            let code = try #require(device.field("device_code"))
            let userCode = try #require(device.field("user_code"))
            #expect(device.field("verification_uri") == url + "/device")
            #expect(device.body.contains(#""interval":5"#))
            #expect(try await poll(url, code).field("error") == "authorization_pending")
            #expect(try await poll(url, code).field("error") == "slow_down")
            let typed = userCode.lowercased().replacing("-", with: " ").replacing(" ", with: "+")
            let form = "user_code=\(typed)&subject=carol&decision=allow"
            #expect(try await RawClient.post(url + "/device", form).status == 200)
            clock.pass(.seconds(10))
            #expect(try await poll(url, code).field("refresh_token") != nil)
            #expect(try await poll(url, code).field("error") == "invalid_grant")
            #expect(await issuer.grant(1)?.subject == "carol")
        }
    }

    @Test func `a device is refused or too late`() async throws {
        let clock = TestClock()
        try await withIssuer(now: { clock.now }) { _, url in
            let refused = try await RawClient.post(url + "/device_authorization", "client_id=app")
            let form = "user_code=\(try #require(refused.field("user_code")))&decision=deny"
            #expect(try await RawClient.post(url + "/device", form).status == 200)
            #expect(try await poll(url, try #require(refused.field("device_code"))).field("error") == "access_denied")
            let late = try await RawClient.post(url + "/device_authorization", "client_id=app")
            clock.pass(.seconds(600))
            #expect(try await poll(url, try #require(late.field("device_code"))).field("error") == "expired_token")
            #expect(try await RawClient.post(url + "/device", "user_code=NONE&decision=allow").status == 400)
        }
    }
}
