import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// What programs get from a sign-in in addition to the access token: the ID token, and the granted details.
struct IDTokenTests {
    private func signIn(to stage: DaemonStage) async throws {
        let call = try stage.signIn()
        _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
        try await call.completed()
    }

    private func idToken(_ stage: DaemonStage, minimumValiditySec: Int64? = nil) async throws -> IdToken {
        let parameters = AcquireToken.Parameters(
            account: "work",
            minimumValiditySec: minimumValiditySec,
            idToken: true
        )
        return try #require(
            try await stage.ask(.acquireToken, parameters, for: AcquireToken.Reply.self).idToken
        )
    }

    @Test func `an ID token is returned with its audience while it is valid, and then refreshed`() async throws {
        var policy = GrantPolicy()
        policy.refreshesIDTokens = true
        try await withSignInStage(policy: policy, scopes: ["openid"], hasOwnClock: true) { stage, _, issuer in
            try await signIn(to: stage)
            let first = try await idToken(stage)
            #expect(first.subject == "alice" && first.audiences == ["app"] && first.nonce != nil)

            #expect(try await idToken(stage) == first)
            try await stage.pass(policy.idTokenLifetime)
            let second = try await idToken(stage)
            #expect(second.token != first.token && second.subject == "alice" && second.nonce == nil)
            #expect(await issuer.counters.refreshes == 1)
            #expect(try await idToken(stage) == second)
            let printed = try await stage.authctl("token", "work", "--id-token")
            #expect(printed.output == second.token, "\(printed.errors)")
            let json = try await stage.authctl("token", "work", "--id-token", "--json")
            #expect(json.output.contains(#""audiences":["app"]"#) && json.output.contains(#""subject":"alice""#))
            #expect(await issuer.counters.refreshes == 1)
        }
    }

    @Test func `a server that refreshes no ID token is asked once, and then a person is needed`()
        async throws
    {
        let policy = GrantPolicy()
        try await withSignInStage(policy: policy, scopes: ["openid"], hasOwnClock: true) { stage, _, issuer in
            try await signIn(to: stage)
            #expect(try await stage.authctl("token", "work", "--id-token").end == .exited(0))
            try await stage.pass(policy.idTokenLifetime)
            for _ in 1...2 {
                let outcome = try await stage.authctl("token", "work", "--id-token")
                #expect(outcome.end == .exited(3))
                #expect(outcome.errors.contains("no ID token") && outcome.errors.contains("authctl login work"))
                #expect(await issuer.counters.refreshes == 1)
            }
        }
    }

    @Test func `declined scopes are reported at once, and no token is requested for them`() async throws {
        var policy = GrantPolicy()
        policy.declinedScopes = ["calendar"]
        try await withSignInStage(policy: policy, scopes: ["mail", "calendar", "offline_access"]) { stage, _, issuer in
            try await signIn(to: stage)
            let status = try await stage.status("work")
            #expect(status.declinedScopes == ["calendar"])
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains("declined") && shown.output.contains("granted"), "\(shown.output)")
            let refused = try await stage.authctl("token", "work", "--scope", "calendar")
            #expect(refused.end == .exited(3))
            // The sign-in asked for consent already, for offline_access.
            #expect(refused.errors.contains("to be asked again: authctl login work"), "\(refused.errors)")
            #expect(await issuer.counters.refreshes == 0)
            let setting = ["--provider-setting", "narrowed_scopes=kept"]
            #expect(try await stage.authctl(["account", "edit", "work"] + setting).end == .exited(0))
            #expect(try await stage.authctl("token", "work", "--scope", "mail").end == .exited(0))
        }
    }
}
