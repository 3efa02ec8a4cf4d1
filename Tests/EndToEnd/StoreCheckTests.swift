import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// `authctl store check` at a daemon in use.
struct StoreCheckTests {
    @Test func `a store in use is sound, and another program's damage is found`() async throws {
        try await FreshAccount.with { account in
            let stage = account.stage
            let daemon = try await stage.start()
            let sound = try await stage.authctl("store", "check")
            #expect(sound.end == .exited(0), "\(sound.output)\(sound.errors)")
            #expect(sound.output == "1 account checked: the store is sound")
            #expect(try await daemon.terminate() == .exited(0))

            try await stage.change(store: "UPDATE account SET deadline_usec = deadline_usec + 86400000000")
            let again = try await stage.start()
            let found = try await stage.authctl("store", "check")
            #expect(found.end == .exited(65))
            #expect(
                found.output.hasPrefix("account 'work': its next refresh is later than the daemon ever plans one\n"),
                "\(found.output)"
            )
            #expect(found.output.hasSuffix("1 account checked: 1 finding"), "\(found.output)")
            // A daemon with findings still serves callers.
            #expect(try await stage.acquire("work") == account.token)
            let left = try FileManager.default.contentsOfDirectory(atPath: stage.stateDirectory)
            #expect(left.filter { $0.contains(".check") } == [])
            #expect(try await again.terminate() == .exited(0))
        }
    }

    @Test func `a check reports findings up to its limit, and counts the rest`() async throws {
        let stage = try DaemonStage()
        let first = try await stage.start()
        let settings = AccountSettings(name: "a", issuer: "https://login.example.com", clientId: "app")
        _ = try await stage.ask(.addAccount, AddAccount.Parameters(settings: settings), for: AddAccount.Reply.self)
        #expect(try await first.terminate() == .exited(0))
        let orphans = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
            INSERT INTO token (account_id, kind, generation, sealed) SELECT 1, 'bus', i, x'00' FROM n
            """
        try await stage.change(store: orphans)
        let second = try await stage.start()
        let reply = try await stage.ask(.checkStore, CheckStore.Parameters(), for: CheckStore.Reply.self)
        #expect(reply.accounts == 1)
        #expect(reply.found == 1500)
        // `findingsMax`.
        #expect(reply.findings.count == 1000)
        let told = try await stage.authctl("store", "check", "--json")
        #expect(told.end == .exited(65))
        #expect(try JSONDecoder().decode(CheckStore.Reply.self, from: Data(told.output.utf8)) == reply)
        #expect(try await second.terminate() == .exited(0))
    }
}
