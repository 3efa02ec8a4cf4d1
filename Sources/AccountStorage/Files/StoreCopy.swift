import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// A copy of a store that is made a few pages at a time, beside the store, while the store is in use.
///
/// It is used where the store is, from the same serial context. What is written to the store meanwhile goes into the copy too, so that
/// in the end it is the store of that moment, and of no other.
@safe package final class StoreCopy {
    /// What a copy is for. Its name says so, so that the next daemon finds what a crash left behind.
    package enum Purpose: Hashable, Sendable {
        /// A check of the store; there is one at a time.
        case check
        /// A backup that a caller takes away, by its number.
        case backup(Int)

        fileprivate func path(besides store: String) -> String {
            switch self {
            case .check: store + ".check"
            case .backup(let number): store + Self.backupSuffix + "\(number)"
            }
        }

        fileprivate static let backupSuffix = ".outgoing-"
    }

    /// The copy's path.
    private let path: String
    private let store: AccountStore
    private let target: DatabaseQueue
    /// SQLite's online backup; nil when it is over.
    private var backup: OpaquePointer?

    /// Begins a copy of `store`; one of the same name that was left behind is removed first.
    ///
    /// - Throws: what the disk has to say.
    package convenience init(of store: AccountStore, for purpose: Purpose) throws(StoreError) {
        let path = purpose.path(besides: store.path)
        Self.remove(path)
        try self.init(of: store, at: path)
    }

    /// Begins a copy of `store` at `path`, where there must be no file yet.
    ///
    /// - Throws: `backupExists`; what the disk has to say.
    init(of store: AccountStore, at path: String) throws(StoreError) {
        self.store = store
        self.path = path
        do {
            try PosixFile.create(path)
        } catch {
            throw error.code == EEXIST ? .backupExists(path: path) : StoreError(error, path: path)
        }
        do {
            target = try DatabaseQueue(path: path, configuration: Self.configuration)
            unsafe backup = store.connection.database.enter { store in
                unsafe store.inDatabase { source in
                    unsafe target.inDatabase { target in
                        unsafe sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main")
                    }
                }
            }
        } catch {
            Self.remove(path)
            throw StoreError(error, path: path)
        }
    }

    deinit {
        discard()
    }

    /// Copies some pages more.
    ///
    /// - Parameter pages: how many, of 4 KiB each.
    /// - Returns: the copy when it is complete; nil while there is more to do.
    /// - Throws: `diskFull` and the like about the copy, `corrupt` or `inputOutput` if the store cannot be read.
    package func advance(pages: Int) throws(StoreError) -> FinishedCopy? {
        guard let backup = unsafe backup else { preconditionFailure("a copy that is over goes no further") }
        let code = onConnections { unsafe sqlite3_backup_step(backup, Int32(clamping: pages)) }
        switch code {
        case SQLITE_OK: return nil
        case SQLITE_DONE: break
        default: throw StoreError(DatabaseError(resultCode: ResultCode(rawValue: code)), path: path)
        }
        finish()
        do {
            try target.close()
        } catch {
            throw StoreError(error, path: path)
        }
        return FinishedCopy(path: path, original: store.path, keys: store.connection.keys)
    }

    /// Ends the copy and removes its file; one that is complete stays.
    package func discard() {
        guard unsafe backup != nil else { return }
        finish()
        Self.remove(path)
    }

    /// Removes the copies that an earlier daemon could not remove any more.
    package static func removeLeftovers(besides store: String) {
        remove(Purpose.check.path(besides: store))
        let folder = PosixFile.parent(of: store)
        let start = store.dropFirst(folder.count + 1) + Purpose.backupSuffix
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(start) { try? PosixFile.remove(folder + "/" + name) }
    }

    /// Removes the copy at `path`, and what SQLite may have put beside it.
    fileprivate static func remove(_ path: String) {
        for suffix in ["", "-wal", "-journal"] { try? PosixFile.remove(path + suffix) }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.publicStatementArguments = false
        // A copy that is cut off is thrown away: nothing in it has to survive.
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        }
        return configuration
    }

    private func finish() {
        guard let backup = unsafe backup else { return }
        _ = onConnections { unsafe sqlite3_backup_finish(backup) }
        unsafe self.backup = nil
    }

    /// SQLite's connections belong to their queues.
    private func onConnections(_ body: () -> Int32) -> Int32 {
        store.connection.database.enter { store in store.inDatabase { _ in target.inDatabase { _ in body() } } }
    }
}

/// A complete copy of a store, which nobody else uses.
package struct FinishedCopy: Sendable {
    package let path: String
    /// The path of the store that was copied.
    package let original: String
    let keys: SealingKeys
    private let check = RunningCheck()

    init(path: String, original: String, keys: SealingKeys) {
        self.path = path
        self.original = original
        self.keys = keys
    }

    /// Names the keys that it takes to open the copy.
    package var keyIdentifiers: [String] { [keys.current, keys.next].compactMap { $0?.identifier } }

    /// Checks the copy, and has it on disk as one file that is complete in itself. Blocks: a minute with a million accounts.
    ///
    /// The secrets in it stay sealed: without its keys, which are not part of it, it opens for nobody.
    ///
    /// - Throws: `backupDamaged`, what the disk has to say, and some error after `interrupt()`. The copy is removed then.
    package func makeBackup() throws(StoreError) {
        do {
            var configuration = Configuration()
            configuration.publicStatementArguments = false
            let copy = try DatabaseQueue(path: path, configuration: configuration)
            let verdict = try check.run(on: copy) { db in
                // One file: a log beside it could be left behind.
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
                return try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
            }
            try copy.close()
            guard verdict == "ok" else { throw StoreError.backupDamaged(path: path) }
            try PosixFile.sync(path)
            try PosixFile.syncFolder(of: path)
        } catch {
            remove()
            if let error = error as? PosixError { throw StoreError(error, path: path) }
            let failure = StoreError(error, path: path)
            throw failure == .corrupt(path: path) ? .backupDamaged(path: path) : failure
        }
    }

    /// Has `makeBackup()` end early, from any thread.
    package func interrupt() {
        check.interrupt()
    }

    /// The copy as a store of its own.
    func open() throws(StoreError) -> AccountStore {
        try AccountStore(path: path, keys: [keys.current, keys.next].compactMap { $0 })
    }

    package func remove() {
        StoreCopy.remove(path)
    }
}

/// The connection that checks a copy, for whoever wants it to end.
private final class RunningCheck: Sendable {
    private let state = Mutex<(connection: DatabaseQueue?, isInterrupted: Bool)>((nil, false))

    /// - Throws: what `body` throws; `CancellationError` if it is not to begin any more.
    func run<Result>(on connection: DatabaseQueue, _ body: (Database) throws -> Result) throws -> Result {
        try state.withLock { state in
            guard !state.isInterrupted else { throw CancellationError() }
            state.connection = connection
        }
        // One that is closed must not be interrupted.
        defer { state.withLock { $0.connection = nil } }
        return try connection.writeWithoutTransaction(body)
    }

    func interrupt() {
        state.withLock { state in
            state.isInterrupted = true
            state.connection?.interrupt()
        }
    }
}
