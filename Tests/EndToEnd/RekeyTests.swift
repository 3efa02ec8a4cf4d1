import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// `authctl store rekey` at a daemon in use, also one that is killed during the change.
struct RekeyTests {
    /// Further accounts, enough for several batches of the daemon.
    private static let accounts = 700

    private func fill(_ stage: DaemonStage) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for number in stride(from: lane, to: Self.accounts, by: 4) {
                        let settings = AccountSettings(
                            name: "a\(number)",
                            issuer: "https://login.example.com",
                            clientId: "app"
                        )
                        let parameters = AddAccount.Parameters(settings: settings, clientSecret: "secret-\(number)")
                        _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func expectSecrets(_ stage: DaemonStage) async throws {
        for number in 0..<Self.accounts {
            let parameters = ExportGrant.Parameters(account: "a\(number)")
            let grant = try await stage.ask(.exportGrant, parameters, for: ExportGrant.Reply.self)
            #expect(grant.clientSecret == "secret-\(number)")
        }
    }

    private func rekey(_ stage: DaemonStage) async throws -> RekeyStore.Reply {
        try await stage.ask(.rekeyStore, RekeyStore.Parameters(), for: RekeyStore.Reply.self)
    }

    /// Changes the key at a daemon of its own, which is killed before its call with this number that writes.
    private func rekey(_ stage: DaemonStage, killedAt number: Int) async throws -> (end: ProgramEnd, calls: Int) {
        let files = FaultyFiles(in: stage.folder)
        let daemon = try await stage.start(environment: files.environment(for: stage.stateDirectory))
        try files.give(.kill(at: number))
        _ = try? await rekey(stage)
        let calls = try files.withdraw().count
        return (try await daemon.terminate(), calls)
    }

    @Test func `a new key replaces the old one while tokens are handed out and refreshed`() async throws {
        try await FreshAccount.with { account in
            let stage = account.stage
            let daemon = try await stage.start()
            try await fill(stage)
            let old = try Data(contentsOf: URL(fileURLWithPath: stage.key))
            async let outcome = stage.authctl("store", "rekey")
            for _ in 0..<5 { #expect(try await stage.acquire("work") == account.token) }
            let told = try await outcome
            #expect(told.end == .exited(0), "\(told.errors)")
            #expect(
                told.output.hasPrefix("\(Self.accounts + 1) accounts encrypted with the new key "),
                "\(told.output)"
            )
            #expect(told.output.hasSuffix(", kept in the key file"), "\(told.output)")
            let new = try Data(contentsOf: URL(fileURLWithPath: stage.key))
            #expect(new != old && new.count == 65)
            let left = try FileManager.default.contentsOfDirectory(atPath: stage.stateDirectory)
            #expect(left.filter { $0.hasPrefix("store-key") } == ["store-key"])
            #expect(try await daemon.terminate() == .exited(0))
            #expect(!daemon.logText.contains(String(decoding: new, as: UTF8.self).dropLast()))

            let again = try await stage.start()
            try await expectSecrets(stage)
            #expect(try await again.terminate() == .exited(0))
            try old.write(to: URL(fileURLWithPath: stage.key))
            try await account.expectRefusal(status: 78, says: "was encrypted with key")
            try new.write(to: URL(fileURLWithPath: stage.key))
        }
    }

    @Test func `after a kill at any moment of a key change the store opens and the change is finished`() async throws {
        try await FreshAccount.with { account in
            let stage = account.stage
            let first = try await stage.start()
            try await fill(stage)
            #expect(try await first.terminate() == .exited(0))
            // The calls with which an undisturbed change writes.
            let calls = try await rekey(stage, killedAt: .max).calls
            var keys: Set<Data> = []
            var killed = 0
            for kill in 0..<24 {
                // A change in larger batches, on an idle machine, has fewer calls.
                let daemon = try await rekey(stage, killedAt: 1 + kill * calls / 24)
                if daemon.end == .signalled(9) { killed += 1 }
                keys.insert(try Data(contentsOf: URL(fileURLWithPath: stage.key)))
            }
            // Some kills came after the new key was in its place.
            #expect(killed > 1 && keys.count > 1, "\(killed) killed, \(keys.count) keys, \(calls) calls")
            let last = try await stage.start()
            let end = try await rekey(stage)
            #expect(end.unreadable == 0 && end.leftover == nil && end.place == "file", "\(end)")
            try await expectSecrets(stage)
            #expect(try await stage.acquire("work") == account.token)
            #expect(try await last.terminate() == .exited(0))
        }
    }

    @Test func `after a kill at any call of a key change no Secret Service is looked for`() async throws {
        try await FreshAccount.with { account in
            let stage = account.stage
            // With one account, each change makes the same calls. The last ones destroy the old key and record that.
            let calls = try await rekey(stage, killedAt: .max).calls
            for number in 1...calls {
                let killed = try await rekey(stage, killedAt: number)
                #expect(killed.end == .signalled(9), "call \(number) of \(calls)")
                let next = try await stage.start()
                #expect(try await rekey(stage).leftover == nil, "call \(number) of \(calls)")
                #expect(try await next.terminate() == .exited(0))
                #expect(!next.logText.contains("Secret Service"), "call \(number) of \(calls)")
            }
        }
    }

    @Test func `a credential is replaced by the second one, and never overwritten`()
        async throws
    {
        let stage = try DaemonStage()
        let credentials = ["CREDENTIALS_DIRECTORY": stage.folder.path + "/credentials"]
        try stage.folder.write(String(repeating: "1", count: 64), to: "credentials/store-key")
        let daemon = try await stage.start(environment: credentials)
        try await fill(stage)
        let refused = try await stage.authctl("store", "rekey")
        #expect(refused.end == .exited(78))
        #expect(refused.errors.contains("systemd credential 'store-key'"), "\(refused.errors)")
        #expect(
            refused.errors.contains("hint: pass the new key as the credential 'store-key.next'"),
            "\(refused.errors)"
        )
        #expect(try await daemon.terminate() == .exited(0))

        try stage.folder.write(String(repeating: "2", count: 64), to: "credentials/store-key.next")
        let both = try await stage.start(environment: credentials)
        let told = try await stage.authctl("store", "rekey")
        #expect(told.end == .exited(0), "\(told.errors)")
        #expect(told.output.contains("the systemd credential 'store-key.next'"), "\(told.output)")
        #expect(try await both.terminate() == .exited(0))

        try FileManager.default.removeItem(atPath: stage.folder.path + "/credentials/store-key")
        try FileManager.default.moveItem(
            atPath: stage.folder.path + "/credentials/store-key.next",
            toPath: stage.folder.path + "/credentials/store-key"
        )
        let last = try await stage.start(environment: credentials)
        try await expectSecrets(stage)
        #expect(try await last.terminate() == .exited(0))
    }
}
