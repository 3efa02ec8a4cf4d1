import Foundation
import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

/// Backups that replace the store.
struct StoreRestoreTests {
    private let folder: TemporaryFolder
    private let backup: String

    init() throws {
        folder = try TemporaryFolder()
        backup = folder.file("backup")
        try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: folder.file("store-key")))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("store-key"))
    }

    private static func keyring(in folder: String) -> StoreKeyring {
        StoreKeyring(
            source: StoreKeySource(credentialsDirectory: nil, stateDirectory: folder),
            secretService: SecretServiceKeys(load: { [] }, add: { _, _ in }, removeOthers: { _ in }),
            usesSecretService: false
        )
    }

    private var keyring: StoreKeyring { Self.keyring(in: folder.path) }

    private func restore(_ file: String? = nil) throws -> StoreRestore.Outcome {
        try StoreRestore(of: folder.store, from: file ?? backup, keyring: keyring).run()
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// Makes a backup with 300 accounts, and a store with 300 more, which a kill left in its log.
    private func leaveKilledStore() throws {
        let store = try folder.open()
        _ = try store.add((0..<300).map { try Sample.scheduled("a\($0)", due: 10) })
        try store.backup(to: backup)
        _ = try store.add((0..<300).map { try Sample.scheduled("late\($0)", due: 10) })
        let files = ["", "-wal"].map { URL(fileURLWithPath: folder.store + $0) }
        let contents = try files.map { try Data(contentsOf: $0) }
        try store.close()
        for (file, bytes) in zip(files, contents) { try bytes.write(to: file) }
    }

    @Test func `a backup replaces the store without its old log, and the old store is kept with all commits`() throws {
        try leaveKilledStore()
        try Data("shared memory".utf8).write(to: URL(fileURLWithPath: folder.store + "-shm"))
        let kept = folder.store + ".before-restore"
        #expect(try restore() == StoreRestore.Outcome(accounts: 300, kept: kept))
        #expect(
            try files == [
                "accounts.sqlite", "accounts.sqlite.before-restore", "accounts.sqlite.before-restore-shm",
                "accounts.sqlite.lock", "backup", "store-key",
            ]
        )
        let store = try folder.open()
        #expect(try store.counts().scheduled == 300)
        #expect(try store.inDatabase { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        try store.close()
        // The old store is kept complete, and the next one is kept beside it.
        let before = try AccountStore(path: kept, key: Sample.key())
        #expect(try before.counts().scheduled == 600)
        try before.close()
        #expect(try restore().kept == folder.store + ".before-restore-2")
    }

    @Test func `a restore that fails or is killed before its last step leaves the store whole, in one file`() throws {
        try leaveKilledStore()
        // The last step is not reached, because a folder has the name that a remaining file should get.
        try Data("shared memory".utf8).write(to: URL(fileURLWithPath: folder.store + "-shm"))
        let obstacle = folder.store + ".before-restore-shm"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        let before = try files
        #expect(throws: StoreError.self) { try restore() }
        #expect(try files == before.filter { $0 != "accounts.sqlite-wal" })
        #expect(try folder.open().counts().scheduled == 600)
    }

    @Test func `what a killed restore has left goes at the next start`() throws {
        let store = try folder.open()
        for name in ["", "-wal", ".lock", ".before-upgrade", "-previous", "-previous-wal"] {
            try Data("left".utf8).write(to: URL(fileURLWithPath: folder.store + ".restoring" + name))
        }
        StoreCopy.removeLeftovers(besides: store.path)
        #expect(try files == ["accounts.sqlite", "accounts.sqlite-wal", "accounts.sqlite.lock", "store-key"])
    }

    @Test func `a store that is a link is neither opened nor replaced, and the text says so`() throws {
        try leaveKilledStore()
        let (store, elsewhere, manager) = (folder.store, folder.file("elsewhere"), FileManager.default)
        try manager.moveItem(atPath: store, toPath: elsewhere)
        try manager.createSymbolicLink(atPath: store, withDestinationPath: elsewhere)
        let before = try (files, Data(contentsOf: URL(fileURLWithPath: elsewhere)))
        #expect(throws: StoreError.isLink(path: store)) { try folder.open() }
        #expect(throws: StoreError.isLink(path: store)) { try restore() }
        #expect(try files == before.0 && Data(contentsOf: URL(fileURLWithPath: elsewhere)) == before.1)
    }

    @Test func `a store that another process has open is left alone`() async throws {
        try leaveKilledStore()
        let store = try folder.open()
        let (files, path, backup, state, holder) = (try self.files, folder.store, backup, folder.path, getpid())
        await #expect(processExitsWith: .success) {
            [path = path as String, backup = backup as String, state = state as String, holder = holder as Int32] in
            let restore = StoreRestore(of: path, from: backup, keyring: StoreRestoreTests.keyring(in: state))
            let error = #expect(throws: StoreError.self) { try restore.run() }
            guard case .inUse(path, let found) = error, found.pid == holder else { throw Sample.Missing() }
        }
        #expect(try self.files == files)
        #expect(try store.counts().scheduled == 600)
        try store.close()
    }

    /// Gives the account `name` a newer refresh token, as a refresh does.
    private static func rotate(_ name: String, in store: AccountStore, to phase: Phase = .scheduled) throws {
        let record = try #require(try store.record(named: Sample.name(name)))
        var state = record.state
        state.generation = state.generation.next
        (state.phase, state.isRotating) = (phase, true)
        let token = Sample.refreshToken("\(name)-\(state.generation.rawValue)")
        let tokens = StoredTokens(accessToken: Sample.accessToken("new"), refreshToken: token)
        let write = StateWrite(
            account: record.account.id,
            base: record.state.generation,
            state: state,
            tokens: .store(tokens)
        )
        try store.commit([write])
    }

    @Test func `a restore keeps newer grants of the same accounts and clients`() throws {
        let store = try folder.open()
        _ = try store.add(["kept", "moved", "other", "same", "gone"].map { try Sample.scheduled($0, due: 10) })
        try store.backup(to: backup)
        for name in ["kept", "other"] { try Self.rotate(name, in: store) }
        try Self.rotate("moved", in: store, to: .parked(.moved))
        var other = try #require(try store.record(named: Sample.name("other"))).account
        other.registration.clientID = "another"
        try store.update(other)
        let gone = try #require(try store.record(named: Sample.name("gone"))).account.id
        let signedOut = RefreshState(generation: Generation(2))
        try store.commit([StateWrite(account: gone, base: Generation(1), state: signedOut, tokens: .erase)])
        let kept = try #require(try store.record(named: Sample.name("kept"))).account.id
        try store.rename(kept, to: Sample.name("renamed"))
        try store.close()

        let outcome = try restore()
        #expect(outcome.newerGrants == 2 && outcome.grantsLost == nil)
        #expect(
            try files == [
                "accounts.sqlite", "accounts.sqlite.before-restore", "accounts.sqlite.lock", "backup", "store-key",
            ]
        )
        let restored = try folder.open()
        let expected: [(String, Int64)] = [("kept", 2), ("moved", 2), ("other", 1), ("same", 1), ("gone", 1)]
        for (name, generation) in expected {
            let record = try #require(try restored.record(named: Sample.name(name)))
            #expect(record.state.generation == Generation(generation), "\(name)")
            let token = try restored.tokens.refreshToken(of: record.account.id, generation: record.state.generation)
            #expect(token == Sample.refreshToken("\(name)-\(generation)"))
            #expect(record.state.phase == (name == "moved" ? .parked(.moved) : .scheduled))
        }
        #expect(try restored.tokens.accessToken(of: kept) == Sample.accessToken("new"))
    }

    @Test func `a restore parks the accounts that were removed since the backup`() throws {
        let store = try folder.open()
        let added = try store.add(["gone", "fixed", "stays"].map { try Sample.scheduled($0, due: 10) })
        try store.inDatabase { try $0.execute(sql: "UPDATE account SET is_rotating = 0 WHERE name = 'fixed'") }
        try store.backup(to: backup)
        for id in added.dropLast() { try store.remove(id) }
        try store.close()
        let outcome = try restore()
        #expect(outcome.accounts == 3 && outcome.parkedGrants == 1 && outcome.grantsLost == nil)
        let restored = try folder.open()
        let expected: [(String, Phase)] = [("gone", .parked(.moved)), ("fixed", .scheduled), ("stays", .scheduled)]
        for (name, phase) in expected {
            #expect(try restored.record(named: Sample.name(name))?.state.phase == phase, "\(name)")
        }
        try restored.close()
        // A new store has removed none of them.
        for name in ["", "-wal"] { try? FileManager.default.removeItem(atPath: folder.store + name) }
        try folder.open().close()
        #expect(try restore().parkedGrants == 0)
    }

    @Test func `a restored grant that may be spent is not sent again`() throws {
        let store = try folder.open()
        let names = ["sent", "doubtful", "parked", "same"]
        _ = try store.add(names.map { try Sample.scheduled($0, due: 10) })
        let park = "UPDATE account SET deadline_usec = NULL, phase = 'parked', park_reason = 'moved'"
        try store.inDatabase { try $0.execute(sql: "\(park) WHERE name = 'parked'") }
        try store.backup(to: backup)
        let lease = Lease(generation: Generation(1), startedAt: Sample.moment(0))
        let changes: [(String, Phase, Bool)] = [
            ("sent", .refreshing(lease), false), ("doubtful", .scheduled, true), ("parked", .scheduled, false),
        ]
        for (name, phase, isUnknown) in changes {
            let record = try #require(try store.record(named: Sample.name(name)))
            var state = record.state
            (state.phase, state.isOutcomeUnknown, state.deadline) = (phase, isUnknown, Sample.start)
            let id = record.account.id
            try store.commit([StateWrite(account: id, base: Generation(1), state: state, tokens: .unchanged)])
        }
        try store.close()
        #expect(try restore().newerGrants == 2)
        let restored = try folder.open()
        let states = try names.map { try #require(try restored.record(named: Sample.name($0))).state }
        #expect(states.map(\.phase) == [.refreshing(lease), .scheduled, .parked(.moved), .scheduled])
        #expect(states.map(\.isOutcomeUnknown) == [false, true, false, false])
    }

    @Test func `the store itself is no backup of it, and the text says so`() throws {
        try leaveKilledStore()
        let error = #expect(throws: StoreError.self) { try restore(folder.store) }
        #expect(error?.description == "'\(folder.store)' cannot be restored: it is the store itself")
        #expect(try folder.open().counts().scheduled == 600)
    }

    @Test func `a backup is restored even without a store`() throws {
        try leaveKilledStore()
        for name in ["", "-wal"] { try FileManager.default.removeItem(atPath: folder.store + name) }
        #expect(try restore() == StoreRestore.Outcome(accounts: 300, kept: nil))
    }

    @Test func `a damaged store is replaced and kept`() throws {
        try leaveKilledStore()
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: folder.store))
        let kept = try #require(try restore().kept)
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == Data("damaged".utf8))
        #expect(try files.contains("accounts.sqlite.before-restore-wal"))
        #expect(try folder.open().counts().scheduled == 300)
    }

    @Test func `a restore says why it takes no newer grants from a damaged store`() throws {
        let store = try folder.open()
        _ = try store.add(Sample.scheduled("work", due: 10))
        try store.backup(to: backup)
        try store.close()
        try Data(repeating: 0x55, count: 1 << 14).write(to: URL(fileURLWithPath: folder.store))
        let outcome = try restore()
        #expect(outcome.accounts == 1 && outcome.newerGrants == 0)
        #expect(outcome.grantsLost?.contains("'\(folder.store)'") == true, "\(outcome)")
    }

    @Test func `an unusable backup changes nothing`() throws {
        try leaveKilledStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.store))
        func expect(_ cause: StoreError, _ contents: Data?) throws {
            if let contents { try contents.write(to: URL(fileURLWithPath: backup)) }
            let refusal = StoreError.notRestorable(path: backup, cause: cause)
            #expect(throws: refusal) { try restore() }
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == before)
            #expect(
                try files == ["accounts.sqlite", "accounts.sqlite-wal", "accounts.sqlite.lock", "backup", "store-key"]
            )
        }
        let good = try Data(contentsOf: URL(fileURLWithPath: backup))
        try expect(.notADatabase(path: backup), Data("a letter to a friend, saved under the wrong name".utf8))
        try expect(.notAStore(path: backup), Data())
        let torn =
            good.prefix(good.count / 2) + Data(repeating: 0xA5, count: 8192) + good.dropFirst(good.count / 2 + 8192)
        try expect(.corrupt(path: backup), torn)
        try good.write(to: URL(fileURLWithPath: backup))
        // An index that lacks its rows: opening the store does not notice it.
        let queue = try DatabaseQueue(path: backup)
        try queue.writeWithoutTransaction { db in
            let damage = "sql = replace(sql, '= 0', '= 1') WHERE name = 'account_local_deadline'"
            try db.execute(sql: "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET \(damage)")
        }
        try queue.close()
        try expect(.corrupt(path: backup), nil)
        try good.write(to: URL(fileURLWithPath: backup))
        try Data(repeating: 9, count: 32).write(to: URL(fileURLWithPath: folder.file("store-key")))
        let keys = try (Sample.key().identifier, Sample.key(9).identifier)
        try expect(.wrongKey(path: backup, expected: keys.0, given: keys.1), nil)
    }

    @Test func `an older store is copied before its migration, and the copy is removed with its key`() throws {
        try folder.putFixture()
        let store = try folder.open()
        let copy = folder.store + ".before-upgrade"
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let version = try DatabaseQueue(path: copy).read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(version == Schema.oldest)
        try store.close()
        // The copy can be restored like any backup. A store of the present version needs no such copy.
        #expect(try restore(copy).accounts == 7)
        try FileManager.default.removeItem(atPath: copy)
        let again = try folder.open()
        #expect(!FileManager.default.fileExists(atPath: copy))
        try Data("sealed with the old key".utf8).write(to: URL(fileURLWithPath: copy))
        try again.rekeying.begin(to: Sample.key(9))
        while try !again.rekeying.reseal(limit: 9).isLast {}
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test func `commits survive a kill after the log was removed`() throws {
        let store = try folder.open()
        _ = try store.add((0..<20).map { try Sample.scheduled("a\($0)", due: 10) })
        var renewals = 0
        store.onLogRenewed = { renewals += 1 }
        try FileManager.default.removeItem(atPath: folder.store + "-wal")
        try store.probe()
        _ = try store.add(Sample.scheduled("later", due: 10))
        #expect(renewals == 1)
        // The state after a kill: a copy of the store's files at this moment.
        let other = try TemporaryFolder()
        for name in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.store + name, toPath: other.store + name)
        }
        #expect(try other.open().counts().scheduled == 21)
        // Replacing the log by another one has the same effect as losing it.
        try FileManager.default.removeItem(atPath: folder.store + "-wal")
        try Data("not a log".utf8).write(to: URL(fileURLWithPath: folder.store + "-wal"))
        try store.probe()
        #expect(renewals == 2)
        try store.close()
        #expect(try folder.open().counts().scheduled == 21)
    }
}
