import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// Accounts whose client obtains tokens for itself, with real programs and a strict server.
struct ServiceAccountTests {
    private static let client = DemoClient(
        id: "ci",
        authentication: .basic(secret: "s3cret", form: .formEncoded),
        serviceScope: "deploy read"
    )

    private func withStage(
        clients: [DemoClient] = [Self.client],
        _ body: (DaemonStage, DemoIssuer, String) async throws -> Void
    ) async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(clients: clients, now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            try await body(stage, issuer, url)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func add(_ stage: DaemonStage, _ url: String, _ more: String...) async throws -> CommandOutcome {
        let arguments = [
            "account", "add", "ci", "--issuer", url, "--client-id", "ci", "--client-secret-file", "-", "--grant",
            "client-credentials",
        ]
        return try await stage.authctl(arguments + more, input: "s3cret\n")
    }

    @Test func `a service account gets a token at once, and the next before it expires, without a person`() async throws
    {
        try await withStage { stage, issuer, url in
            let added = try await add(stage, url, "--scope", "deploy")
            #expect(added.end == .exited(0), "\(added)")
            #expect(added.output.contains("ci: fresh until "))
            let first = try await stage.acquire("ci")
            let feed = try await ChangeFeed(stage)
            try await stage.passToNextAttempt(of: "ci")
            try await feed.next("token-refreshed", of: "ci")
            let second = try await stage.acquire("ci")
            #expect(second.accessToken != first.accessToken && second.expiresAtUSec > first.expiresAtUSec)
            let asked = await issuer.entries().filter { $0.path == "/token" }
            #expect(Set(asked.map(\.grantType)) == ["client_credentials"])
            #expect(asked.allSatisfy { $0.outcome == .issued })
            let shown = try await stage.authctl("account", "show", "ci")
            #expect(shown.output.contains("grant           client_credentials, without anybody\n"))
            #expect(try await stage.authctl("store", "check").end == .exited(0))
        }
    }

    @Test func `logout erases a service account's token, and refresh resumes it`() async throws {
        try await withStage { stage, issuer, url in
            #expect(try await add(stage, url).end == .exited(0))
            let login = try await stage.authctl("login", "ci")
            #expect(login.end == .exited(78))
            #expect(login.errors.contains("it is a service account"), "\(login.errors)")
            let out = try await stage.authctl("logout", "ci", "--revoke")
            #expect(out.end == .exited(0), "\(out)")
            #expect(await issuer.entries().last?.outcome == .revoked)
            let refused = try await stage.authctl("token", "ci")
            #expect(refused.end == .exited(5))
            #expect(refused.errors.contains("authctl refresh ci"), "\(refused.errors)")
            let before = await issuer.counters.tokenRequests
            let refreshed = try await stage.authctl("refresh", "ci")
            #expect(refreshed.end == .exited(0), "\(refreshed)")
            #expect(try await stage.authctl("token", "ci").end == .exited(0))
            #expect(await issuer.counters.tokenRequests == before + 1)
        }
    }

    @Test func `a client without permission is misconfigured, and nobody is called`() async throws {
        let client = DemoClient(id: "ci", authentication: .basic(secret: "s3cret", form: .formEncoded))
        try await withStage(clients: [client]) { stage, _, url in
            let added = try await add(stage, url)
            #expect(added.end == .exited(78), "\(added)")
            #expect(added.errors.contains("unauthorized_client"))
            let status = try await stage.status("ci")
            #expect(status.state == "misconfigured")
            #expect(status.hint?.contains("authctl account edit ci") == true)
        }
    }

    @Test func `a too wide scope of a client is corrected in its settings`() async throws {
        try await withStage { stage, issuer, url in
            #expect(try await add(stage, url, "--scope", "admin").end == .exited(78))
            #expect(await issuer.entries().last?.outcome == .scopeTooWide)
            let edited = try await stage.authctl("account", "edit", "ci", "--scope", "read")
            #expect(edited.end == .exited(0), "\(edited)")
            #expect(try await stage.authctl("refresh", "ci").end == .exited(0))
        }
    }

    @Test func `other scopes and resources make token sets, and a restart keeps them`() async throws {
        try await withIssuer(clients: [Self.client]) { issuer, url in
            let stage = try DaemonStage()
            let first = try await stage.start()
            #expect(try await add(stage, url).end == .exited(0))
            let own = try await stage.authctl("token", "ci")
            let set = try await stage.authctl("token", "ci", "--scope", "read", "--resource", "https://api.example")
            #expect(set.end == .exited(0) && set.output != own.output, "\(set.errors)")
            #expect(try await first.terminate() == .exited(0))
            let second = try await stage.start()
            let again = try await stage.authctl("token", "ci", "--scope", "read", "--resource", "https://api.example")
            #expect(again.output == set.output)
            #expect(try await stage.authctl("token", "ci").output == own.output)
            #expect(await issuer.counters.tokenRequests == 2)
            #expect(try await second.terminate() == .exited(0))
        }
    }

    @Test func `after a lost answer a service account asks again and loses nothing`() async throws {
        try await withStage { stage, issuer, url in
            try await issuer.script(.cutAfter)
            let feed = try await ChangeFeed(stage)
            let added = try await add(stage, url, "--no-wait")
            #expect(added.end == .exited(0), "\(added)")
            try await feed.next("token-refreshed", of: "ci")
            #expect(try await stage.authctl("token", "ci").end == .exited(0))
            #expect(feed.changes.all.allSatisfy { $0.event != "interaction-required" })
            #expect(await issuer.counters.tokenRequests == 2)
        }
    }

    @Test func `a grant of a person is refused`() async throws {
        try await withStage { stage, issuer, url in
            #expect(try await add(stage, url).end == .exited(0))
            let grant = try await issuer.issueGrant(clientID: "ci", scope: "read")
            let parameters = ImportGrant.Parameters(account: "ci", refreshToken: grant.refreshToken)
            await #expect(throws: TestFault.self) {
                _ = try await stage.ask(.importGrant, parameters, for: ImportGrant.Reply.self)
            }
            let demand = #"WWW-Authenticate: Bearer error="insufficient_scope", scope="admin""#
            let challenged = try await stage.authctl("challenge", "ci", "--header", demand)
            #expect(challenged.end == .exited(65))
            #expect(challenged.errors.contains("authctl account edit ci --scope"), "\(challenged.errors)")
            #expect(try await stage.status("ci").state == "fresh")
        }
    }
}
