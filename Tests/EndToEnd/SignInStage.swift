import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// Runs `body` with a daemon that has the account `work` of the client `app`, at a server for this test.
///
/// - Parameters:
///   - profile: the account's provider profile; nil for none.
///   - hasOwnClock: whether time can pass for the daemon and its server alone, by `DaemonStage.pass`.
func withSignInStage(
    policy: GrantPolicy = GrantPolicy(),
    profile: String? = nil,
    scopes: [String] = [],
    hasOwnClock: Bool = false,
    _ body: (DaemonStage, DaemonProcess, DemoIssuer) async throws -> Void
) async throws {
    let stage = try DaemonStage(hasOwnClock: hasOwnClock)
    try await withIssuer(policy: policy, now: stage.now) { issuer, url in
        if let profile {
            try stage.folder.write("name: demo\n" + profile, to: "config/authrefreshd/providers.d/demo.yaml")
        }
        let daemon = try await stage.start()
        var settings = AccountSettings(name: "work", issuer: url, clientId: "app")
        settings.provider = profile == nil ? nil : "demo"
        settings.scopes = scopes.isEmpty ? nil : scopes
        _ = try await stage.ask(.addAccount, AddAccount.Parameters(settings: settings), for: AddAccount.Reply.self)
        try await body(stage, daemon, issuer)
    }
}

extension DaemonStage {
    /// Begins a sign-in to `work`, or joins the one in progress.
    func signIn(flow: String? = nil, restart: Bool? = nil, replace: Bool? = nil) throws -> SignInCall {
        try SignInCall(self, StartSignIn.Parameters(account: "work", flow: flow, restart: restart, replace: replace))
    }

    /// Passes on the redirect that a person or a desktop brings.
    ///
    /// - Throws: `refused` if it is not accepted.
    func bring(_ redirect: String, attempt: String? = nil) async throws {
        let parameters = ContinueSignIn.Parameters(attempt: attempt, redirect: redirect)
        let reply = try await ask(.continueSignIn, parameters, for: ContinueSignIn.Reply.self)
        #expect(reply.account == "work")
    }
}

extension DemoIssuer {
    /// The outcomes of the codes that were sent to the token endpoint.
    var exchanges: [LogEntry.Outcome] {
        entries().filter { $0.grantType == "authorization_code" }.map(\.outcome)
    }
}
