import Foundation
import GRDB
import RefreshCore
import Testing

@testable import AccountStorage

struct BackupTests {
    private let folder: TemporaryFolder
    private let store: AccountStore

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    @Test func `a backup in place of the store restores everything`() throws {
        let ids = try store.add((0..<300).map { try Sample.scheduled("a\($0)", due: 10) })
        try store.schedule.shiftDeadlines(by: .seconds(5), clock: ClockOffset(at: Sample.moment(1)))
        let before = try store.entries(after: nil, limit: 999)
        try store.backup(to: folder.file("backup"))
        for id in ids { try store.remove(id) }
        try store.close()

        for name in ["accounts.sqlite", "accounts.sqlite-wal"] {
            try? FileManager.default.removeItem(atPath: folder.file(name))
        }
        try FileManager.default.moveItem(atPath: folder.file("backup"), toPath: folder.store)
        let restored = try folder.open()
        #expect(try restored.entries(after: nil, limit: 999) == before)
        #expect(
            try restored.tokens.refreshToken(of: ids[299], generation: Generation(1)) == Sample.refreshToken("a299-1")
        )
        #expect(try restored.counts().scheduled == 300)
    }

    @Test func `a backup is one file that only its owner may read`() throws {
        try store.backup(to: folder.file("backup"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("backup"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.hasPrefix("backup") } == ["backup"])
        let copy = try DatabaseQueue(path: folder.file("backup"))
        #expect(try copy.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") } == "delete")
    }

    @Test func `an existing file is not overwritten`() throws {
        let path = folder.file("precious")
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: StoreError.backupExists(path: path)) { try store.backup(to: path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("x".utf8))
    }

    @Test func `a folder that does not exist is named`() throws {
        let path = folder.file("nowhere/backup")
        #expect(throws: StoreError.cannotOpen(path: path, code: ENOENT)) { try store.backup(to: path) }
    }

    @Test(arguments: [
        "SET rootpage = 3 WHERE name = 'account_local_deadline'",
        "SET sql = replace(sql, '= 0', '= 1') WHERE name = 'account_local_deadline'",
    ])
    func `a damaged store gives no backup`(damage: String) throws {
        _ = try store.add((0..<300).map { try Sample.scheduled("a\($0)", due: 10) })
        // An index that has the entries of another, or lacks its rows: our reads do not notice it, but a check does.
        try store.connection.write { db in
            try db.execute(sql: "PRAGMA writable_schema = ON; UPDATE sqlite_schema \(damage)")
        }
        let path = folder.file("backup")
        #expect(throws: StoreError.backupDamaged(path: path)) { try store.backup(to: path) }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
