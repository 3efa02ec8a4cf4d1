import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// A resource server that requires more than the token has, and what `authctl challenge` does about it.
struct StepUpTests {
    /// A daemon with the fresh account `work`.
    private func withFreshAccount(_ body: (DaemonStage, DemoIssuer) async throws -> Void) async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app", scope: "mail.read"))
            try await stage.acquire("work")
            try await body(stage, issuer)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func challenge(_ stage: DaemonStage, _ header: String) async throws -> CommandOutcome {
        try await stage.authctl("challenge", "work", "--header", "WWW-Authenticate: \(header)")
    }

    /// The address of the next sign-in.
    private func signInURL(_ stage: DaemonStage) async throws -> (call: SignInCall, url: String) {
        let call = try SignInCall(stage, StartSignIn.Parameters(account: "work"))
        return (call, try #require(try await call.started().url))
    }

    /// Whether it causes a request depends on the token's age (`RefreshRule.shortestInterval`), and so on the machine.
    @Test func `a complaint about a token needs no person`() async throws {
        try await withFreshAccount { stage, _ in
            let outcome = try await challenge(stage, #"Bearer error="invalid_token""#)
            #expect(outcome.end == .exited(0), "\(outcome.errors)")
            #expect(try await stage.status("work").state == "fresh")
        }
    }

    @Test func `a stronger sign-in needs only the person`() async throws {
        try await withFreshAccount { stage, _ in
            let feed = try await ChangeFeed(stage)
            let token = try await stage.acquire("work").accessToken
            let outcome = try await challenge(
                stage,
                #"Bearer error="insufficient_user_authentication", acr_values="mfa phr", max_age="300""#
            )
            #expect(outcome.end == .exited(3))
            #expect(outcome.errors.contains("hint: authctl login work"), "\(outcome.errors)")
            try await feed.next("interaction-required", of: "work")
            let status = try await stage.status("work")
            #expect(status.state == "interaction-required")
            #expect(status.reason == "stepUp")
            #expect(status.hint == "authctl login work")
            // All other callers are served as before.
            #expect(try await stage.acquire("work").accessToken == token)

            let (call, url) = try await signInURL(stage)
            #expect(url.contains("acr_values=mfa%20phr") && url.contains("max_age=300"), "\(url)")
            _ = try await RawWeb.get(try await Person().decide(at: url))
            #expect(try await call.completed().status?.state == "fresh")
            // The demand is fulfilled.
            let (second, next) = try await signInURL(stage)
            #expect(!next.contains("acr_values") && !next.contains("max_age"), "\(next)")
            _ = try await stage.ask(
                .cancelSignIn,
                CancelSignIn.Parameters(account: "work"),
                for: CancelSignIn.Reply.self
            )
            _ = try await second.ended()
        }
    }

    @Test func `missing scopes are requested together with the existing ones`() async throws {
        try await withFreshAccount { stage, _ in
            _ = try await stage.authctl("account", "edit", "work", "--scope", "mail.read")
            let outcome = try await challenge(stage, #"Bearer error="insufficient_scope", scope="mail.send""#)
            #expect(outcome.end == .exited(3))
            let (call, url) = try await signInURL(stage)
            #expect(url.contains("scope=mail.read%20mail.send"), "\(url)")
            #expect(try await call.started().demandedScopes == ["mail.send"])
            // A refresh of the existing grant withdraws the demand.
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(try await stage.status("work").state == "fresh")
            _ = try await stage.ask(
                .cancelSignIn,
                CancelSignIn.Parameters(account: "work"),
                for: CancelSignIn.Reply.self
            )
            _ = try await call.ended()
        }
    }

    @Test func `claims are requested by a refresh, and from the person if that is refused`() async throws {
        // {"access_token":{"acrs":{"value":"c1"}}}
        let header =
            #"Bearer error="insufficient_claims", claims="eyJhY2Nlc3NfdG9rZW4iOnsiYWNycyI6eyJ2YWx1ZSI6ImMxIn19fQ==""#
        try await withFreshAccount { stage, issuer in
            let before = try await stage.acquire("work").accessToken
            #expect(try await challenge(stage, header).end == .exited(0))
            #expect(try await stage.acquire("work").accessToken != before)

            let refusal =
                #"{"error":"interaction_required","claims":"{\"access_token\":{\"acrs\":{\"value\":\"c2\"}}}"}"#
            try await issuer.script(.answer(CannedAnswer(status: 400, body: refusal)), times: 1)
            #expect(try await challenge(stage, header).end == .exited(3))
            let (call, url) = try await signInURL(stage)
            #expect(url.contains("claims=") && url.contains("c2"), "\(url)")
            _ = try await RawWeb.get(try await Person().decide(at: url))
            #expect(try await call.completed().status?.state == "fresh")
        }
    }

    @Test func `a refusal of claims is not a refusal of the grant`() async throws {
        // {}
        let header = #"Bearer claims="e30=""#
        try await withFreshAccount { stage, issuer in
            try await issuer.script(.answer(.oauthError("invalid_request")), times: 1)
            #expect(try await challenge(stage, header).end == .exited(3))
            #expect(try await stage.status("work").reason == "stepUp")
            // Later refreshes ask for the grant alone.
            let before = try await stage.acquire("work").accessToken
            #expect(try await stage.acquire("work", force: true).accessToken != before)
            #expect(try await stage.status("work").reason == "stepUp")
        }
    }

    @Test func `claims that could not be requested are not a success`() async throws {
        try await withFreshAccount { stage, issuer in
            try await issuer.script(.cutBefore, times: 2)
            let outcome = try await challenge(stage, #"Bearer claims="e30=""#)
            #expect(outcome.end == .exited(75), "\(outcome.output)\(outcome.errors)")
        }
    }

    @Test func `a device code cannot request a stronger sign-in, and says so`() async throws {
        try await withFreshAccount { stage, _ in
            let header = #"Bearer error="insufficient_user_authentication", acr_values="mfa""#
            #expect(try await challenge(stage, header).end == .exited(3))
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "work", flow: "device"))
            #expect(try await call.refusal(SignInFailedError.self).kind == "misconfigured")
        }
    }

    @Test func `an invalid challenge changes nothing`() async throws {
        try await withFreshAccount { stage, issuer in
            let served = await issuer.counters
            for header in ["Basic realm=\"x\"", "Bearer error=\"open", "Bearer error=\"invalid_request\""] {
                let outcome = try await challenge(stage, header)
                #expect(outcome.end == .exited(65), "\(header): \(outcome.errors)")
            }
            #expect(await issuer.counters == served)
            #expect(try await stage.status("work").state == "fresh")
        }
    }
}
