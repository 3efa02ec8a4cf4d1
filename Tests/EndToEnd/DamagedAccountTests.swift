import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// One damaged row in the store of a real daemon: the account is shown as damaged, and all others are served.
struct DamagedAccountTests {
    /// Runs `body` with three accounts. `statement` damages `bad` while no daemon runs.
    private func withDamage(
        _ statement: String,
        _ body: (DaemonStage) async throws -> Void
    ) async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let first = try await stage.start()
            for name in ["a", "bad", "z"] {
                try await stage.add(name, issuer: url, grant: issuer.issueGrant(clientID: "app"))
                try await stage.acquire(name)
            }
            #expect(try await first.terminate() == .exited(0))
            try await stage.change(store: statement)
            let second = try await stage.start()
            try await body(stage)
            #expect(try await second.terminate() == .exited(0))
        }
    }

    @Test func `every command shows a damaged account as misconfigured, and the others as they are`() async throws {
        try await withDamage("UPDATE account SET phase = 'dreaming' WHERE name = 'bad'") { stage in
            let feed = try await ChangeFeed(stage)
            let present = feed.changes.all.filter { $0.event == "present" }.flatMap(\.accounts)
            #expect(present.map(\.account) == ["a", "bad", "z"])
            #expect(present.map(\.state) == ["fresh", "misconfigured", "fresh"])
            #expect(present[1].reason == "damaged")
            let summary = try #require(present[1].failure?.summary)
            #expect(summary.contains("the column 'phase' of account 2 has a word that this version does not know"))
            #expect(!summary.contains("dreaming"))
            #expect(present[1].hint?.contains("authctl account remove bad") == true)

            try await expectShown(stage, summary)
            // The counts change in the turn that finds the damage.
            try await stage.notify.messages.first("the count") { $0.contains("3 accounts, 1 damaged") }
            #expect(try await stage.info().damaged == 1)

            #expect(try await stage.authctl("account", "remove", "bad", "--yes").end == .exited(0))
            try await feed.next("account-removed", of: "bad")
            #expect(try await stage.info().damaged == nil)
            #expect(try await stage.authctl("status").output.contains("2 accounts: 2 fresh"))
        }
    }

    private func expectShown(_ stage: DaemonStage, _ summary: String) async throws {
        let status = try await stage.authctl("status")
        #expect(status.end == .exited(0))
        #expect(status.output.contains("bad cannot be used: \(summary)"), "\(status.output)")
        #expect(status.output.contains("authctl store backup FILE, then authctl account remove bad"))
        #expect(status.output.contains("3 accounts: 2 fresh, 1 misconfigured"))
        #expect(try await stage.authctl("status", "bad").end == .exited(78))
        let list = try await stage.authctl("account", "list")
        #expect(list.end == .exited(0))
        #expect(list.output.split(separator: "\n").prefix(4).map { $0.prefix(3) } == ["ACC", "a  ", "bad", "z  "])
        let listed = try JSONDecoder().decode(
            ListAccounts.Reply.self,
            from: Data(try await stage.authctl("account", "list", "--json").output.utf8)
        )
        #expect(listed.accounts.map(\.name) == ["a", "z"])
        #expect(listed.damaged?.map(\.account) == ["bad"])
        let show = try await stage.authctl("account", "show", "bad")
        #expect(show.end == .exited(0))
        #expect(show.output.contains("misconfigured: \(summary)"), "\(show.output)")
        let token = try await stage.authctl("token", "bad")
        #expect(token.end == .exited(78))
        #expect(token.errors.contains(summary), "\(token.errors)")
        #expect(token.errors.contains("authctl: hint: authctl store backup FILE"))
        #expect(try await stage.authctl("token", "a").end == .exited(0))
    }

    @Test func `a damaged account that is due and leased stops no refresh and no start`() async throws {
        let damage = """
            UPDATE account SET phase = 'refreshing', lease_generation = generation, phase_wall_usec = 1, phase_boot_id = 1,
            phase_boot_usec = 1, deadline_usec = 1, access_lifetime_usec = -9223372036854775808 WHERE name = 'bad'
            """
        try await withDamage(damage) { stage in
            try await stage.notify.messages.first("the count") { $0.contains("1 damaged") }
            try await stage.acquire("z", force: true)
            #expect(try await stage.status("bad").reason == "damaged")
        }
    }

    @Test func `a broken seal on a client secret affects one account`() async throws {
        try await withDamage("UPDATE account SET client_secret = zeroblob(64) WHERE name = 'bad'") { stage in
            #expect(try await stage.statuses().map(\.state) == ["fresh", "misconfigured", "fresh"])
            let refusal = try await stage.refusal(of: "bad", as: MisconfiguredError.self)
            #expect(refusal.reason.contains("'account.client_secret'"))
        }
    }

    @Test func `a broken seal on an access token is replaced by a refresh`() async throws {
        let damage = """
            UPDATE token SET sealed = zeroblob(64) WHERE kind = 'access'
            AND account_id = (SELECT id FROM account WHERE name = 'bad')
            """
        try await withDamage(damage) { stage in
            let refusal = try await stage.refusal(of: "bad", as: MisconfiguredError.self)
            #expect(refusal.reason.contains("'token.access'"))
            #expect(refusal.hint == "authctl refresh bad")
            #expect(try await stage.authctl("refresh", "bad").end == .exited(0))
            try await stage.acquire("bad")
        }
    }

    @Test func `an account with an invalid name can be removed by its shown name`() async throws {
        try await withDamage("UPDATE account SET name = 'b o''b' WHERE name = 'bad'") { stage in
            let shown = try await stage.statuses()
            #expect(shown.map(\.account) == ["a", "b o'b", "z"])
            #expect(shown[1].hint?.contains("authctl account remove 'b o'\\''b'") == true)
            #expect(try await stage.authctl("account", "remove", "b o'b", "--yes").end == .exited(0))
            #expect(try await stage.statuses().map(\.account) == ["a", "z"])
        }
    }

    @Test func `a repaired account returns to the schedule`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let first = try await stage.start()
            try await stage.add("bad", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("bad")
            #expect(try await first.terminate() == .exited(0))
            try await stage.change(store: "UPDATE account SET failures = -1, deadline_usec = 1")
            let second = try await stage.start()
            try await stage.notify.messages.first("the count") { $0.contains("1 damaged") }
            #expect(try await second.terminate() == .exited(0))
            try await stage.change(store: "UPDATE account SET failures = 0")
            let third = try await stage.start()
            #expect(try await stage.info().damaged == nil)
            #expect(try await stage.status("bad").state == "fresh")
            #expect(try await stage.status("bad").nextAttemptAtUSec != nil)
            #expect(try await third.terminate() == .exited(0))
        }
    }
}
