import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// Several people who share a client: each gets an account by signing in.
struct NewAccountTests {
    private static let secret = "the-client's-secret"

    /// Runs `body` with the account `work` of a confidential client, in which alice is signed in.
    private func withWork(
        dpop: Bool? = nil,
        _ body: (DaemonStage, DemoIssuer) async throws -> Void
    ) async throws {
        let client = DemoClient(id: "app", authentication: .basic(secret: Self.secret, form: .formEncoded))
        try await withIssuer(clients: [client]) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let settings = AccountSettings(name: "work", issuer: url, clientId: "app") {
                $0.scopes = ["openid", "mail"]
                $0.leadTimeSec = 400
                $0.dpop = dpop
            }
            let parameters = AddAccount.Parameters(settings: settings, clientSecret: Self.secret)
            _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
            try await signIn(stage, as: "alice").completed()
            try await body(stage, issuer)
            #expect(try await daemon.terminate() == .exited(0))
            #expect(!daemon.logText.contains(Self.secret))
        }
    }

    private func begin(
        _ stage: DaemonStage,
        adding name: String? = nil,
        _ change: (inout StartSignIn.Parameters) -> Void = { _ in }
    )
        throws -> SignInCall
    {
        var parameters = StartSignIn.Parameters(account: "work", newAccount: name)
        change(&parameters)
        return try SignInCall(stage, parameters)
    }

    /// Signs a person in, until the browser shows the last page.
    private func signIn(_ stage: DaemonStage, adding name: String? = nil, as person: String) async throws -> SignInCall
    {
        let call = try begin(stage, adding: name)
        _ = try await RawWeb.get(try await Person(person).decide(at: try #require(call.started().url)))
        return call
    }

    private func list(_ stage: DaemonStage) async throws -> ListAccounts.Reply {
        try await stage.ask(.listAccounts, ListAccounts.Parameters(), for: ListAccounts.Reply.self)
    }

    @Test func `another person gets an account with the same client after the sign-in`() async throws {
        try await withWork { stage, _ in
            let feed = try await ChangeFeed(stage)
            let token = try await stage.acquire("work").accessToken
            let call = try begin(stage, adding: "shared")
            let url = try #require(try await call.started().url)
            #expect(url.contains("prompt=select_account"))
            // Until then there is no account to remove.
            #expect(try await list(stage).accounts.map(\.name) == ["work"])
            let page = try await RawWeb.get(try await Person("bob").decide(at: url))
            #expect(page.body.contains("Signed in") && page.body.contains("shared"))
            let completed = try await call.completed()
            #expect(completed.status?.account == "shared" && completed.status?.state == "fresh")
            #expect(completed.samePersonAs == nil)
            let added = try await feed.next("account-added", of: "shared")
            #expect(added.accounts.first?.state == "fresh")
            try await feed.next("signed-in", of: "shared")

            let all = try await list(stage)
            #expect(all.people?.mapValues(\.subject) == ["shared": "bob", "work": "alice"])
            #expect(all.people?["shared"]?.email == "bob@example.org")
            let settings = try #require(all.accounts.first { $0.name == "shared" })
            #expect(settings.leadTimeSec == 400 && settings.scopes == ["openid", "mail"])
            // The new account uses the client's secret, which nobody had to know.
            #expect(try await stage.authctl("refresh", "shared").end == .exited(0))
            #expect(try await stage.acquire("work").accessToken == token)
            let found = try await stage.authctl("account", "list", "--person", "BOB@example.org", "--json")
            #expect(found.output.contains("shared") && !found.output.contains("work"), "\(found.output)")
        }
    }

    @Test func `a new account takes over nothing that leads programs to the old one's tokens`() async throws {
        try await withWork { stage, _ in
            let options = ["--url", "https://git.example.org/", "--username", "alice", "--token-file", "work"]
            let edited = try await stage.authctl(["account", "edit", "work"] + options)
            #expect(edited.end == .exited(0), "\(edited)")
            try await signIn(stage, adding: "shared", as: "bob").completed()
            let all = try await list(stage).accounts
            let shared = try #require(all.first { $0.name == "shared" })
            #expect(shared.urls == nil && shared.username == nil && shared.tokenFile == nil)
            let work = try #require(all.first { $0.name == "work" })
            #expect(work.urls == ["https://git.example.org/"] && work.username == "alice" && work.tokenFile == "work")
            let asked = "protocol=https\nhost=git.example.org\n\n"
            let given = try await stage.authctl(["git-credential", "get"], input: asked)
            #expect(given.output.contains("username=alice\n"), "\(given)")
            #expect(given.output.contains(try await stage.acquire("work").accessToken))
        }
    }

    @Test func `an unfinished sign-in leaves no account behind`() async throws {
        try await withWork { stage, _ in
            let denied = try begin(stage, adding: "shared")
            _ = try await RawWeb.get(try await Person("bob").decide(false, at: try #require(denied.started().url)))
            let refusal = try await denied.refusal(SignInDeniedError.self)
            #expect(refusal.account == "shared" && refusal.hint == "authctl login work --new-account shared")
            // By the new account's name.
            let cancelled = try begin(stage, adding: "shared")
            _ = try await cancelled.started()
            let parameters = CancelSignIn.Parameters(account: "shared")
            let reply = try await stage.ask(.cancelSignIn, parameters, for: CancelSignIn.Reply.self)
            #expect(reply.account == "shared")
            #expect(try await cancelled.refusal(SignInCancelledError.self).account == "shared")
            #expect(try await list(stage).accounts.map(\.name) == ["work"])
            #expect(try await stage.info().accounts == 1)
        }
    }

    @Test func `a person who is already signed in learns in which account, and loses no grant`() async throws {
        try await withWork { stage, _ in
            let call = try await signIn(stage, adding: "again", as: "alice")
            #expect(try await call.completed().samePersonAs == "work")
            #expect(try await stage.status("again").subject == "alice")
            for name in ["work", "again"] {
                #expect(try await stage.authctl("refresh", name).end == .exited(0))
            }
        }
    }

    @Test func `a new account's tokens are bound to its own key`() async throws {
        try await withWork(dpop: true) { stage, _ in
            let key = { (call: SignInCall) in
                try await call.started().url?.firstMatch(of: /dpop_jkt=([^&]*)/).map { String($0.1) }
            }
            let new = try begin(stage, adding: "shared")
            let (own, other) = (try await key(try begin(stage)), try await key(new))
            #expect(own != nil && other != nil && own != other)
            _ = try await RawWeb.get(try await Person("bob").decide(at: try #require(new.started().url)))
            #expect(try await new.completed().status?.state == "fresh")
            #expect(try await stage.acquire("shared").tokenType == "DPoP")
        }
    }

    @Test func `taken and invalid names are refused before anybody signs in`() async throws {
        try await withWork { stage, _ in
            #expect(try await begin(stage, adding: "work").refusal(AccountExistsError.self).account == "work")
            #expect(try await begin(stage, adding: "-x").refusal(InvalidSettingsError.self).field == "newAccount")
            let call = try begin(stage, adding: "shared")
            let url = try #require(try await call.started().url)
            // A caller who asks for the same sign-in joins it; one who asks for another does not.
            #expect(try await begin(stage, adding: "shared").started().url == url)
            let other = try begin(stage, adding: "shared") { $0.prompt = "login" }
            #expect(try await other.refusal(SignInFailedError.self).hint.contains("--new-account shared --restart"))
            try await stage.add("shared", issuer: "http://127.0.0.1:9")
            _ = try await RawWeb.get(try await Person("bob").decide(at: url))
            let late = try await call.refusal(SignInFailedError.self)
            #expect(late.reason.contains("added meanwhile"))
        }
    }

    @Test func `a chosen person or a hint replaces the question who signs in`() async throws {
        try await withWork { stage, _ in
            let chosen = try begin(stage, adding: "one") { $0.prompt = "login" }
            #expect(try await chosen.started().url?.contains("prompt=login") == true)
            let hinted = try begin(stage, adding: "two") { $0.loginHint = "bob" }
            #expect(try await hinted.started().url?.contains("prompt=") == false)
            #expect(try await begin(stage).started().url?.contains("prompt=") == false)
        }
    }
}
