import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// Servers, or attackers in their place, that give an account with DPoP access tokens that are not bound to a key (RFC
/// 9449 §5).
struct DowngradeAttackTests {
    /// Runs `body` with a daemon that has the account `work`, whose tokens are to be bound to a key.
    ///
    /// - Parameter bindsTokens: whether the server binds them at first.
    private func withStage(
        bindsTokens: Bool,
        _ body: (DaemonStage, DemoIssuer) async throws -> Void
    ) async throws {
        var policy = GrantPolicy()
        policy.bindsTokens = bindsTokens
        try await withIssuer(policy: policy) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            var settings = AccountSettings(name: "work", issuer: url, clientId: "app")
            settings.dpop = true
            _ = try await stage.ask(.addAccount, AddAccount.Parameters(settings: settings), for: AddAccount.Reply.self)
            try await body(stage, issuer)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func setBinding(_ bindsTokens: Bool, at issuer: DemoIssuer) async {
        var policy = await issuer.policy
        policy.bindsTokens = bindsTokens
        await issuer.setPolicy(policy)
    }

    @Test func `a Bearer token instead of a bound one is given to nobody, and the refresh token is kept`()
        async throws
    {
        try await withStage(bindsTokens: false) { stage, issuer in
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "work")
            let refused = try await stage.refusal(of: "work", as: MisconfiguredError.self)
            #expect(refused.reason == "the server gave an access token that is not bound to the account's key")
            #expect(try await stage.authctl("token", "work").end == .exited(78))
            let status = try await stage.status("work")
            #expect(status.state == "misconfigured" && status.expiresAtUSec == nil)
            #expect(status.hint?.contains("authctl account edit work --accept-bearer") == true)

            // The refresh token from that answer is the only one that this server still accepts.
            await setBinding(true, at: issuer)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(try await stage.acquire("work").tokenType == "DPoP")
            #expect(await issuer.counters.spentTokenUses == 0)
        }
    }

    @Test func `a held bound token is served until it expires, whatever the server issues next`() async throws {
        try await withStage(bindsTokens: true) { stage, issuer in
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "work")
            let bound = try await stage.acquire("work")
            await setBinding(false, at: issuer)
            let set = try await stage.authctl("token", "work", "--scope", "demo")
            #expect(set.end != .exited(0) && set.output.isEmpty, "\(set)")
            #expect(set.errors.contains("is not bound to the account's key"), "\(set.errors)")
            #expect(try await stage.authctl("refresh", "work").end != .exited(0))
            #expect(try await stage.acquire("work").accessToken == bound.accessToken)
            #expect(try await stage.status("work").state == "misconfigured")
        }
    }

    @Test func `a sign-in that brings a Bearer token gives nobody a token`() async throws {
        try await withStage(bindsTokens: false) { stage, _ in
            let call = try stage.signIn()
            let answer = try await Person("alice").decide(at: try #require(try await call.started().url))
            _ = try await RawWeb.get(answer)
            #expect(try await call.completed().status?.state == "misconfigured")
            _ = try await stage.refusal(of: "work", as: MisconfiguredError.self)
        }
    }

    @Test func `an owner may accept Bearer tokens, and nobody gets a proof for one`() async throws {
        try await withStage(bindsTokens: false) { stage, issuer in
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "work")
            _ = try await stage.refusal(of: "work", as: MisconfiguredError.self)
            #expect(try await stage.authctl("account", "edit", "work", "--accept-bearer").end == .exited(0))
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(try await stage.acquire("work").tokenType == "Bearer")
            let proved = try await stage.authctl("token", "work", "--dpop", "GET", "https://api.example/")
            #expect(proved.end == .exited(64) && proved.output.isEmpty, "\(proved)")
            #expect(proved.errors.contains("is not bound to a key"), "\(proved.errors)")
        }
    }
}
