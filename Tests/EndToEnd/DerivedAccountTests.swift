import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// Accounts whose tokens are exchanged for other accounts' (RFC 8693), with real programs and a strict server.
struct DerivedAccountTests {
    private static let bot = DemoClient(id: "bot", authentication: .basic(secret: "s3cret", form: .formEncoded))

    /// Runs `body` with `work`, a person's account that is fresh.
    private func withStage(
        _ body: (DaemonStage, DemoIssuer, String, IssuedGrant) async throws -> Void
    ) async throws {
        let clients = [DemoClient(id: "app"), Self.bot]
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(clients: clients, now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app", scope: "read write")
            try await stage.add("work", issuer: url, grant: grant)
            try await stage.acquire("work")
            try await body(stage, issuer, url, grant)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func derive(
        _ stage: DaemonStage,
        _ url: String,
        _ more: [String] = [],
        name: String = "wiki",
        from source: String = "work"
    ) async throws -> CommandOutcome {
        let arguments = [
            "account", "add", name, "--issuer", url, "--client-id", "bot", "--client-secret-file", "-", "--grant",
            "token-exchange", "--subject-account", source,
        ]
        return try await stage.authctl(arguments + more, input: "s3cret\n")
    }

    @Test func `a derived token has less scope, belongs to another client, and is kept fresh`() async throws {
        try await withStage { stage, issuer, url, _ in
            let added = try await derive(stage, url, ["--scope", "read"])
            #expect(added.end == .exited(0), "\(added)")
            let first = try await stage.acquire("wiki")
            let feed = try await ChangeFeed(stage)
            try await stage.passToNextAttempt(of: "wiki")
            try await feed.next("token-refreshed", of: "wiki")
            let second = try await stage.acquire("wiki")
            #expect(second.accessToken != first.accessToken)
            let header = ["Authorization: Bearer \(second.accessToken)"]
            let user = try await RawWeb.get(url + "/userinfo", headers: header)
            #expect(user.body.contains(#""scope":"read""#), "\(user.body)")
            let exchanges = await issuer.entries().filter { $0.grantType?.hasSuffix(":token-exchange") == true }
            #expect(exchanges.count >= 2 && exchanges.allSatisfy { $0.clientID == "bot" && $0.outcome == .issued })
            let shown = try await stage.authctl("account", "show", "wiki")
            #expect(shown.output.contains("grant           token-exchange, without anybody\n"), "\(shown)")
            #expect(shown.output.contains("derived from    work, by its access_token\n"))
            #expect(try await stage.authctl("store", "check").end == .exited(0))
        }
    }

    @Test func `a source that needs its person is named, and its sign-in repairs both`() async throws {
        try await withStage { stage, issuer, url, grant in
            #expect(try await derive(stage, url).end == .exited(0))
            try await issuer.revokeGrant(grant.family)
            try await stage.pass(until: stage.acquire("wiki").expiresAtUSec)
            let refusal = try await stage.refusal(of: "wiki", as: InteractionRequiredError.self)
            #expect(refusal.reason == "sourceAccount" && refusal.hint == "authctl login work")
            let token = try await stage.authctl("token", "wiki")
            #expect(token.end == .exited(3) && token.errors.contains("authctl login work"), "\(token)")
            let feed = try await ChangeFeed(stage, accounts: ["wiki"])
            let next = try await issuer.issueGrant(clientID: "app", scope: "read write")
            try await stage.importGrant(next, into: "work")
            try await feed.next("token-refreshed", of: "wiki")
            try await stage.acquire("wiki")
        }
    }

    @Test func `an actor's token is sent with the subject's, and the one that needs its person is named`() async throws
    {
        try await withStage { stage, issuer, url, _ in
            let actor = try await issuer.issueGrant(clientID: "app", subject: "deputy", scope: "read write")
            try await stage.add("deputy", issuer: url, grant: actor)
            let added = try await derive(stage, url, ["--actor-account", "deputy"])
            #expect(added.end == .exited(0), "\(added)")
            let token = try await stage.acquire("wiki")
            let header = ["Authorization: Bearer \(token.accessToken)"]
            let user = try await RawWeb.get(url + "/userinfo", headers: header)
            #expect(user.body.contains(#""act":"deputy""#), "\(user.body)")
            let shown = try await stage.authctl("account", "show", "wiki")
            #expect(shown.output.contains("acting for it   deputy, by its access_token\n"), "\(shown)")
            #expect(try await stage.authctl("logout", "deputy").end == .exited(0))
            let refreshed = try await stage.authctl("refresh", "wiki")
            #expect(refreshed.end == .exited(3) && refreshed.errors.contains("authctl login deputy"), "\(refreshed)")
        }
    }

    @Test func `a source without a token gets one first`() async throws {
        try await withStage { stage, issuer, url, _ in
            #expect(try await stage.authctl("logout", "work").end == .exited(0))
            let waiting = try await derive(stage, url)
            #expect(waiting.end == .exited(3), "\(waiting)")
            #expect(try await stage.status("wiki").hint == "authctl login work")
            let grant = try await issuer.issueGrant(clientID: "app", scope: "read write")
            let before = await issuer.counters.tokenRequests
            try await stage.importGrant(grant, into: "work")
            try await stage.acquire("wiki")
            #expect(await issuer.counters.tokenRequests == before + 2)
        }
    }

    @Test func `a removed source is reported by name, and a new account of that name does not replace it`()
        async throws
    {
        try await withStage { stage, issuer, url, _ in
            #expect(try await derive(stage, url).end == .exited(0))
            #expect(try await stage.authctl("account", "rename", "work", "job").end == .exited(0))
            #expect(try await stage.authctl("refresh", "wiki").end == .exited(0))
            #expect(try await stage.authctl("account", "remove", "job", "--yes").end == .exited(0))
            let refreshed = try await stage.authctl("refresh", "wiki")
            #expect(refreshed.end == .exited(78) && refreshed.errors.contains("'job'"), "\(refreshed)")
            // The answer for this token may be read only by the account's owner.
            let grant = try await issuer.issueGrant(clientID: "app", scope: "read write")
            try await stage.add("job", issuer: url, grant: grant)
            try await stage.acquire("job")
            let asked = await issuer.counters.tokenRequests
            let again = try await stage.authctl("refresh", "wiki")
            #expect(
                again.end == .exited(78) && again.errors.contains("derived from 'job', which was removed"),
                "\(again)"
            )
            #expect(again.errors.contains("was removed"), "\(again)")
            #expect(await issuer.counters.tokenRequests == asked)
            // The token that it has is still valid.
            #expect(try await stage.authctl("token", "wiki").end == .exited(0))
            #expect(try await stage.authctl("account", "remove", "wiki", "--yes").end == .exited(0))
            #expect(try await derive(stage, url, from: "job").end == .exited(0))
        }
    }

    @Test func `a source that recovered unnoticed is found at the next start`() async throws {
        let clients = [DemoClient(id: "app"), Self.bot]
        try await withIssuer(clients: clients) { issuer, url in
            let stage = try DaemonStage()
            let first = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app", scope: "read write")
            try await stage.add("work", issuer: url, grant: grant)
            #expect(try await derive(stage, url).end == .exited(0))
            try await first.terminate()
            try await stage.change(
                store: """
                    UPDATE account SET phase = 'interactionRequired', interaction_reason = 'sourceAccount', phase_wall_usec = 1,
                        failure_class = 'userRequired', failure_detail = '{"summary":"lacking"}', deadline_usec = NULL
                    WHERE name = 'wiki'
                    """
            )
            let second = try await stage.start()
            let feed = try await ChangeFeed(stage, accounts: ["wiki"])
            try await feed.changes.first("wiki is fresh") { $0.accounts.contains { $0.state == "fresh" } }
            #expect(try await second.terminate() == .exited(0))
        }
    }

    @Test func `a derived account and its token file end with the source, whose file goes when the daemon stops`()
        async throws
    {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(clients: [DemoClient(id: "app"), Self.bot], now: stage.now) { issuer, url in
            let first = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app", scope: "read write")
            try await stage.add("work", issuer: url, grant: grant)
            let files = ["work", "wiki"].map { stage.folder.path + "/run/authrefreshd/tokens/" + $0 }
            let exist = { files.map { FileManager.default.fileExists(atPath: $0) } }
            #expect(try await derive(stage, url, ["--token-file", "wiki"]).end == .exited(0))
            try await stage.acquire("wiki")
            #expect(try await stage.authctl("account", "edit", "work", "--token-file", "work").end == .exited(0))
            let patience = ContinuousClock.now + .patience
            while exist() != [true, true], ContinuousClock.now < patience { await Task.yield() }
            #expect(exist() == [true, true])
            let edit = try await stage.authctl("account", "edit", "work", "--forget-after", "8h")
            #expect(edit.end == .exited(0) && edit.output.contains("8 h after each sign-in, next "), "\(edit)")
            #expect(try await first.terminate() == .exited(0))
            #expect(exist() == [false, false])
            let second = try await stage.start()
            let feed = try await ChangeFeed(stage, accounts: ["wiki"])
            let end = try #require(try await stage.status("work").signOutAtUSec)
            try await stage.pass(until: end - 28_800_000_000 + 1_000_000)
            let ended = try await stage.authctl("account", "edit", "work", "--forget-after", "1s", "--yes")
            #expect(ended.end == .exited(0), "\(ended)")
            #expect(try await stage.status("work").state == "signed-out")
            try await feed.changes.first("wiki needs work") {
                $0.accounts.contains { $0.state == "interaction-required" }
            }
            let token = try await stage.authctl("token", "wiki")
            #expect(token.end == .exited(3) && token.errors.contains("authctl login work"), "\(token)")
            while exist() != [false, false], ContinuousClock.now < patience { await Task.yield() }
            #expect(exist() == [false, false])
            let next = try await issuer.issueGrant(clientID: "app", scope: "read write")
            try await stage.importGrant(next, into: "work")
            try await feed.next("token-refreshed", of: "wiki")
            #expect(try await second.terminate() == .exited(0))
        }
    }

    /// A copy of the `authctl` executable, which is another file.
    private func copy(for stage: DaemonStage) throws -> String {
        let path = stage.folder.path + "/mail program"
        try FileManager.default.copyItem(atPath: Program.products + "/authctl", toPath: path)
        return path
    }

    @Test func `only the program that derives a token needs permission for the source`() async throws {
        try await withStage { stage, _, url, _ in
            let (copy, authctl) = (try copy(for: stage), Program.products + "/authctl")
            #expect(try await derive(stage, url).end == .exited(0))
            let both = ["--allow-executable", copy, "--allow-executable", authctl]
            #expect(try await stage.authctl(["account", "edit", "work"] + both).end == .exited(0))
            #expect(try await stage.authctl("refresh", "wiki").end == .exited(0))
            let narrowed = try await stage.authctl("account", "edit", "wiki", "--allow-executable", copy, "--yes")
            #expect(narrowed.end == .exited(0), "\(narrowed)")
            let mine = try Program(copy, ["token", "wiki"], environment: stage.environment)
            #expect(try await mine.ended() == .exited(0))
            #expect(try await stage.authctl("token", "wiki").end == .exited(77))
            // From here on, the program that derived the account is not allowed.
            #expect(
                try await stage.authctl("account", "edit", "work", "--allow-executable", copy, "--yes").end
                    == .exited(0)
            )
            #expect(try await stage.authctl("token", "work").end == .exited(77))
            #expect(try await derive(stage, url, name: "other").end == .exited(77))
            #expect(try await stage.authctl("account", "show", "other").end == .exited(4))
        }
    }

    @Test(arguments: [["--scope", "read"], ["--actor-account", "work"]])
    func `a source's list must name the program that set up the derived account`(
        more: [String]
    ) async throws {
        try await withStage { stage, issuer, url, _ in
            let copy = try copy(for: stage)
            let actor = try await issuer.issueGrant(clientID: "app", subject: "deputy", scope: "read write")
            try await stage.add("deputy", issuer: url, grant: actor)
            #expect(
                try await derive(stage, url, more, from: more.contains("work") ? "deputy" : "work").end == .exited(0)
            )
            #expect(
                try await stage.authctl("account", "edit", "work", "--allow-executable", copy, "--yes").end
                    == .exited(0)
            )
            let asked = await issuer.counters.tokenRequests
            let refused = try await stage.authctl("refresh", "wiki")
            #expect(refused.end == .exited(78), "\(refused)")
            #expect(refused.errors.contains("derived from 'work', which is for '\(copy)' only"))
            #expect(refused.errors.contains("set up by '\(Program.products)/authctl'"), "\(refused)")
            #expect(await issuer.counters.tokenRequests == asked)
            let edit = try await stage.authctl("account", "edit", "wiki", "--scope", "write")
            #expect(edit.end == .exited(77), "\(edit)")
            let feed = try await ChangeFeed(stage, accounts: ["wiki"])
            let lifted = try Program(
                copy,
                ["account", "edit", "work", "--allow-executable", Program.products + "/authctl", "--yes"],
                environment: stage.environment
            )
            #expect(try await lifted.ended() == .exited(0), "\(lifted.errorText)")
            try await feed.next("token-refreshed", of: "wiki")
        }
    }

    @Test func `an ID token is exchanged like an access token, and obeys its account's list`()
        async throws
    {
        try await withStage { stage, issuer, url, _ in
            var settings = AccountSettings(name: "person", issuer: url, clientId: "app")
            settings.scopes = ["openid", "offline_access"]
            _ = try await stage.ask(.addAccount, AddAccount.Parameters(settings: settings), for: AddAccount.Reply.self)
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "person"))
            _ = try await RawWeb.get(try await Person().decide(at: try #require(try await call.started().url)))
            _ = try await call.completed()
            let added = try await derive(stage, url, ["--subject-token-type", "id_token"], from: "person")
            #expect(added.end == .exited(0), "\(added)")
            let exchange = try await issuer.waitForRequest { $0.grantType?.hasSuffix("token-exchange") == true }
            #expect(exchange.outcome == .issued)
            let edited = try await stage.authctl(
                "account",
                "edit",
                "person",
                "--allow-executable",
                copy(for: stage),
                "--yes"
            )
            #expect(edited.end == .exited(0), "\(edited)")
            let asked = await issuer.counters.tokenRequests
            let refused = try await stage.authctl("refresh", "wiki")
            #expect(refused.end == .exited(78) && refused.errors.contains("derived from 'person'"), "\(refused)")
            #expect(await issuer.counters.tokenRequests == asked)
        }
    }

    @Test func `a token that cannot be used in a header says so`() async throws {
        try await withStage { stage, _, url, _ in
            let added = try await derive(stage, url, ["--requested-token-type", "id_token"])
            #expect(added.end == .exited(0), "\(added)")
            let raw = try await stage.authctl("token", "wiki")
            #expect(raw.end == .exited(0) && raw.output.split(separator: ".").count == 3, "\(raw)")
            let header = try await stage.authctl("token", "wiki", "--format", "header")
            #expect(header.end == .exited(64) && header.output.isEmpty && header.errors.contains("--format raw"))
        }
    }

    @Test func `an impossible source is refused, and nothing is added`() async throws {
        try await withStage { stage, _, url, _ in
            for (source, more, words) in [
                ("nobody", [], "there is no account 'nobody'"), ("work", ["--subject-token-type", "saml2"], "SAML"),
                ("work", ["--requested-token-type", "refresh_token"], "access tokens only"),
                ("work", ["--actor-account", "nobody"], "there is no account 'nobody'"),
            ] as [(String, [String], String)] {
                let refused = try await derive(stage, url, more, from: source)
                #expect(refused.end == .exited(65) && refused.errors.contains(words), "\(refused)")
            }
            #expect(try await stage.authctl("account", "show", "wiki").end == .exited(4))
        }
    }

    @Test func `chains of derived accounts are short and never circular`() async throws {
        try await withStage { stage, _, url, _ in
            let names = ["work", "a", "b", "c", "d"]
            for (source, name) in zip(names, names.dropFirst()) {
                #expect(
                    try await derive(stage, url, ["--no-wait"], name: name, from: source).end == .exited(0),
                    "\(name)"
                )
            }
            // `derivationsMax` accounts depend on "d".
            let deep = try await derive(stage, url, ["--no-wait"], name: "e", from: "d")
            #expect(deep.end == .exited(65) && deep.errors.contains("more than 4"), "\(deep)")
            try await stage.acquire("d")
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
            // The first account has lost its source, and this one does not replace it.
            #expect(try await derive(stage, url, name: "work", from: "b").end == .exited(0))
            #expect(try await stage.authctl("refresh", "a").end == .exited(78))
        }
    }

    @Test func `one derived account too many gets the limit`() async throws {
        try await withStage { stage, _, url, _ in
            let add = { (number: Int) in
                let settings = AccountSettings(name: "derived-\(number)", issuer: url, clientId: "app") {
                    $0.grantType = "urn:ietf:params:oauth:grant-type:token-exchange"
                    $0.subjectAccount = "work"
                }
                _ = try await stage.ask(
                    .addAccount,
                    AddAccount.Parameters(settings: settings),
                    for: AddAccount.Reply.self
                )
            }
            for number in 1...100 { try await add(number) }
            let fault = await #expect(throws: TestFault.self) { try await add(101) }
            guard case .refused(let name, let parameters)? = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            #expect(name == LimitExceededError.name && parameters.contains("derivedAccounts"))
        }
    }
}
