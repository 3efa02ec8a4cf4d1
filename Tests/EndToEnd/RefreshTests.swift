import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// The main task: a grant is imported, tokens are fresh from then on, and a person is called when necessary.
struct RefreshTests {
    @Test func `five silent refreshes, a revocation with its reason, and a new grant`() async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            let grant = try await issuer.issueGrant(clientID: "app")
            try stage.folder.write(grant.refreshToken + "\n", to: "grant")
            let added = try await stage.authctl(
                "account",
                "add",
                "work",
                "--issuer",
                url,
                "--client-id",
                "app",
                "--refresh-token-file",
                stage.folder.path + "/grant"
            )
            #expect(added.end == .exited(0), "\(added.errors)")

            // The grant began as generation 1. Nobody asks for anything before it has been rotated five times.
            for generation in 2...6 {
                if generation > 2 { try await stage.passToNextAttempt(of: "work") }
                try await feed.changes.first("generation \(generation)") {
                    $0.event == "token-refreshed" && $0.accounts.first?.generation == Int64(generation)
                }
            }
            let token = try await stage.authctl("token", "work")
            #expect(token.end == .exited(0))
            #expect(token.output.count > 20)

            try await issuer.revokeGrant(grant.family)
            let seen = feed.changes.count
            let revoked = try await stage.passAttempts(of: "work", until: "interaction-required", feed, from: seen)
            let status = try #require(revoked.accounts.first)
            #expect(status.state == "interaction-required")
            #expect(status.reason == "grantEnded")
            #expect(status.failure?.oauthError == "invalid_grant")
            #expect(status.failure?.oauthErrorDescription == "the grant was revoked by the administrator")
            #expect(status.hint == "authctl login work")
            let shown = try await stage.authctl("status", "work")
            #expect(shown.end == .exited(3))
            #expect(shown.output.contains("interaction"))

            let renewed = try await issuer.issueGrant(clientID: "app")
            try stage.folder.write(renewed.refreshToken, to: "renewed")
            let imported = try await stage.authctl(
                "account",
                "import",
                "work",
                "--refresh-token-file",
                stage.folder.path + "/renewed"
            )
            #expect(imported.end == .exited(0), "\(imported.errors)")
            #expect(try await stage.status("work").state == "fresh")

            let counters = await issuer.counters
            #expect(counters.spentTokenUses == 0)
            #expect(counters.overlaps == 0)
            #expect(try await daemon.terminate() == .exited(0))
            #expect(!daemon.logText.contains(grant.refreshToken))
            #expect(!daemon.logText.contains(token.output))
            let refreshes = daemon.logText.split(separator: "\n").filter { $0.contains("work: access token refreshed") }
            #expect(refreshes.count >= 5)
            #expect(refreshes.allSatisfy { $0.contains("AUTHREFRESH_CORRELATION_ID=") })
        }
    }

    @Test func `a rotating server without lifetimes is asked after the new token is stored`()
        async throws
    {
        try await withIssuer(policy: GrantPolicy(accessTokenLifetime: .seconds(600))) { issuer, url in
            let stage = try DaemonStage()
            let profile = "name: terse\nissuer: \(url)\nintrospection_endpoint: \(url)/introspect\n"
            try stage.folder.write(profile, to: "config/authrefreshd/providers.d/terse.yaml")
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await issuer.script(.expiresIn("null"))
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let refreshed = try await feed.next("token-refreshed", of: "work")
            // The result of an answer without a lifetime.
            #expect(refreshed.accounts.first?.expiryBasis == "notStated")
            _ = try await issuer.waitForRequest { $0.outcome == .introspected }
            let end = ContinuousClock.now + .patience
            var status = try await stage.status("work")
            while status.expiryBasis != nil, .now < end { status = try await stage.status("work") }
            #expect(status.expiryBasis == nil)
            let life = (status.expiresAtUSec ?? 0) - refreshed.atUSec
            #expect((590_000_000...601_000_000).contains(life), "\(life)")
            // Two thirds of ten minutes, not of an hour.
            #expect((status.nextAttemptAtUSec ?? .max) - refreshed.atUSec < 500_000_000)
            #expect(await issuer.counters.refreshes == 1)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
