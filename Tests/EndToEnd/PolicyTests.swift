import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// A server at which a name in the address selects what people go through (Azure AD B2C): the account's policy, the
/// policy for resetting passwords, and others.
struct PolicyTests {
    private static let profile = """
        name: demo
        variables:
          - {name: port, help: the port, default: "1"}
          - {name: policy, help: the policy, pattern: "[A-Za-z0-9_]+"}
        authorization_endpoint: http://127.0.0.1:{port}/authorize?p={policy}
        token_endpoint: http://127.0.0.1:{port}/token?p={policy}
        userinfo_endpoint: http://127.0.0.1:{port}/userinfo
        jwks_uri: http://127.0.0.1:{port}/jwks
        pkce: s256
        scopes: [openid, offline_access]
        policy_variable: policy
        policy_claims: [tfp, acr]
        password_reset_on: [AADB2C90118]
        cancelled_on: [AADB2C90091]

        """

    /// Runs `body` with the account `work`, whose policy is `B2C_1_signin`.
    private func withPolicies(
        _ policy: GrantPolicy = GrantPolicy(),
        resetsIn reset: String? = "B2C_1_reset",
        _ body: (DaemonStage, DemoIssuer) async throws -> Void
    ) async throws {
        try await withIssuer(policy: policy) { issuer, url in
            let stage = try DaemonStage()
            try stage.folder.write(Self.profile, to: "config/authrefreshd/providers.d/demo.yaml")
            let daemon = try await stage.start()
            let port = try #require(url.split(separator: ":").last.map(String.init))
            let settings = AccountSettings(name: "work", issuer: url, provider: "demo", clientId: "app") {
                $0.variables = ["port": port, "policy": "B2C_1_signin"]
                $0.providerSettings = reset.map { ["password_reset_policy": $0] }
            }
            _ = try await stage.ask(.addAccount, AddAccount.Parameters(settings: settings), for: AddAccount.Reply.self)
            try await body(stage, issuer)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func begin(_ stage: DaemonStage, flow: String? = nil, policy: String? = nil) throws -> SignInCall {
        try SignInCall(stage, StartSignIn.Parameters(account: "work", flow: flow, policy: policy))
    }

    /// Runs `authctl login` until it prints the address.
    private func logIn(_ stage: DaemonStage, _ options: String...) async throws -> (login: Program, url: String) {
        let arguments = ["login", "work", "--flow", "browser", "--no-open"] + options
        let login = try Program("authctl", arguments, environment: stage.environment)
        let line = try await login.errors.first("the address") { $0.hasPrefix("  http") }
        return (login, String(line.dropFirst(2)))
    }

    private func value(_ name: String, in url: String) throws -> String {
        try #require(url.firstMatch(of: try Regex("[?&]\(name)=([^&]*)"))?.output[1].substring.map(String.init))
    }

    @Test func `the account's policy is in every address, and its ID token is accepted in any case`()
        async throws
    {
        var policy = GrantPolicy(accessTokenLifetime: .seconds(3600))
        policy.claimedPolicy = "b2c_1_SIGNIN"
        try await withPolicies(policy) { stage, issuer in
            let call = try begin(stage)
            let url = try #require(try await call.started().url)
            #expect(try value("p", in: url) == "B2C_1_signin")
            _ = try await RawWeb.get(try await Person().decide(at: url))
            #expect(try await call.completed().status?.state == "fresh")
            #expect(try await stage.status("work").subject == "alice")
            #expect(await issuer.exchanges == [.opened])
        }
    }

    @Test func `an ID token of another policy is refused, and its grant not stored`() async throws {
        var policy = GrantPolicy()
        policy.claimedPolicy = "B2C_1_edit"
        try await withPolicies(policy) { stage, _ in
            let call = try begin(stage)
            _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
            let failed = try await call.refusal(SignInFailedError.self)
            #expect(failed.kind == "misconfigured" && failed.reason.contains("another policy"), "\(failed)")
            #expect(try await stage.status("work").state == "signed-out")
        }
    }

    @Test func `a forgotten password is reset in the same window, and the sign-in continues`() async throws {
        try await withPolicies { stage, issuer in
            let call = try begin(stage)
            let first = try #require(try await call.started().url)
            let toReset = try await RawWeb.get(try await Person().decide("forgotten", at: first))
            #expect(toReset.status == 303)
            let reset = try #require(toReset.headers["location"])
            #expect(try value("p", in: reset) == "B2C_1_reset")
            let told = try await call.news.first("password-reset") { $0.event == "password-reset" }
            #expect(told.policy == "B2C_1_reset" && told.url == nil)
            // A caller who joins now is sent to the address at which the person is.
            #expect(try await begin(stage).started().url == reset)

            let back = try await RawWeb.get(try await Person().decide(at: reset))
            let again = try #require(back.headers["location"])
            #expect(try value("p", in: again) == "B2C_1_signin")
            let states = try [first, reset, again].map { try value("state", in: $0) }
            #expect(Set(states).count == 3)
            let page = try await RawWeb.get(try await Person().decide(at: again))
            #expect(page.status == 200 && page.body.contains("Signed in"))
            try await call.completed()
            #expect(
                call.news.all.map(\.event) == [
                    "started", "password-reset", "sign-in-again", "callback-received", "exchanging", "completed",
                ]
            )
            // The account could not refresh a grant from a code of the other policy.
            #expect(await issuer.exchanges == [.opened])
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
        }
    }

    @Test func `a forgotten password is reset by paste as well`() async throws {
        try await withPolicies { stage, issuer in
            let call = try begin(stage, flow: "paste")
            let started = try await call.started()
            let stale = try await Person().decide("forgotten", at: try #require(started.url))
            try await stage.bring(stale, attempt: started.attempt)
            let reset = try await call.news.first("password-reset") { $0.event == "password-reset" }
            let location = try await Person().decide(at: try #require(reset.url))
            // The previous state is used up, and a code without a state belongs to no sign-in.
            for text in [stale, try value("code", in: location)] {
                await #expect(throws: TestFault.self) { try await stage.bring(text, attempt: started.attempt) }
            }
            try await stage.bring(location)
            let again = try await call.news.first("sign-in-again") { $0.event == "sign-in-again" }
            try await stage.bring(try await Person().decide(at: try #require(again.url)))
            #expect(try await call.completed().status?.state == "fresh")
            #expect(await issuer.exchanges == [.opened])
        }
    }

    @Test func `an account without a policy for resets gets a hint`() async throws {
        try await withPolicies(resetsIn: nil) { stage, _ in
            let call = try begin(stage)
            let page = try await RawWeb.get(
                try await Person().decide("forgotten", at: try #require(call.started().url))
            )
            #expect(page.status == 200 && page.body.contains("password_reset_policy=POLICY"), "\(page.body)")
            let failed = try await call.refusal(SignInFailedError.self)
            #expect(failed.kind == "misconfigured")
            #expect(
                failed.hint.hasPrefix("authctl account edit work --provider-setting password_reset_policy=POLICY")
            )
            let setting = ["--provider-setting", "password_reset_policy=B2C_1_reset"]
            #expect(try await stage.authctl(["account", "edit", "work"] + setting).end == .exited(0))
            let next = try begin(stage)
            let reply = try await RawWeb.get(
                try await Person().decide("forgotten", at: try #require(next.started().url))
            )
            #expect(reply.status == 303)
        }
    }

    @Test(arguments: [false, true])
    func `a person who goes back at a policy has cancelled, also during a password reset`(isInReset: Bool)
        async throws
    {
        try await withPolicies { stage, _ in
            let (login, first) = try await logIn(stage)
            let call = try begin(stage)
            var url = first
            if isInReset {
                let reply = try await RawWeb.get(try await Person().decide("forgotten", at: url))
                url = try #require(reply.headers["location"])
            }
            _ = try await RawWeb.get(try await Person().decide("cancel", at: url))
            #expect(try await call.refusal(SignInCancelledError.self).by == "user")
            #expect(try await login.ended() == .exited(130))
            #expect(login.outputText.isEmpty)
        }
    }

    @Test func `another policy runs, and the account keeps its grant`() async throws {
        try await withPolicies { stage, issuer in
            let call = try begin(stage)
            _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
            try await call.completed()
            let (before, token) = (try await stage.status("work"), try await stage.acquire("work").accessToken)
            let feed = try await ChangeFeed(stage)
            let (login, url) = try await logIn(stage, "--policy", "B2C_1_edit")
            let edit = try begin(stage, flow: "browser", policy: "B2C_1_edit")
            let started = try await edit.started()
            #expect(started.policy == "B2C_1_edit")
            #expect(started.url == url)
            #expect(try value("p", in: url) == "B2C_1_edit")
            // A caller who wants to sign in does not join something that is no sign-in.
            #expect(try await begin(stage).refusal(SignInFailedError.self).kind == "unavailable")
            let page = try await RawWeb.get(try await Person("bob").decide(at: url))
            #expect(page.body.contains("is as it was"))
            let done = try await edit.completed()
            #expect(done.event == "policy-completed" && done.status?.generation == before.generation)
            #expect(try await login.ended() == .exited(0))
            #expect(login.outputText == "work: the policy 'B2C_1_edit' is done; the account has not changed")
            #expect(try await stage.acquire("work").accessToken == token)
            #expect(await issuer.exchanges == [.opened])
            #expect(feed.changes.all.filter { $0.event.hasPrefix("sign") }.isEmpty)
        }
    }

    @Test func `the account's own policy is a normal sign-in, and an impossible one is refused`() async throws {
        try await withPolicies { stage, _ in
            let own = try begin(stage, policy: "b2c_1_SignIn")
            _ = try await RawWeb.get(try await Person().decide(at: try #require(own.started().url)))
            #expect(try await own.completed().event == "completed")
            let odd = try await begin(stage, policy: "a&b").refusal(InvalidSettingsError.self)
            #expect(odd.field == "policy" && odd.reason.contains("'a&b'"))
            let device = try await begin(stage, flow: "device", policy: "B2C_1_edit").refusal(SignInFailedError.self)
            #expect(device.kind == "misconfigured")
        }
        try await withSignInStage { stage, _, _ in
            let none = try await begin(stage, policy: "B2C_1_edit").refusal(InvalidSettingsError.self)
            #expect(none.reason == "the account's provider has no policies")
        }
    }
}
