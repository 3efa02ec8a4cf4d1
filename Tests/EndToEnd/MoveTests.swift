import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// Accounts that move between machines, and grants that come from elsewhere meanwhile.
struct MoveTests {
    @Test func `an account exported for a move is parked until it is removed or resumed`() async throws {
        try await withIssuer { issuer, url in
            let (stage, other) = (try DaemonStage(), try DaemonStage())
            let (daemon, elsewhere) = (try await stage.start(), try await other.start())
            var settings = AccountSettings(name: "work", issuer: url, clientId: "app")
            settings.dpop = true
            let grant = try await issuer.issueGrant(clientID: "app").refreshToken
            let parameters = AddAccount.Parameters(settings: settings, refreshToken: grant)
            _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
            try await stage.acquire("work")

            let first = try await stage.authctl("account", "export", "work", "--move")
            #expect(first.end == .exited(0) && first.output.contains("dpopKey"), "\(first)")
            #expect(try await stage.status("work").state == "parked")
            let asked = await issuer.counters.tokenRequests
            let refreshed = try await stage.authctl("refresh", "work")
            #expect(refreshed.end == .exited(5), "\(refreshed)")
            let parked = try await stage.refusal(of: "work", as: AccountParkedError.self, force: true)
            #expect(parked.hint.contains("authctl account resume work"))
            #expect(try await daemon.terminate() == .exited(0))
            let next = try await stage.start()
            #expect(try await stage.status("work").state == "parked")
            #expect(await issuer.counters.tokenRequests == asked)
            let resumed = try await stage.authctl("account", "resume", "work")
            #expect(resumed.end == .exited(0) && resumed.output.contains("work: fresh"), "\(resumed)")
            #expect(await issuer.counters.tokenRequests == asked + 1)

            // The commands from the example in the help.
            let export = try await stage.authctl("account", "export", "work", "--move")
            let imported = try await other.authctl(["account", "import", "-"], input: export.output)
            #expect(imported.end == .exited(0), "\(imported)")
            let key = { (stage: DaemonStage) in
                let parameters = ExportGrant.Parameters(account: "work")
                return try await stage.ask(.exportGrant, parameters, for: ExportGrant.Reply.self).dpopKey
            }
            #expect(try await key(stage) == key(other))
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
            #expect(try await other.authctl("refresh", "work").end == .exited(0))
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await next.terminate() == .exited(0))
            #expect(try await elsewhere.terminate() == .exited(0))
        }
    }

    @Test func `a move waits for the request under way, and takes its refresh token along`() async throws {
        try await withIssuer { issuer, url in
            let (stage, other) = (try DaemonStage(), try DaemonStage())
            let (daemon, elsewhere) = (try await stage.start(), try await other.start())
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            let sequence = await issuer.lastSequence
            try await issuer.script(.delayAfter(.seconds(3600)))
            async let refreshed = stage.authctl("refresh", "work")
            _ = try await issuer.waitForRequest(after: sequence) { $0.path == "/token" }
            let move = ExportGrant.Parameters(account: "work", park: true)
            async let moved = stage.ask(.exportGrant, move, for: ExportGrant.Reply.self)
            try await stage.connected(2)
            // The answer to a later call shows that the move waits.
            _ = try await stage.info()
            await issuer.endDelays()
            let grant = try await moved
            #expect(try await stage.status("work").state == "parked")
            _ = try await refreshed

            let arrived = AddAccount.Parameters(settings: grant.settings, refreshToken: grant.refreshToken)
            _ = try await other.ask(.addAccount, arrived, for: AddAccount.Reply.self)
            try await other.acquire("work")
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
            #expect(try await elsewhere.terminate() == .exited(0))
        }
    }

    @Test func `the grant of a parked account is revoked only with --yes`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try await stage.add("work", issuer: url, grant: grant)
            try await stage.acquire("work")
            #expect(try await stage.authctl("account", "export", "work", "--move").end == .exited(0))
            for words in [["work"], ["work", "--forget"]] {
                let refused = try await stage.authctl(["logout", "--revoke"] + words)
                #expect(refused.end == .exited(5) && refused.errors.contains("--yes"), "\(refused)")
            }
            #expect(try await stage.status("work").state == "parked")
            #expect(await issuer.grant(grant.family)?.revokedBy == nil)
            let revoked = try await stage.authctl("logout", "work", "--revoke", "--yes")
            #expect(revoked.end == .exited(0), "\(revoked)")
            #expect(await issuer.grant(grant.family)?.revokedBy == .client)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an import that is interrupted and repeated sends its token once`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            let grant = try await issuer.issueGrant(clientID: "app")
            let sequence = await issuer.lastSequence
            try await issuer.script(.delayAfter(.seconds(3600)))
            let words = ["account", "import", "work", "--refresh-token-file", "-"]
            let first = try Program("authctl", words, environment: stage.environment, input: grant.refreshToken)
            _ = try await issuer.waitForRequest(after: sequence) { $0.path == "/token" }
            first.signal(SIGINT)
            #expect(try await first.ended(within: .seconds(30)) == .signalled(SIGINT))
            #expect(first.errorText.contains("the daemon continues the import of 'work'"), "\(first.errorText)")
            let parameters = ImportGrant.Parameters(account: "work", refreshToken: grant.refreshToken)
            async let second = stage.ask(.importGrant, parameters, for: ImportGrant.Reply.self)
            try await stage.connected(1)
            // The answer to a later call shows that the second import waits.
            _ = try await stage.info()
            await issuer.endDelays()
            #expect(try await second.status.state == "fresh")
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
