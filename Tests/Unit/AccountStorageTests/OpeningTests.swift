import Basics
import Foundation
import GRDB
import RefreshCore
import TestSupport
import Testing

@testable import AccountStorage

struct OpeningTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func pragma(_ name: String, of store: AccountStore) throws -> String? {
        try store.connection.read { db in try String.fetchOne(db, sql: "PRAGMA \(name)") }
    }

    @Test func `folder, database and log are closed to others`() throws {
        let path = folder.file("deep/state/accounts.sqlite")
        let store = try AccountStore(path: path, key: Sample.key())
        _ = try store.add(Sample.account("a"))
        #expect(try mode(of: folder.file("deep/state")) == 0o700)
        #expect(try mode(of: path) == 0o600)
        #expect(try mode(of: path + "-wal") == 0o600)
        #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
    }

    @Test func `a folder and a file that were open to others are closed`() throws {
        try folder.open().close()
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.store)
        try folder.open().close()
        #expect(try mode(of: folder.path) == 0o700)
        #expect(try mode(of: folder.store) == 0o600)
    }

    @Test func `a closed store is free, also if a program that was just started has a copy of the lock's descriptor`()
        throws
    {
        let store = try folder.open()
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let lock = try #require(
            descriptors.compactMap(Int32.init).first { descriptor in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)"))
                    == folder.store + StoreLock.suffix
            }
        )
        let copy = dup(lock)
        defer { close(copy) }
        try store.close()
        try folder.open().close()
    }

    @Test func `the settings for durability and erasure are in force`() throws {
        let store = try folder.open()
        let expected = [
            "journal_mode": "wal", "synchronous": "2", "secure_delete": "1", "locking_mode": "exclusive",
            "foreign_keys": "1", "temp_store": "2", "journal_size_limit": "8388608",
        ]
        for (name, value) in expected { #expect(try pragma(name, of: store) == value, "\(name)") }
    }

    @Test func `a second process learns who has the store`() async throws {
        let store = try folder.open()
        _ = try store.add(Sample.account("a"))
        let (path, holder) = (folder.store, getpid())
        await #expect(processExitsWith: .success) { [path = path as String, holder = holder as Int32] in
            let error = #expect(throws: StoreError.self) { try AccountStore(path: path, key: Sample.key()) }
            guard case .inUse(path, let found) = error, found.pid == holder, found.host == StoreHolder.ownHost else {
                throw Sample.Missing()
            }
            #expect(found.isDaemon && !found.isElsewhere && found.program != nil)
        }
        try store.rename(AccountID(1), to: Sample.name("b"))
        try store.close()
        await #expect(processExitsWith: .success) { [path = path as String] in
            try AccountStore(path: path, key: Sample.key()).close()
        }
    }

    @Test func `a second opening in one process is refused and keeps the first one's lock`() async throws {
        try folder.open().close()
        // The second opening writes nothing. The lock must be there all the same.
        let store = try folder.open()
        let path = folder.store
        let refusal = #expect(throws: StoreError.self) { try folder.open() }
        guard case .inUse(path, let holder) = refusal, holder.pid == getpid() else { throw Sample.Missing() }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let error = #expect(throws: StoreError.self) { try AccountStore(path: path, key: Sample.key()) }
            guard case .inUse = error else { throw Sample.Missing() }
        }
        try store.close()
    }

    @Test func `no file that somebody names is the open store, whatever name it has`() async throws {
        try folder.open().close()
        let store = try folder.open()
        let path = folder.store
        try FileManager.default.linkItem(atPath: path, toPath: folder.file("second"))
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: path)
        for name in [path, folder.file("second"), folder.file("link")] {
            #expect(throws: FileError.ofTheStore) { try NamedFile.contents(of: name, limit: 1 << 20) }
            #expect(throws: StoreKeyError.unreadable(path: name, code: EBUSY)) { try StoreKeyFile.own(name).read() }
        }
        // SQLite's lock, which keeps other programs away, has survived all this.
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(SQLiteLock.holder(of: path) != nil)
        }
        try store.close()
        #expect(try NamedFile.contents(of: path, limit: 1 << 20).starts(with: "SQLite format 3".utf8))
    }

    @Test func `the holder of a lock is named with its host, and on another host with what helps`() throws {
        try folder.open().close()
        let lock = try StoreLock(folder.store)
        try Data("4711 otherhost\n".utf8).write(to: URL(fileURLWithPath: folder.store + ".lock"), options: [])
        let refusal = try #require(throws: StoreError.self) { try folder.open() }
        #expect("\(refusal)" == "the store '\(folder.store)' is in use by process 4711 on host 'otherhost'")
        #expect(refusal.hint?.text.contains("authctl forward \(StoreHolder.ownHost) ACCOUNT") == true)
        _ = consume lock
        // A file that nobody has locked means nothing.
        try folder.open().close()
    }

    @Test func `a store whose place another file has taken is neither written nor closed over that file's log`() throws
    {
        let store = try folder.open()
        _ = try store.add(Sample.account("a"))
        #expect(store.hasName)
        let away = folder.file("away")
        try FileManager.default.moveItem(atPath: folder.store, toPath: away)
        #expect(throws: StoreError.gone(path: folder.store)) { try store.checkPlace() }
        for suffix in ["", "-wal"] {
            try Data("another".utf8).write(to: URL(fileURLWithPath: folder.store + suffix))
        }
        #expect(throws: StoreError.replaced(path: folder.store)) { try store.checkPlace() }
        #expect(throws: StoreError.replaced(path: folder.store)) { try store.probe() }
        #expect(store.hasName)
        try FileManager.default.removeItem(atPath: away)
        #expect(!store.hasName)
        try store.close()
        #expect(try String(contentsOfFile: folder.store + "-wal", encoding: .utf8) == "another")
    }

    @Test(arguments: [true, false])
    func `at the end a store whose place is taken or empty is written all the same, and not what is there`(
        _ isTaken: Bool
    ) throws {
        let store = try folder.open()
        _ = try store.add(Sample.account("a"))
        let away = folder.file("away")
        let files = FileManager.default
        for suffix in ["", "-wal"] {
            try files.moveItem(atPath: folder.store + suffix, toPath: away + suffix)
            if isTaken { try Data("another".utf8).write(to: URL(fileURLWithPath: folder.store + suffix)) }
        }
        #expect(throws: StoreError.self) { try store.rename(AccountID(1), to: Sample.name("b")) }
        store.isEnding = true
        try store.rename(AccountID(1), to: Sample.name("b"))
        try store.close()
        for suffix in ["", "-wal"] {
            let there = try? String(contentsOfFile: folder.store + suffix, encoding: .utf8)
            #expect(there == (isTaken ? "another" : nil))
            // The closed store's own files may still be open in this process, so a copy is opened.
            try? files.removeItem(atPath: folder.store + suffix)
            if files.fileExists(atPath: away + suffix) {
                try files.copyItem(atPath: away + suffix, toPath: folder.store + suffix)
            }
        }
        let again = try folder.open()
        #expect(try again.names(after: "", limit: 9) == ["b"])
        try again.close()
    }

    @Test func `at the end a store without a name is not written`() throws {
        let store = try folder.open()
        _ = try store.add(Sample.account("a"))
        try FileManager.default.removeItem(atPath: folder.store)
        store.isEnding = true
        #expect(throws: StoreError.gone(path: folder.store)) { try store.probe() }
        try store.close()
    }

    @Test func `a newer schema is refused and left as it is`() throws {
        let store = try folder.open()
        try store.connection.write { db in try db.execute(sql: "PRAGMA user_version = 99") }
        try store.close()
        let before = try rawFiles(of: folder.store)
        let refusal = StoreError.newerSchema(path: folder.store, found: 99, known: Schema.latest)
        #expect(throws: refusal) { try folder.open() }
        #expect(try rawFiles(of: folder.store) == before)
    }

    @Test func `another program's database is refused and left as it is`() throws {
        let other = try DatabaseQueue(path: folder.store)
        try other.write { db in try db.execute(sql: "CREATE TABLE bookmarks (url)") }
        try other.close()
        let before = try rawFiles(of: folder.store)
        #expect(throws: StoreError.notAStore(path: folder.store)) { try folder.open() }
        #expect(try rawFiles(of: folder.store) == before)
    }

    @Test func `a file that is not a database is refused and left unchanged`() throws {
        let text = Data(repeatElement(UInt8(ascii: "x"), count: 10_000))
        try text.write(to: URL(fileURLWithPath: folder.store))
        #expect(throws: StoreError.notADatabase(path: folder.store)) { try folder.open() }
        #expect(try rawFiles(of: folder.store) == text)
    }

    @Test func `a folder in the database's place is refused`() throws {
        try FileManager.default.createDirectory(atPath: folder.store, withIntermediateDirectories: false)
        #expect(throws: StoreError.notADatabase(path: folder.store)) { try folder.open() }
    }

    @Test func `a damaged file is refused at opening or at the first read of the damage`() throws {
        let store = try folder.open()
        let names = (0..<200).map { "a\($0)" }
        let ids = try store.add(names.map { try Sample.scheduled($0, due: 1) })
        try store.close()
        let whole = try rawFiles(of: folder.store)
        let pages = [0, 1] + Array(stride(from: 2, to: whole.count / 4096, by: 5))
        var refused: [Int] = []
        for page in pages {
            var damaged = whole
            // The damage is behind the file header on the first page, because damage in the header makes it no
            // database.
            let start = page * 4096 + (page == 0 ? 100 : 0)
            damaged.replaceSubrange(
                start..<(page + 1) * 4096,
                with: repeatElement(0xff, count: (page + 1) * 4096 - start)
            )
            try damaged.write(to: URL(fileURLWithPath: folder.store))
            do {
                let store = try folder.open()
                defer { try? store.close() }
                // If nothing is refused, no row that is read is damaged.
                #expect(try Set(store.entries(after: nil, limit: 1000).map(\.name)) == Set(names), "page \(page)")
                for (id, name) in zip(ids, names) {
                    let token = try store.tokens.refreshToken(of: id, generation: Generation(1))
                    #expect(token == Sample.refreshToken("\(name)-1"), "page \(page)")
                }
            } catch let error as StoreError {
                #expect(error == .corrupt(path: folder.store), "page \(page)")
                refused.append(page)
            }
        }
        #expect(refused.starts(with: [0, 1]))
        #expect(refused.count > pages.count / 2, "refused: \(refused) of \(pages)")
    }

    @Test func `another key is refused and identified`() throws {
        let store = try folder.open(key: Sample.key(1))
        _ = try store.add(Sample.account("a"))
        try store.close()
        let (right, wrong) = try (Sample.key(1), Sample.key(2))
        let refusal = StoreError.wrongKey(path: folder.store, expected: right.identifier, given: wrong.identifier)
        #expect(throws: refusal) { try folder.open(key: wrong) }
        #expect(try folder.open(key: right).counts().total == 1)
    }

    @Test(.enabled(if: isRoot, "needs root, to give files to another user"))
    func `a folder or database of another user is refused`() throws {
        try folder.open().close()
        try FileManager.default.setAttributes([.ownerAccountID: 12345], ofItemAtPath: folder.store)
        #expect(throws: StoreError.notOurs(path: folder.store, owner: 12345)) { try folder.open() }
        try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: folder.store)
        try FileManager.default.setAttributes([.ownerAccountID: 12345], ofItemAtPath: folder.path)
        #expect(throws: StoreError.notOurs(path: folder.path, owner: 12345)) { try folder.open() }
    }

    @Test func `every refusal says what failed and what to do`() {
        for error in errors {
            #expect(error.description.contains("'/s'"))
            #expect(error.hint?.isEmpty == false)
        }
    }

    @Test func `a limit on the size of files is told from a disk that fails`() async {
        await #expect(processExitsWith: .success) { [path = folder.store as String] in
            let store = try AccountStore(path: path, key: Sample.key())
            _ = signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let usual = limit.rlim_cur
            limit.rlim_cur = 1
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            #expect(throws: StoreError.fileLimit(path: path)) { try store.probe() }
            limit.rlim_cur = usual
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            try store.probe()
        }
    }

    private let errors: [StoreError] = [
        .inUse(path: "/s", by: StoreHolder(pid: 1, program: "sqlite3", host: nil)),
        .inUse(path: "/s", by: StoreHolder(pid: nil, program: nil, host: nil)),
        .inUse(path: "/s", by: StoreHolder(pid: 1, program: nil, host: "desk")),
        .missing(path: "/s", record: "/r"), .replaced(path: "/s"), .corrupt(path: "/s"), .notADatabase(path: "/s"),
        .isLink(path: "/s"), .fileLimit(path: "/s"),
        .notAStore(path: "/s"), .newerSchema(path: "/s", found: 2, known: 1),
        .olderSchema(path: "/s", found: 1, oldest: 2),
        .wrongKey(path: "/s", expected: "a", given: "b"), .readOnly(path: "/s"), .diskFull(path: "/s"),
        .inputOutput(path: "/s", code: 266), .cannotOpen(path: "/s", code: 2), .notOurs(path: "/s", owner: 1),
        .refused(path: "/s", code: 1), .backupExists(path: "/s"), .backupDamaged(path: "/s"),
    ]
}
