import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// `authctl apply`: accounts get the settings in a file.
struct ApplyTests {
    private func write(_ accounts: [[String: Any]], _ stage: DaemonStage) throws -> String {
        let json = try JSONSerialization.data(withJSONObject: ["accounts": accounts])
        try stage.folder.write(String(decoding: json, as: UTF8.self), to: "accounts.json")
        return stage.folder.path + "/accounts.json"
    }

    /// What a file with these accounts leads to, one line an account.
    private func apply(
        _ accounts: [[String: Any]],
        _ options: String...,
        to stage: DaemonStage
    ) async throws -> (end: ProgramEnd, lines: [String], errors: String) {
        let outcome = try await stage.authctl(["apply", write(accounts, stage)] + options)
        return (outcome.end, outcome.output.split(separator: "\n").map(String.init), outcome.errors)
    }

    private static let issuer = "https://login.example.com"

    private func account(_ name: String, _ more: [String: Any] = [:]) -> [String: Any] {
        ["name": name, "issuer": Self.issuer, "clientId": "app"].merging(more) { $1 }
    }

    @Test func `missing accounts are added and others changed, and the same file again changes nothing`()
        async throws
    {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await feed.next("token-refreshed", of: "work")
            let token = try await stage.acquire("work")
            let edit = try await stage.authctl("account", "edit", "work", "--lead-time", "10m", "--username", "jane")
            #expect(edit.end == .exited(0), "\(edit)")
            let file = [
                account("work", ["issuer": url, "username": "joe", "scopes": ["openid"]]), account("new"),
            ]
            let trial = try await apply(file, "--dry-run", to: stage)
            #expect(trial.lines.last == "new: would be added", "\(trial)")
            for line in ["  - leadTimeSec: 600", #"  - username: "jane""#, #"  + username: "joe""#] {
                #expect(trial.lines.contains(line), "\(trial)")
            }
            #expect(try await stage.statuses().count == 1)
            let first = try await apply(file, to: stage)
            #expect(first.end == .exited(0), "\(first)")
            #expect(first.lines[0].hasPrefix("work: changed: ") && first.lines[1] == "new: added", "\(first)")
            for name in ["scopes", "leadTimeSec", "username"] { #expect(first.lines[0].contains(name), "\(first)") }
            try await feed.next("account-added", of: "new")
            #expect(try await apply(file, to: stage).lines == ["work: unchanged", "new: unchanged"])
            #expect(try await stage.acquire("work") == token)
            let own = try await settings(of: "new", stage).redirectUri
            #expect(own?.hasPrefix("http://127.0.0.1/") == true)
            let pruned = try await apply([account("new")], "--prune", "--yes", to: stage)
            #expect(pruned.lines == ["new: unchanged", "work: removed"], "\(pruned)")
            try await feed.next("account-removed", of: "work")
            #expect(try await stage.authctl("token", "work").end == .exited(4))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func settings(of account: String, _ stage: DaemonStage) async throws -> AccountSettings {
        let parameters = ListAccounts.Parameters(accounts: [account])
        let reply = try await stage.ask(.listAccounts, parameters, for: ListAccounts.Reply.self)
        return try #require(reply.accounts.first)
    }

    @Test func `one wrong account keeps all others as they are`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        try stage.folder.write("s3cret", to: "secret")
        #expect(try await apply([account("work"), account("bound", ["dpop": true])], to: stage).end == .exited(0))
        let wrong: [([String: Any], String)] = [
            (account("bound"), "'bound', dpop: it is set when the account is added, and cannot be changed"),
            (account("work", ["grantType": "client_credentials"]), "'work', "),
            (["name": "work", "issuer": Self.issuer], "'work', clientId: it is empty"),
            (account("bad", ["issuer": "http://login.example.com"]), "'bad', issuer: "),
            (account("bad", ["leadTimeSec": -1]), "'bad', leadTimeSec: "),
            (account("..bad"), "'..bad', name: "),
            (account("new"), "'new', name: the account is described twice"),
            (account("loop", derived(from: "loop")), "'loop', subjectAccount: the account would be derived from"),
        ]
        for (account, message) in wrong {
            let outcome = try await apply([self.account("new"), account], to: stage)
            #expect(outcome.end == .exited(65) && outcome.lines == [], "\(outcome)")
            #expect(outcome.errors.contains(message), "\(outcome)")
        }
        let circle = [("c", "a"), ("a", "b"), ("b", "a")].map { account($0, derived(from: $1)) }
        let inCircle = try await apply(circle, to: stage)
        #expect(inCircle.errors.contains("'a', subjectAccount: the account would be derived from"), "\(inCircle)")
        let acting = account("c", derived(from: "work").merging(["actorAccount": "c"]) { $1 })
        let actsForItself = try await apply([acting], to: stage)
        #expect(actsForItself.errors.contains("'c', actorAccount: the account would be derived"), "\(actsForItself)")
        let many = (0...1000).map { account("a\($0)") }
        let outcome = try await apply(many, to: stage)
        #expect(outcome.end != .exited(0) && outcome.errors.contains("1000"), "\(outcome)")
        #expect(try await stage.statuses().map(\.account) == ["bound", "work"])
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `page: a thousand accounts are added at once, and one more is refused`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // `appliedAccountsMax`
        let accounts = (0..<1000).map { account("a\($0)") }
        #expect(try await apply(accounts + [account("more")], to: stage).end != .exited(0))
        let added = try await apply(accounts, to: stage)
        #expect(added.end == .exited(0) && added.lines.count == 1000, "\(added.errors)")
        #expect(try await stage.info().accounts == 1000)
        #expect(try await daemon.terminate() == .exited(0))
    }

    private func derived(from source: String) -> [String: Any] {
        [
            "grantType": "urn:ietf:params:oauth:grant-type:token-exchange", "subjectAccount": source,
            "clientAuthentication": "client_secret_post", "clientSecretFile": "~/secret",
        ]
    }

    @Test func `an account is derived from one that the same file adds, in any order`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        try stage.folder.write("s3cret", to: "secret")
        let file = [
            account("second", derived(from: "first")), account("first", derived(from: "work")), account("work"),
        ]
        let added = try await apply(file, to: stage)
        #expect(added.lines == ["second: added", "first: added", "work: added"], "\(added)")
        #expect(try await apply(file, to: stage).lines.allSatisfy { $0.hasSuffix(": unchanged") })
        let pruned = try await apply(Array(file.prefix(2)), "--prune", "--yes", to: stage)
        #expect(pruned.errors.contains("'first', subjectAccount: 'work' is not described"), "\(pruned)")
        #expect(try await settings(of: "second", stage).subjectAccount == "first")
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `two accounts cannot have one token file`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let file = [account("one", ["tokenFile": "t"]), account("two", ["tokenFile": "t"])]
        let outcome = try await apply(file, to: stage)
        #expect(outcome.errors.contains("'two', tokenFile: 't' is also the token file of 'one'"), "\(outcome)")
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `an account that asks first is changed and removed only if its user agrees`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let file = [account("work", ["confirm": true])]
        #expect(try await apply(file, to: stage).end == .exited(0))
        #expect(try await apply(file, to: stage).lines == ["work: unchanged"])
        for (file, options) in [([account("work")], []), ([], ["--prune", "--yes"])] {
            let outcome = try await stage.authctl(["apply", write(file, stage)] + options)
            #expect(outcome.end == .exited(77), "\(outcome)")
            #expect(outcome.errors.contains("'work' needs your consent"), "\(outcome)")
        }
        let trial = try await apply([account("work")], "--dry-run", to: stage)
        #expect(trial.lines == ["work: would be changed: confirm", "  - confirm: true"], "\(trial)")
        #expect(try await settings(of: "work", stage).confirm == true)
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a list of callers without the caller needs --yes, and then keeps the caller out`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let file = [account("work", ["allowedUnits": ["mbsync.service"]])]
        let refused = try await apply(file, to: stage)
        #expect(refused.end == .exited(65) && refused.errors.contains("'work', withoutCaller"), "\(refused)")
        #expect(try await apply(file, "--yes", to: stage).lines == ["work: added"])
        #expect(try await apply(file, to: stage).lines == ["work: unchanged"])
        #expect(try await apply([account("work")], "--yes", to: stage).end == .exited(77))
        #expect(try await daemon.terminate() == .exited(0))
    }

    /// Accounts that together have every setting.
    private func everySetting(_ stage: DaemonStage) throws -> [[String: Any]] {
        try stage.folder.write("s3cret", to: "secret")
        try stage.folder.write(Self.key, to: "key.pem")
        let profile = "etc/providers.d/microsoft.yaml"
        try stage.folder.write(SourceTree.text(profile), to: "config/authrefreshd/providers.d/microsoft.yaml")
        return [
            account(
                "full",
                [
                    "clientAuthentication": "client_secret_post", "clientSecretFile": "~/secret",
                    "idTokenAlgorithm": "RS256", "dpop": true, "acceptBearer": true, "scopes": ["openid", "email"],
                    "refreshParameters": ["resource": "https://api.example"], "requireIss": true,
                    "authorizationParameters": ["display": "popup"], "selfRegistered": true,
                    "authorizationDetails": #"[{"type":"payment_initiation"}]"#,
                    "redirectUri": "http://127.0.0.1/back", "redirectPort": 8400, "redirectScheme": "org.example.mail",
                    "postLogoutRedirectUri": "https://example.org/", "loginBrowser": "firefox",
                    "loginWindow": "private", "leadTimeSec": 60, "rotationGraceSec": 30,
                    "refreshTokenLifetimeSec": 86400, "allowedUnits": ["mbsync.service"],
                    "allowedExecutables": ["/usr/bin/env"], "forgetAfterSec": 3600,
                    "urls": ["https://git.example.org/team"], "username": "jane", "tokenFile": "full",
                    "tokenFileKind": "json",
                ]
            ),
            account("asks", ["confirm": true, "providerSettings": ["scope_separator": ","]]),
            ["name": "tenant", "provider": "microsoft", "variables": ["tenant": "organizations"], "clientId": "app"],
            account(
                "robot",
                [
                    "grantType": "urn:ietf:params:oauth:grant-type:jwt-bearer", "clientKeyFile": "~/key.pem",
                    "clientKeyId": "k1", "assertionSubject": "jane", "assertionAudience": "https://as.example.org",
                    "assertionLifetimeSec": 120,
                ]
            ),
            account("apple", ["clientKeyFile": "~/key.pem", "clientKeyId": "k1", "teamId": "TEAM123456"]),
            account("workload", ["clientAssertionFile": "/run/token", "clientCapabilities": ["cp1"]]),
            account(
                "derived",
                derived(from: "tenant").merging([
                    "subjectTokenType": "urn:ietf:params:oauth:token-type:access_token", "actorAccount": "asks",
                    "actorTokenType": "urn:ietf:params:oauth:token-type:access_token",
                    "requestedTokenType": "urn:ietf:params:oauth:token-type:access_token",
                ]) { $1 }
            ),
        ]
    }

    @Test func `an export of every setting changes nothing, and makes the same accounts elsewhere`() async throws {
        let (stage, other) = (try DaemonStage(), try DaemonStage())
        let (daemon, elsewhere) = (try await stage.start(), try await other.start())
        let file = try everySetting(stage)
        let added = try await apply(file, "--yes", to: stage)
        #expect(added.end == .exited(0), "\(added)")
        let unchanged = try await apply(file, to: stage)
        #expect(unchanged.lines.allSatisfy { $0.hasSuffix(": unchanged") }, "\(unchanged)")

        let export = try await stage.authctl("account", "export", "--settings").output
        for setting in Setting.all {
            #expect(export.contains("\"\(setting.name)\""), "no account has '\(setting.name)'")
        }
        let again = try await stage.authctl(["apply", "-"], input: export)
        #expect(again.output.split(separator: "\n").allSatisfy { $0.hasSuffix(": unchanged") }, "\(again)")
        #expect(again.output.split(separator: "\n").count == file.count, "\(again)")

        let moved = try await other.authctl(["apply", "-", "--yes"], input: export)
        // Its secrets are not in the file.
        #expect(moved.end == .exited(65), "\(moved)")
        _ = try everySetting(other)
        let there = try await apply(file, "--yes", to: other)
        #expect(there.end == .exited(0), "\(there)")
        #expect(try await other.authctl("account", "export", "--settings").output == export)
        #expect(try await other.authctl(["apply", "-"], input: export).end == .exited(0))
        #expect(try await daemon.terminate() == .exited(0))
        #expect(try await elsewhere.terminate() == .exited(0))
        for secret in ["s3cret", "PRIVATE KEY"] {
            #expect(!export.contains(secret) && !daemon.logText.contains(secret))
        }
    }

    @Test func `a daemon that is killed at any moment has stored all of a file or nothing`() async throws {
        let stage = try DaemonStage()
        var outcomes: Set<[String]> = []
        let before = [account("work"), account("old")]
        let after = [account("work", ["username": "jane"]), account("new"), account("newer")]
        // The calls with which an undisturbed change writes.
        let calls = try await applyKilled(after, on: before, at: .max, stage).calls
        #expect(calls > 1)
        for number in stride(from: 1, through: calls, by: max(1, calls / 12)) {
            let names = try await applyKilled(after, on: before, at: number, stage).accounts
            outcomes.insert(names)
        }
        #expect(outcomes.isSubset(of: [["old", "work"], ["new", "newer", "work:jane"]]), "\(outcomes)")
        #expect(outcomes.contains(["old", "work"]), "\(calls) calls")
    }

    /// Applies a file at a daemon of its own, which is killed before its call with this number that writes.
    ///
    /// - Returns: the accounts that the next daemon has, and how many calls wrote.
    private func applyKilled(
        _ file: [[String: Any]],
        on before: [[String: Any]],
        at number: Int,
        _ stage: DaemonStage
    ) async throws -> (accounts: [String], calls: Int) {
        let first = try await stage.start()
        #expect(try await apply(before, "--prune", "--yes", to: stage).end == .exited(0))
        #expect(try await first.terminate() == .exited(0))
        let files = FaultyFiles(in: stage.folder)
        let daemon = try await stage.start(environment: files.environment(for: stage.stateDirectory))
        try files.give(.kill(at: number))
        _ = try await apply(file, "--prune", "--yes", to: stage)
        let calls = try files.withdraw().count
        _ = try await daemon.terminate()
        let next = try await stage.start()
        let reply = try await stage.ask(.listAccounts, ListAccounts.Parameters(), for: ListAccounts.Reply.self)
        #expect(try await next.terminate() == .exited(0))
        return (reply.accounts.map { $0.name + ($0.username.map { ":" + $0 } ?? "") }, calls)
    }

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQDoZuWZCxHwME0gB
        3ZPJoea6u/LI2bhUtrXd0gR80dShRANCAATVdgqgnnHvI/6vl/NDGQmQjEc1TT8+
        qW4FkhVFlmJ3G0rUKQC3JGStBKC5pLcKwXLeLyltFamYIv+Ob0S6nZhM
        -----END PRIVATE KEY-----

        """
}
