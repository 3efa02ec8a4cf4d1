import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// Sign-ins that ask for more than a code, or for none: OpenID Connect Core §3.2 and §3.3, and nonces from callers.
struct ResponseTypeTests {
    private func call(
        _ stage: DaemonStage,
        _ responseType: String? = nil,
        flow: String? = nil,
        nonce: String? = nil,
        hashesNonce: Bool? = nil
    ) throws -> SignInCall {
        let parameters = StartSignIn.Parameters(
            account: "work",
            flow: flow,
            responseType: responseType,
            nonce: nonce,
            hashesNonce: hashesNonce
        )
        return try SignInCall(stage, parameters)
    }

    private func idToken(_ stage: DaemonStage) async throws -> IdToken {
        let parameters = AcquireToken.Parameters(account: "work", idToken: true)
        return try #require(try await stage.ask(.acquireToken, parameters, for: AcquireToken.Reply.self).idToken)
    }

    @Test func `code and ID token arrive together, by form or after the hash sign`() async throws {
        try await withSignInStage(scopes: ["openid"]) { stage, _, issuer in
            let listening = try call(stage, "code id_token")
            let (action, form) = try await Person().decideByForm(at: try #require(listening.started().url))
            #expect(form.contains("code=") && form.contains("id_token="))
            #expect(try await RawWeb.post(action, form).body.contains("Signed in"))
            #expect(try await listening.completed().status?.state == "fresh")
            #expect(try await idToken(stage).subject == "alice")

            let pasting = try call(stage, "code id_token", flow: "paste")
            let location = try await Person().decide(at: try #require(pasting.started().url))
            #expect(location.contains("#code=") && location.contains("&id_token="))
            try await stage.bring(location)
            let completed = try await pasting.completed()
            #expect(completed.status?.state == "fresh" && completed.idToken == nil)
            #expect(await issuer.exchanges == [.opened, .opened])
        }
    }

    @Test func `an answer after the hash sign can be pasted`() async throws {
        try await withSignInStage(scopes: ["openid"]) { stage, _, _ in
            let call = try call(stage, "code id_token")
            let started = try await call.started()
            // A server without form post sends the browser to a fragment, which the listener does not see.
            let url = try #require(started.url).replacing("&response_mode=form_post", with: "")
            let location = try await Person().decide(at: url)
            let mark = try #require(location.firstIndex(of: "#"))
            let page = try await RawWeb.get(String(location[..<mark]))
            #expect(page.body.contains("“#”") && page.body.contains("authctl callback -"), "\(page.body)")
            try await stage.bring(location)
            #expect(try await call.completed().status?.state == "fresh")
        }
    }

    @Test func `a code whose ID token has another code's hash is not sent`() async throws {
        var policy = GrantPolicy()
        policy.misbindsCodes = true
        try await withSignInStage(policy: policy, scopes: ["openid"]) { stage, _, issuer in
            let call = try call(stage, "code id_token", flow: "paste")
            try await stage.bring(try await Person().decide(at: try #require(call.started().url)))
            let refusal = try await call.refusal(SignInFailedError.self)
            #expect(refusal.reason.contains("another code"), "\(refusal)")
            #expect(await issuer.exchanges.isEmpty)
        }
    }

    @Test func `a back end's nonce is in the ID token, plain or hashed`() async throws {
        try await withSignInStage(scopes: ["openid"]) { stage, _, _ in
            for (hashesNonce, found) in [
                (nil, "abc"), (true, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ] as [(Bool?, String)] {
                let call = try call(stage, nonce: "abc", hashesNonce: hashesNonce)
                _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
                try await call.completed()
                #expect(try await idToken(stage).nonce == found)
            }
        }
    }

    @Test func `a request with a nonce gets an ID token, or the reason why there is none`() async throws {
        try await withSignInStage(scopes: ["demo"]) { stage, _, _ in
            let browser = try call(stage, nonce: "abc")
            _ = try await RawWeb.get(try await Person().decide(at: try #require(browser.started().url)))
            #expect(try await browser.refusal(SignInFailedError.self).reason.contains("lacks the ID token"))
            let device = try call(stage, flow: "device", nonce: "abc")
            let refusal = try await device.refusal(SignInFailedError.self)
            #expect(refusal.reason.contains("does not support a nonce") && refusal.hint.contains("--flow paste"))
        }
    }

    @Test func `a requested ID token is returned without changing the account`() async throws {
        try await withSignInStage(scopes: ["openid"]) { stage, _, issuer in
            let first = try call(stage, "id_token", nonce: "abc")
            let (action, form) = try await Person().decideByForm(at: try #require(first.started().url))
            #expect(!form.contains("code="))
            let page = try await RawWeb.post(action, form)
            #expect(page.status == 200 && page.body.contains("“work” is as it was"))
            let completed = try await first.completed()
            #expect(completed.idToken?.subject == "alice" && completed.idToken?.nonce == "abc")
            #expect(completed.status?.state == "signed-out" && completed.refreshTokenKept == nil)
            #expect(try await stage.status("work").state == "signed-out")

            let grant = try stage.signIn()
            _ = try await RawWeb.get(try await Person().decide(at: try #require(grant.started().url)))
            let before = try #require(try await grant.completed().status)
            let again = try call(stage, "id_token", flow: "paste")
            try await stage.bring(try await Person().decide(at: try #require(again.started().url)))
            #expect(try await again.completed().status?.generation == before.generation)
            #expect(await issuer.exchanges == [.opened])

            let stranger = try call(stage, "id_token", flow: "paste")
            try await stage.bring(try await Person("mallory").decide(at: try #require(stranger.started().url)))
            #expect(try await stranger.refusal(OtherSubjectError.self).owner == "alice@example.org")
        }
    }
}
