import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// Signing out, at the server and here.
struct SignOutTests {
    @Test func `logout --revoke ends the grant at the server, and the tokens here`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try await stage.add("work", issuer: url, grant: grant)
            try await stage.acquire("work")
            let outcome = try await stage.authctl("logout", "work", "--revoke")
            #expect(outcome.end == .exited(0), "\(outcome.errors)")
            #expect(await issuer.grant(grant.family)?.revokedBy == .client)
            let refusal = try await stage.refusal(of: "work", as: SignedOutError.self)
            #expect(refusal.hint.contains("authctl login work"))
            #expect(try await stage.status("work").state == "signed-out")
            #expect(try await stage.authctl("token", "work").end == .exited(5))
            // There is nothing left to do, which is no failure.
            let again = try await stage.authctl("logout", "work", "--revoke")
            #expect(again.end == .exited(0), "\(again.errors)")
            #expect(again.output.contains("there is no grant to revoke"))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `after a sign-out nobody is shown as signed in, and a second one changes nothing`() async throws {
        try await withSignInStage(scopes: ["openid"]) { stage, daemon, _ in
            let call = try stage.signIn()
            let url = try #require(try await call.started().url)
            _ = try await RawWeb.get(try await Person().decide(at: url))
            #expect(try await call.completed().status?.person != nil)
            #expect(try await stage.authctl("logout", "work").end == .exited(0))
            let status = try await stage.status("work")
            #expect(status.state == "signed-out" && status.person == nil, "\(status)")
            for words in [["account", "show", "work"], ["account", "list"], ["status"]] {
                let shown = try await stage.authctl(words)
                #expect(!shown.output.contains("alice"), "\(shown)")
            }
            let again = try await stage.authctl("logout", "work")
            #expect(again.end == .exited(0) && again.output.contains("was not signed in"), "\(again)")
            #expect(try await stage.status("work") == status)
            #expect(daemon.logText.components(separatedBy: "signed out").count == 2)
            // The next person is compared with the one before.
            let other = try stage.signIn()
            let next = try #require(try await other.started().url)
            _ = try await RawWeb.get(try await Person("bob").decide(at: next))
            _ = try await other.refusal(OtherSubjectError.self)
        }
    }

    @Test func `a timed sign-out is announced, happens in time, and a sign-in restarts it`()
        async throws
    {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url)
            let edit = try await stage.authctl("account", "edit", "work", "--forget-after", "600s")
            #expect(edit.end == .exited(0), "\(edit.errors)")
            #expect(edit.output.contains("10 min after each sign-in"), "\(edit.output)")
            let feed = try await ChangeFeed(stage)
            for _ in 0..<2 {
                let seen = feed.changes.count
                try await stage.importGrant(try await issuer.issueGrant(clientID: "app"), into: "work")
                try await stage.acquire("work")
                // It is announced for its last quarter.
                try await stage.pass(.seconds(460))
                let near = try await feed.next("sign-out-near", of: "work", from: seen)
                let end = try #require(near.accounts.first?.signOutAtUSec)
                #expect(near.accounts.first?.state == "refresh-token-expiring")
                #expect(try await stage.authctl("token", "work").end == .exited(0))
                try await stage.pass(until: end)
                let over = try await feed.next("signed-out", of: "work", from: seen)
                #expect(near.atUSec < end && over.atUSec >= end)
                #expect(try await stage.authctl("token", "work").end == .exited(5))
            }
            #expect(daemon.logText.contains("AUTHREFRESH_REASON=forgetAfter"))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test
    func `a time that would sign the account out at once is refused without --yes, and one without a unit always`()
        async throws
    {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            let edit = ["account", "edit", "work", "--forget-after"]
            #expect(try await stage.authctl(edit + ["30d"]).end == .exited(0))
            let end = try #require(try await stage.status("work").signOutAtUSec)
            try await stage.pass(until: end - 30 * 86_400_000_000 + 1_000_000)
            for more in [["8"], ["8", "--yes"]] {
                let plain = try await stage.authctl(edit + more)
                #expect(plain.end == .exited(64) && plain.errors.contains("with its unit"), "\(plain)")
            }
            let refused = try await stage.authctl(edit + ["1s"])
            #expect(refused.end == .exited(65) && refused.errors.contains("--yes"), "\(refused)")
            #expect(try await stage.status("work").signOutAtUSec == end)
            try await stage.acquire("work")
            let ended = try await stage.authctl(edit + ["1s", "--yes"])
            #expect(ended.end == .exited(0) && !ended.output.contains("next"), "\(ended)")
            #expect(try await stage.status("work").state == "signed-out")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `nobody gets a token once the time is over, though a full disk keeps it from being erased`() async throws
    {
        var policy = GrantPolicy()
        policy.refreshesIDTokens = true
        let stage = try DaemonStage(hasOwnClock: true)
        let files = FaultyFiles(in: stage.folder)
        try await withIssuer(policy: policy, now: stage.now) { issuer, url in
            let daemon = try await stage.start(environment: files.environment(for: stage.stateDirectory))
            let grant = try await issuer.issueGrant(clientID: "app", scope: "openid demo")
            let settings = AccountSettings(name: "work", issuer: url, clientId: "app") {
                ($0.scopes, $0.forgetAfterSec, $0.tokenFile) = (["openid", "demo"], 600, "work")
                $0.providerSettings = ["narrowed_scopes": "kept"]
            }
            let parameters = AddAccount.Parameters(settings: settings, refreshToken: grant.refreshToken)
            _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
            let calls = [
                ["work"], ["work", "--id-token"], ["work", "--scope", "demo"], ["work", "--min-validity", "601s"],
            ]
            for call in calls { #expect(try await stage.authctl(["token"] + call).end == .exited(0), "\(call)") }
            let whole = try await stage.authctl("account", "export", "work")
            #expect(whole.output.contains("\"refreshToken\""), "\(whole.errors)")
            let file = stage.folder.path + "/run/authrefreshd/tokens/work"
            #expect(FileManager.default.fileExists(atPath: file))
            let end = try #require(try await stage.status("work").signOutAtUSec)
            try files.give(.refuse(ENOSPC))
            try await stage.pass(until: end)
            for call in calls {
                let refused = try await stage.authctl(["token"] + call)
                #expect(refused.end == .exited(75) && refused.output.isEmpty, "\(call): \(refused)")
                #expect(refused.errors.contains("no space is left for the store"), "\(refused.errors)")
            }
            let export = try await stage.authctl("account", "export", "work")
            #expect(export.end == .exited(0) && export.output.contains("\"clientId\""), "\(export)")
            #expect(!export.output.contains("\"refreshToken\""))
            let move = try await stage.authctl("account", "export", "work", "--move")
            #expect(move.end == .exited(65) && move.output.isEmpty, "\(move)")
            #expect(move.errors.contains("the account has no refresh token that could be moved"), "\(move.errors)")
            let patience = ContinuousClock.now + .patience
            while FileManager.default.fileExists(atPath: file), ContinuousClock.now < patience { await Task.yield() }
            #expect(!FileManager.default.fileExists(atPath: file))
            try files.withdraw()
            try await daemon.says("the store can be used again")
            #expect(try await stage.authctl("token", "work").end == .exited(5))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `authorization details are requested and shown, and logout redirects back`()
        async throws
    {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let add = ["account", "add", "bank", "--issuer", url, "--client-id", "app", "--authorization-details", "-"]
            let more = [
                "--authorization-parameter", "login_hint=bob", "--post-logout-redirect-uri", "https://bank.example/bye",
            ]
            let added = try await stage.authctl(add + more, input: #"[ {"type": "accounts", "actions": ["read"]} ]"#)
            #expect(added.end == .exited(5) || added.end == .exited(0), "\(added)")
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "bank"))
            let address = try #require(try await call.started().url)
            #expect(address.contains("authorization_details=%5B%7B%22actions") && address.contains("login_hint=bob"))
            _ = try await RawWeb.get(try await Person().decide(at: address))
            _ = try await call.completed()
            let shown = try await stage.authctl("account", "show", "bank")
            #expect(shown.output.contains(#"kept            authorization_details=[{"type":"accounts"}]"#), "\(shown)")
            let parameters = SignOut.Parameters(account: "bank", endSession: true)
            let out = try await stage.ask(.signOut, parameters, for: SignOut.Reply.self)
            #expect(out.endSessionUrl?.contains("post_logout_redirect_uri=https%3A%2F%2Fbank.example%2Fbye") == true)
            for details in ["{}", "[]", #"[{"actions":[]}]"#, #"[],"x":1"#] {
                let refused = try await stage.authctl(add.map { $0 == "bank" ? "other" : $0 }, input: details)
                #expect(refused.end == .exited(65), "\(details): \(refused)")
            }
            let reserved = ["account", "edit", "bank", "--authorization-parameter", "state=x"]
            #expect(try await stage.authctl(reserved).end == .exited(65))
            #expect(try await daemon.terminate() == .exited(0))
            _ = issuer
        }
    }

    @Test func `tokens are erased even if the server cannot be reached`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let feed = try await ChangeFeed(stage)
        try await withIssuer { issuer, url in
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await feed.next("token-refreshed", of: "work")
        }
        let outcome = try await stage.authctl("logout", "work", "--revoke")
        #expect(outcome.end == .exited(75), "\(outcome)")
        #expect(outcome.errors.contains("the grant was not revoked: "), "\(outcome.errors)")
        #expect(outcome.output.contains("the tokens are erased"), "\(outcome.output)")
        #expect(try await stage.status("work").state == "signed-out")
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `the browser ends the session with the ID token, which no process can see`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            var settings = AccountSettings(name: "work", issuer: url, clientId: "app")
            settings.scopes = ["openid", "offline_access"]
            _ = try await stage.ask(.addAccount, AddAccount.Parameters(settings: settings), for: AddAccount.Reply.self)
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "work"))
            let location = try await Person().decide(at: try #require(try await call.started().url))
            _ = try await RawWeb.get(location)
            _ = try await call.completed()

            let pipe = stage.folder.path + "/opened"
            #expect(unsafe mkfifo(pipe, 0o600) == 0)
            try stage.folder.write("#!/bin/sh\necho \"$*\" > '\(pipe)'\n", to: "browser")
            #expect(unsafe chmod(stage.folder.path + "/browser", 0o700) == 0)
            let environment = stage.environment.merging(["BROWSER": stage.folder.path + "/browser"]) { $1 }
            let logout = try Program(
                "authctl",
                ["logout", "work", "--revoke", "--end-session", "--forget"],
                environment: environment
            )
            let reader = try Program("/bin/cat", [pipe], environment: [:])
            #expect(try await reader.ended() == .exited(0))
            let shown = reader.outputText
            #expect(shown.hasPrefix("http://127.0.0.1:"))
            #expect(!shown.contains("id_token"))
            // A caller who does not know the address gets nothing.
            let port = shown.split(separator: "/", omittingEmptySubsequences: false)[2]
            let other = try await RawWeb.get("http://\(port)/")
            #expect(other.status == 404)
            #expect(!other.headers.values.contains { $0.contains("id_token") })

            let onward = try await RawWeb.get(shown)
            #expect(onward.status == 303)
            let page = try await RawWeb.get(try #require(onward.headers["location"]))
            #expect(page.body.contains("You are signed out"))
            #expect(try await logout.ended() == .exited(0), "\(logout.errorText)")
            #expect(await issuer.entries().last?.outcome == .sessionEnded)
            #expect(
                logout.outputText.split(separator: "\n") == [
                    "work: the grant is revoked", "work: signed out, the tokens are erased", "work: removed",
                ]
            )
            // The address worked once.
            await #expect(throws: TestFault.self) { try await RawWeb.get(shown) }
            #expect(try await stage.authctl("account", "show", "work").end == .exited(4))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `without an end-session address the session stays open, and this is reported`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let profile = "name: bare\nissuer: \(url)\ntoken_endpoint: \(url)/token\n"
            try stage.folder.write(profile, to: "config/authrefreshd/providers.d/bare.yaml")
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let outcome = try await stage.authctl("logout", "work", "--end-session")
            #expect(outcome.end == .exited(75), "\(outcome)")
            #expect(outcome.errors.contains("publishes no address where a session ends"), "\(outcome.errors)")
            #expect(try await stage.status("work").state == "signed-out")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    // MARK: events during a sign-out

    @Test func `a grant imported during a revocation is kept with its account`() async throws {
        try await withHeldRevocation { issuer, stage, _, held in
            async let logout = stage.authctl("logout", "work", "--revoke", "--forget")
            let connection = try await held.request()
            try await stage.importGrant(try await issuer.issueGrant(clientID: "app"), into: "work")
            try await held.answer(connection)
            let outcome = try await logout
            #expect(outcome.end == .exited(75), "\(outcome)")
            #expect(outcome.errors.contains("the new one is kept"), "\(outcome.errors)")
            try await stage.acquire("work")
            #expect(try await stage.status("work").state == "fresh")
        }
    }

    @Test func `a refresh token that is rotated during a revocation is revoked too, and erased`() async throws {
        try await withHeldRevocation { issuer, stage, _, held in
            async let logout = stage.authctl("logout", "work", "--revoke")
            let first = try await held.request()
            let refreshed = try await stage.authctl("refresh", "work")
            #expect(refreshed.end == .exited(0), "\(refreshed)")
            try await held.answer(first, isLast: false)
            // The access token of the old grant, then both tokens of the new one.
            for number in 1...3 { try await held.answer(try await held.request(), isLast: number == 3) }
            let outcome = try await logout
            #expect(outcome.end == .exited(0), "\(outcome)")
            #expect(try await stage.status("work").state == "signed-out")
        }
    }

    @Test func `a daemon that is stopped during a revocation waits for its end, and erases the tokens`() async throws {
        try await withHeldRevocation { _, stage, daemon, held in
            async let logout = stage.authctl("logout", "work", "--revoke")
            let first = try await held.request()
            daemon.signal(SIGTERM)
            try await daemon.says("authrefreshd is stopping")
            // The refresh token, then the access token.
            try await held.answer(first, isLast: false)
            try await held.answer(try await held.request())
            let outcome = try await logout
            #expect(outcome.end == .exited(0), "\(outcome)")
            #expect(try await daemon.ended() == .exited(0))
            let next = try await stage.start()
            #expect(try await stage.status("work").state == "signed-out")
            #expect(try await next.terminate() == .exited(0))
        }
    }

    @Test func `a refresh token that is on its way is revoked, too`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            // The server rotates the token at once.
            try await issuer.script(.delayAfter(.seconds(3600)))
            let grant = try await issuer.issueGrant(clientID: "app")
            try await stage.add("work", issuer: url, grant: grant)
            _ = try await issuer.waitForRequest { $0.path == "/token" }
            async let logout = stage.authctl("logout", "work", "--revoke")
            try await stage.connected(1)
            // The answer to a later call shows that the sign-out waits.
            _ = try await stage.info()
            await issuer.endDelays()
            let outcome = try await logout
            #expect(outcome.end == .exited(0), "\(outcome)")
            #expect(await issuer.grant(grant.family)?.revokedBy == .client)
            #expect(try await stage.status("work").state == "signed-out")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an overdue answer is not awaited, and the revocation is reported as incomplete`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            try stage.configure("request_timeout: 4s\n")
            let daemon = try await stage.start()
            try await issuer.script(.delayAfter(.seconds(3600)))
            try await stage.add("work", issuer: url, grant: try await issuer.issueGrant(clientID: "app"))
            _ = try await issuer.waitForRequest { $0.path == "/token" }
            let outcome = try await stage.authctl("logout", "work", "--revoke")
            #expect(outcome.end == .exited(75), "\(outcome)")
            #expect(outcome.errors.contains("the server has not answered a refresh"), "\(outcome.errors)")
            #expect(try await stage.status("work").state == "signed-out")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    /// Runs `body` with a daemon and a fresh account, whose server does not answer revocations by itself.
    ///
    /// It runs before all other tests: the daemon waits at most 40 s for an answer that the test gives, and hundreds of
    /// tests begin at the same time.
    private func withHeldRevocation(
        _ body: @escaping @Sendable (DemoIssuer, DaemonStage, DaemonProcess, HeldEndpoint) async throws -> Void
    ) async throws {
        try await Task(priority: .high) {
            try await withIssuer { issuer, url in
                let held = try HeldEndpoint()
                let stage = try DaemonStage()
                let profile = """
                    name: slow
                    issuer: \(url)
                    token_endpoint: \(url)/token
                    revocation_endpoint: http://127.0.0.1:\(held.port)/revoke
                    """
                try stage.folder.write(profile, to: "config/authrefreshd/providers.d/slow.yaml")
                try stage.configure("request_timeout: 40s\n")
                let daemon = try await stage.start()
                try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
                try await stage.acquire("work")
                try await body(issuer, stage, daemon, held)
                if daemon.isRunning { daemon.signal(SIGTERM) }
                #expect(try await daemon.ended() == .exited(0))
            }
        }.value
    }
}
