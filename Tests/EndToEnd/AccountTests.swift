import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// What people do with accounts: copying, renaming, changing settings, removing.
struct AccountTests {
    @Test func `a mistyped account or provider gets a suggestion`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let profile = "name: example\nissuer: \(url)\n"
            try stage.folder.write(profile, to: "config/authrefreshd/providers.d/example.yaml")
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: try await issuer.issueGrant(clientID: "app"))
            for words in [
                ["token", "wrok"], ["status", "wor"], ["refresh", "owrk"], ["login", "wokr", "--no-open"],
            ] {
                let outcome = try await stage.authctl(words)
                #expect(outcome.errors.contains("did you mean 'work'?"), "\(words): \(outcome)")
                #expect(outcome.end == .exited(4))
            }
            let far = try await stage.authctl("token", "garden")
            #expect(!far.errors.contains("did you mean"), "\(far)")
            let add = ["account", "add", "new", "--provider", "exmaple", "--client-id", "c"]
            let refused = try await stage.authctl(add)
            #expect(refused.errors.contains("did you mean 'example'?"), "\(refused)")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a profile that was written after the start is found, and an invalid one is named`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        func add(_ name: String) async throws -> CommandOutcome {
            try await stage.authctl("account", "add", name, "--provider", "mine", "--client-id", "c", "--offline")
        }
        #expect(try await add("none").errors.contains("there is no provider profile 'mine'"))
        let file = "config/authrefreshd/providers.d/mine.yaml"
        let profile = "name: mine\nissuer: https://as.example\ntoken_endpoint: https://as.example/token\n"
        try stage.folder.write(profile + "colour: red\n", to: file)
        let invalid = try await add("invalid")
        #expect(invalid.end == .exited(65) && invalid.errors.contains("mine.yaml', line 4, key 'colour'"), "\(invalid)")
        try stage.folder.write(profile, to: file)
        #expect(try await add("work").end == .exited(0))
        #expect(try await stage.authctl("provider", "list").output.contains("mine"))
        try stage.folder.write(profile + "documentation: https://as.example/docs\n", to: file)
        #expect(try await stage.authctl("provider", "show", "mine").output.contains("https://as.example/docs"))
        #expect(daemon.logText.contains("configuration reloaded"))
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a backup in another state folder with the key continues where the store was`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await feed.next("token-refreshed", of: "work")
            let token = try await stage.acquire("work")
            let file = stage.folder.path + "/backup"
            let backup = try await stage.authctl("store", "backup", file)
            #expect(backup.end == .exited(0), "\(backup.errors)")
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let again = try await stage.authctl("store", "backup", file)
            #expect(again.end != .exited(0))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: stage.stateDirectory).allSatisfy {
                    !$0.contains("backup")
                }
            )
            #expect(try await daemon.terminate() == .exited(0))

            let other = try DaemonStage()
            try FileManager.default.createDirectory(
                atPath: other.stateDirectory,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
            try FileManager.default.copyItem(atPath: file, toPath: other.store)
            try FileManager.default.copyItem(atPath: stage.key, toPath: other.key)
            let restored = try await other.start()
            #expect(try await other.acquire("work") == token)
            try await other.acquire("work", force: true)
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await restored.terminate() == .exited(0))
        }
    }

    @Test func `a command restores a backup while no daemon runs`() async throws {
        try await FreshAccount.with { account in
            let stage = account.stage
            let daemon = try await stage.start()
            let file = stage.folder.path + "/backup"
            #expect(try await stage.authctl("store", "backup", file).end == .exited(0))
            #expect(try await stage.authctl("account", "rename", "work", "renamed").end == .exited(0))
            let refused = try await stage.authctl("store", "restore", file)
            #expect(refused.end == .exited(78))
            #expect(refused.errors.contains("is in use by 'authrefreshd' (process \(daemon.pid))"), "\(refused.errors)")
            #expect(try await daemon.kill() == .signalled(9))

            let done = try await stage.authctl("store", "restore", file)
            #expect(done.end == .exited(0), "\(done.errors)")
            #expect(done.output.contains("'\(file)' is restored: 1 account"))
            #expect(done.output.contains("the previous store is kept as '\(stage.store).before-restore'"))
            let again = try await stage.start()
            #expect(try await stage.acquire("work") == account.token)
            #expect(try await again.terminate() == .exited(0))
        }
    }

    @Test func `an account keeps its tokens through renaming, new settings and a move`()
        async throws
    {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await feed.next("token-refreshed", of: "work")
            let token = try await stage.acquire("work")

            #expect(try await stage.authctl("account", "rename", "work", "office").end == .exited(0))
            #expect(try await stage.acquire("office") == token)
            #expect(try await stage.authctl("token", "work").end == .exited(4))
            try await stage.add("taken", issuer: url)
            #expect(try await stage.authctl("account", "rename", "office", "taken").end != .exited(0))

            let edited = try await stage.authctl("account", "edit", "office", "--lead-time", "30m")
            #expect(edited.end == .exited(0), "\(edited.errors)")
            let shown = try await stage.authctl("account", "show", "office")
            #expect(shown.output.contains("30"))
            #expect(try await stage.acquire("office") == token)

            let file = stage.folder.path + "/export.json"
            let exported = try await stage.authctl("account", "export", "office", "--output", file)
            #expect(exported.end == .exited(0), "\(exported.errors)")
            #expect(try await stage.authctl("account", "remove", "office", "--yes").end == .exited(0))
            #expect(try await stage.authctl("token", "office").end == .exited(4))
            try await feed.next("account-removed", of: "office")

            let imported = try await stage.authctl("account", "import", file)
            #expect(imported.end == .exited(0), "\(imported.errors)")
            #expect(try await stage.acquire("office") != token)
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a working grant stays until the server has accepted the imported one`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            for text in ["[]", "no-token-of-this-server"] {
                let refused = try await stage.authctl(
                    ["account", "import", "work", "--refresh-token-file", "-"],
                    input: text
                )
                #expect(refused.end == .exited(65), "\(refused)")
                let isFlaw = refused.errors.contains("the file contains JSON, but no refresh token")
                #expect(isFlaw == (text == "[]"), "\(refused)")
                #expect(try await stage.status("work").state == "fresh")
                #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            }
            do {
                let parameters = ImportGrant.Parameters(account: "work", refreshToken: "[]")
                _ = try await stage.ask(.importGrant, parameters, for: ImportGrant.Reply.self)
                Issue.record("JSON is taken for a refresh token")
            } catch TestFault.refused(let name, let parameters) {
                #expect(name == InvalidSettingsError.name && parameters.contains("not a refresh token, but JSON"))
            }
            let before = try await stage.acquire("work").accessToken
            let feed = try await ChangeFeed(stage)
            let imported = try await stage.authctl(
                ["account", "import", "work", "--refresh-token-file", "-"],
                input: try await issuer.issueGrant(clientID: "app").refreshToken
            )
            #expect(imported.end == .exited(0) && imported.output.contains("work: fresh until"), "\(imported)")
            try await feed.next("grant-imported", of: "work")
            #expect(try await stage.acquire("work").accessToken != before)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a token that was imported or exported before is not sent again`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let first = try await issuer.issueGrant(clientID: "app")
            try await stage.add("work", issuer: url, grant: first)
            try await stage.acquire("work")
            let second = try await issuer.issueGrant(clientID: "app")
            // The token that the account was added with; one that is imported and tested; and the same again.
            for token in [first, second, second].map(\.refreshToken) {
                #expect(try await stage.authctl("refresh", "work").end == .exited(0))
                let again = try await stage.authctl(
                    ["account", "import", "work", "--refresh-token-file", "-"],
                    input: token
                )
                #expect(again.end == .exited(0) && again.output.contains("work: fresh until"), "\(again)")
            }
            let export = try await stage.authctl("account", "export", "work")
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            let again = try await stage.authctl(["account", "import", "-"], input: export.output)
            #expect(again.end == .exited(0) && again.output.contains("work: fresh until"), "\(again)")
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(await issuer.grant(second.family)?.revokedBy == nil)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `importing an export changes a working account completely or not at all`() async throws {
        try await withIssuer(clients: [DemoClient(id: "app"), DemoClient(id: "desk")]) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let before = try await stage.acquire("work").accessToken
            let listed = try await stage.authctl("account", "show", "work", "--json").output
            let export = { (token: String) in
                """
                {"format":"authrefresh-account/1","refreshToken":"\(token)",
                 "settings":{"name":"work","issuer":"\(url)","clientId":"desk","leadTimeSec":420}}
                """
            }
            // It accepts neither a token that it has not issued, nor one of another client.
            let other = try await issuer.issueGrant(clientID: "app").refreshToken
            for token in ["no-token-of-this-server", other] {
                let refused = try await stage.authctl(["account", "import", "-"], input: export(token))
                #expect(refused.end == .exited(65) && refused.errors.contains("invalid_grant"), "\(refused)")
                #expect(try await stage.authctl("account", "show", "work", "--json").output == listed)
                #expect(try await stage.acquire("work").accessToken == before)
            }
            // It does not accept its own token for a client that was not tried.
            let held = try await stage.ask(
                .exportGrant,
                ExportGrant.Parameters(account: "work"),
                for: ExportGrant.Reply.self
            )
            let asked = await issuer.counters.tokenRequests
            let again = try await stage.authctl(["account", "import", "-"], input: export(held.refreshToken ?? ""))
            #expect(again.end == .exited(65) && again.errors.contains("already has this grant"), "\(again)")
            #expect(try await stage.authctl("account", "show", "work", "--json").output == listed)
            // It accepts none while its answer could not be stored.
            let good = try await issuer.issueGrant(clientID: "desk").refreshToken
            let (store, away) = (stage.store, stage.store + ".away")
            try FileManager.default.moveItem(atPath: store, toPath: away)
            let unstored = try await stage.authctl(["account", "import", "-"], input: export(good))
            #expect(unstored.end != .exited(0), "\(unstored)")
            // A sign-in would bring tokens that could not be stored, so none begins.
            let login = try await stage.authctl("login", "work", "--flow", "browser", "--no-open")
            #expect(login.end == .exited(75) && login.errors.contains("store is not available"), "\(login)")
            try FileManager.default.moveItem(atPath: away, toPath: store)
            #expect(await issuer.counters.tokenRequests == asked)
            let feed = try await ChangeFeed(stage)
            let imported = try await stage.authctl(["account", "import", "-"], input: export(good))
            #expect(imported.end == .exited(0) && imported.output.contains("work: fresh until"), "\(imported)")
            try await feed.next("account-updated", of: "work")
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains("desk") && shown.output.contains("7 min"), "\(shown)")
            #expect(try await stage.acquire("work").accessToken != before)
            // Both have survived the end of the daemon.
            #expect(try await daemon.terminate() == .exited(0))
            let next = try await stage.start()
            #expect(try await stage.authctl("account", "show", "work").output.contains("desk"))
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await next.terminate() == .exited(0))
        }
    }

    @Test func `a token refused by a resource server is replaced`() async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let token = try await stage.acquire("work")
            // A token that was requested less than a second ago is kept: a loop of complaints must not become a loop of
            // requests.
            try await stage.pass(.seconds(1))
            _ = try await stage.ask(
                .reportRejected,
                ReportRejected.Parameters(account: "work"),
                for: ReportRejected.Reply.self
            )
            #expect(try await stage.acquire("work") != token)
            #expect(await issuer.counters.tokenRequests == 2)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an account's own provider settings reach the server, and move with the account`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            let added = try await stage.authctl(
                ["account", "add", "work", "--issuer", url, "--client-id", "app", "--refresh-token-file", "-"]
                    + ["--provider-setting", "refresh_grant_type=renewal"],
                input: grant.refreshToken
            )
            #expect(added.end == .exited(78), "\(added)")
            #expect(await issuer.entries().last?.grantType == "renewal")

            let file = stage.folder.path + "/export.json"
            #expect(try await stage.authctl("account", "export", "work", "--output", file).end == .exited(0))
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
            #expect(try await stage.authctl("account", "import", file).end == .exited(78))
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains("setting         refresh_grant_type=renewal\n"), "\(shown)")

            let edited = try await stage.authctl("account", "edit", "work", "--clear", "provider-setting")
            #expect(edited.end == .exited(0), "\(edited)")
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(await issuer.entries().last?.grantType == "refresh_token")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an edit of the client makes the server's refusal void, and is tried once`() async throws {
        try await withIssuer(clients: ["app", "desk", "mail"].map { DemoClient(id: $0) }) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            // The grant is another client's.
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "mail"))
            try await feed.next("interaction-required", of: "work")
            let asked = await issuer.counters.tokenRequests
            for edit in [["--lead-time", "30m"], ["--url", "https://mail.example.org/"]] {
                #expect(try await stage.authctl(["account", "edit", "work"] + edit).end == .exited(0))
            }
            #expect(try await stage.status("work").reason == "grantEnded")
            #expect(await issuer.counters.tokenRequests == asked)

            #expect(try await stage.authctl("account", "edit", "work", "--client-id", "desk").end == .exited(0))
            #expect(try await stage.authctl("token", "work").end == .exited(3))
            #expect(await issuer.counters.tokenRequests == asked + 1)

            #expect(try await stage.authctl("account", "edit", "work", "--client-id", "mail").end == .exited(0))
            let token = try await stage.authctl("token", "work")
            #expect(token.end == .exited(0) && token.errors.isEmpty, "\(token)")
            #expect(try await stage.status("work").state == "fresh")
            #expect(await issuer.counters.tokenRequests == asked + 2)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an account's tokens and secret never follow it to another issuer`() async throws {
        try await withIssuer { first, home in
            try await withIssuer { other, away in
                let stage = try DaemonStage()
                let daemon = try await stage.start()
                try await stage.add("work", issuer: home, grant: first.issueGrant(clientID: "app"))
                try await stage.acquire("work")
                let refused = try await stage.authctl("account", "edit", "work", "--issuer", away)
                #expect(refused.end == .exited(65), "\(refused)")
                #expect(refused.errors.contains("is sent nowhere else"), "\(refused.errors)")
                // The token does not go to another address in the settings either.
                let setting = "token_endpoint=\(away)/token"
                let moved = try await stage.authctl("account", "edit", "work", "--provider-setting", setting)
                #expect(moved.end == .exited(65) && moved.errors.contains("is sent nowhere else"), "\(moved)")
                #expect(try await stage.authctl("refresh", "work").end == .exited(0))

                #expect(try await stage.authctl("logout", "work").end == .exited(0))
                #expect(try await stage.authctl("account", "edit", "work", "--issuer", away).end == .exited(0))
                #expect(try await stage.authctl("token", "work").end == .exited(5))
                #expect(await other.counters.tokenRequests == 0)
                #expect(try await daemon.terminate() == .exited(0))
            }
        }
    }
}
