import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// Answers that are not the server's answers to this sign-in, at a real daemon: other people's codes, old answers, and
/// a mix-up of two servers.
struct SignInAttackTests {
    /// The address of an answer with this code instead of its own. Everything else is right.
    private func injection(_ code: String, into started: StartSignIn.Reply) throws -> String {
        let url = try #require(started.url)
        let origin = try #require(url.firstMatch(of: /^http:\/\/([^\/]*)/)?.1).replacing(":", with: "%3A")
        let state = try parameter("state", of: url)
        return try #require(started.redirectUri) + "?code=\(code)&state=\(state)&iss=http%3A%2F%2F\(origin)"
    }

    /// The value of a parameter as it is written in an address.
    private func parameter(_ name: String, of address: String) throws -> String {
        let pairs = address.split { "?&".contains($0) }
        return String(try #require(pairs.first { $0.hasPrefix(name + "=") }).dropFirst(name.count + 1))
    }

    /// A code that `mallory` obtained with an authorization request of her own, for the same client and redirect URI.
    private func foreignCode(beside started: StartSignIn.Reply, _ change: (String) -> String) async throws -> String {
        let own = change(try #require(started.url)).replacing(/state=[^&]*/, with: "state=mallory")
        return try parameter("code", of: try await Person("mallory").decide(at: own))
    }

    // MARK: code injection (RFC 9700 §4.5)

    @Test func `a code issued for another request brings nothing, even if all else is right`() async throws {
        try await withSignInStage { stage, _, issuer in
            let call = try stage.signIn()
            let started = try await call.started()
            // The challenge from RFC 7636 appendix B, whose verifier is not ours.
            let code = try await foreignCode(beside: started) {
                $0.replacing(/code_challenge=[^&]*/, with: "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
            }
            let page = try await RawWeb.get(try injection(code, into: started))
            #expect(page.body.contains("did not succeed"))
            #expect(try await call.refusal(SignInFailedError.self).kind == "refused")
            #expect(try await stage.status("work").state == "signed-out")
            #expect(await issuer.exchanges == [.unknownCode])
        }
    }

    @Test func `if the server does not bind codes, the nonce reveals a foreign one`() async throws {
        var policy = GrantPolicy()
        policy.requiresProofKey = false
        try await withSignInStage(policy: policy, scopes: ["openid"]) { stage, _, issuer in
            let call = try stage.signIn()
            let started = try await call.started()
            let code = try await foreignCode(beside: started) {
                $0.replacing(/code_challenge=[^&]*&?/, with: "").replacing(/code_challenge_method=[^&]*&?/, with: "")
                    .replacing(/nonce=[^&]*/, with: "nonce=mallory")
            }
            _ = try await RawWeb.get(try injection(code, into: started))
            let failed = try await call.refusal(SignInFailedError.self)
            #expect(failed.reason.contains("ID token"))
            #expect(try await stage.status("work").state == "signed-out")
            // The server gave tokens for it. They are dropped.
            #expect(await issuer.exchanges == [.opened])
        }
    }

    @Test func `a code alone is not accepted if answers name their issuer`() async throws {
        try await withSignInStage { stage, _, issuer in
            let call = try stage.signIn(flow: "paste")
            let started = try await call.started()
            let location = try await Person().decide(at: try #require(started.url))
            let code = try parameter("code", of: location)
            await #expect(throws: TestFault.self) { try await stage.bring(code, attempt: started.attempt) }
            #expect(await issuer.exchanges == [])
            try await stage.bring(location, attempt: started.attempt)
            try await call.completed()
        }
    }

    // MARK: replay

    @Test func `an answer counts once, and only for its own sign-in`() async throws {
        try await withSignInStage { stage, _, issuer in
            let first = try stage.signIn(flow: "paste")
            let started = try await first.started()
            let old = try await Person().decide(at: try #require(started.url))
            try await stage.bring(old, attempt: started.attempt)
            try await first.completed()
            for attempt in [started.attempt, nil] {
                await #expect(throws: TestFault.self) { try await stage.bring(old, attempt: attempt) }
            }
            let second = try stage.signIn(flow: "paste")
            let next = try await second.started()
            for attempt in [next.attempt, nil] {
                await #expect(throws: TestFault.self) { try await stage.bring(old, attempt: attempt) }
            }
            #expect(await issuer.exchanges == [.opened])
            try await stage.bring(try await Person().decide(at: try #require(next.url)), attempt: next.attempt)
            try await second.completed()
            #expect(await issuer.exchanges == [.opened, .opened])
        }
    }

    // MARK: mix-up (RFC 9700 §4.4), wrong issuers

    @Test func `a person redirected to another server brings no code to the first`() async throws {
        try await withIssuer { honest, honestURL in
            try await withSignInStage { stage, _, evil in
                let call = try stage.signIn()
                let url = try #require(try await call.started().url)
                // The evil server's authorization endpoint sends the browser on to the honest server, with its own
                // client id there.
                let there = url.replacing(/^http:\/\/[^\/]*/, with: honestURL)
                let location = try await Person().decide(at: there)
                #expect(try await RawWeb.get(location).body.contains("did not succeed"))
                let failed = try await call.refusal(SignInFailedError.self)
                #expect(failed.kind == "refused" && failed.reason.contains("another issuer"))
                #expect(await evil.exchanges == [])
                #expect(await honest.exchanges == [])
            }
        }
    }

    /// Runs `body` with two servers that never name themselves. A person asked for the evil one and is led to the
    /// honest one.
    ///
    /// - Parameter honest: the client's redirect URI at the honest server.
    private func withMixUp(
        redirectURI honest: String,
        _ body: (_ stage: DaemonStage, _ there: String, _ honest: DemoIssuer) async throws -> Void
    ) async throws {
        var policy = GrantPolicy()
        policy.namesIssuer = false
        try await withIssuer(clients: [DemoClient(id: "app", redirectURIs: [honest])], policy: policy) { server, url in
            try await withSignInStage(policy: policy) { stage, _, evil in
                let call = try stage.signIn()
                let address = try #require(try await call.started().url)
                try await body(stage, address.replacing(/^http:\/\/[^\/]*/, with: url), server)
                #expect(await evil.exchanges == [])
                #expect(try await stage.status("work").state == "signed-out")
            }
        }
    }

    @Test func `a server that never names itself refuses another server's redirect URI`() async throws {
        try await withMixUp(redirectURI: "http://127.0.0.1/callback/0011223344556677") { _, there, honest in
            let page = try await RawWeb.get(there)
            #expect(page.body.contains("redirect URI is unknown"))
            #expect(await honest.exchanges == [])
        }
        // An account of the honest server would have another path.
        try await withIssuer { _, honest in
            try await withSignInStage { stage, _, _ in
                let own = try redirectPath(try await stage.signIn().started())
                try await stage.add("honest", issuer: honest)
                let other = try SignInCall(stage, StartSignIn.Parameters(account: "honest"))
                #expect(try redirectPath(try await other.started()) != own)
            }
        }
    }

    private func redirectPath(_ started: StartSignIn.Reply) throws -> Substring {
        let uri = try #require(started.redirectUri)
        return try #require(uri.firstMatch(of: /\/callback\/[0-9a-f]{16}$/), "\(uri)").0
    }

    @Test func `a code at another server's redirect URI is not sent to the requested server`()
        async throws
    {
        let path = "/callback/0011223344556677"
        try await withMixUp(redirectURI: "http://127.0.0.1" + path) { stage, there, honest in
            // The evil server uses the honest server's redirect URI, on the port of the listener.
            let led = there.replacing(/%2Fcallback%2F[0-9a-f]{16}/, with: path.replacing("/", with: "%2F"))
            let location = try await Person().decide(at: led)
            #expect(try await RawWeb.get(location).status == 404)
            // A person may also paste the same address.
            await #expect(throws: TestFault.self) { try await stage.bring(location) }
            #expect(await honest.exchanges == [])
        }
    }

    @Test(arguments: ["iss=https%3A%2F%2Fevil.example", "iss=", "none=1"])
    func `an answer without the issuer ends the sign-in without sending its code`(
        _ iss: String
    ) async throws {
        try await withSignInStage { stage, _, issuer in
            let call = try stage.signIn()
            let location = try await Person().decide(at: try #require(call.started().url))
            let page = try await RawWeb.get(location.replacing(/iss=[^&]*/, with: iss))
            #expect(page.body.contains("did not succeed"))
            #expect(try await call.refusal(SignInFailedError.self).kind == "refused")
            #expect(await issuer.exchanges == [])
        }
    }

    @Test func `metadata of another issuer is not used`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            // The same server by another name. Its metadata has the first name.
            try await stage.add("work", issuer: url.replacing("127.0.0.1", with: "localhost"))
            let call = try stage.signIn()
            let failed = try await call.refusal(SignInFailedError.self)
            #expect(failed.kind == "misconfigured" && failed.reason.contains("another issuer"))
            #expect(call.news.count == 0)
            #expect(await issuer.exchanges == [])
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
