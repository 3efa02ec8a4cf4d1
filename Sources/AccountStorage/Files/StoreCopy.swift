import Basics
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// A copy of a store, made a few pages at a time while the store is in use.
///
/// It is used from the store's serial context. Writes to the store during the copy go into the copy, too. The finished
/// copy is the store at that last moment.
@safe package final class StoreCopy {
    /// The purpose of a copy. It is part of the name, so that the next daemon finds copies that a crash left behind.
    package enum Purpose: Hashable, Sendable {
        /// A check of the store. There is one at a time.
        case check
        /// A numbered backup for a caller.
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

    /// Begins a copy of `store`. An old copy of the same name is removed first.
    ///
    /// - Throws: disk errors.
    package convenience init(of store: AccountStore, for purpose: Purpose) throws(StoreError) {
        let path = purpose.path(besides: store.path)
        store.connection.activity.during { Self.remove(path) }
        try self.init(of: store, at: path)
    }

    /// Begins a copy of `store` at `path`, where no file may exist yet.
    ///
    /// - Throws: `backupExists`; disk errors.
    init(of store: AccountStore, at path: String) throws(StoreError) {
        self.store = store
        self.path = path
        unsafe (target, backup) = try store.connection.activity.during { () throws(StoreError) in
            unsafe try Self.begin(from: store.connection.database, at: path)
        }
    }

    private static func begin(
        from source: DatabaseQueue,
        at path: String
    ) throws(StoreError) -> (DatabaseQueue, OpaquePointer?) {
        do {
            try PosixFile.create(path)
        } catch {
            throw error.code == EEXIST ? .backupExists(path: path) : StoreError(error, path: path)
        }
        do {
            let target = try DatabaseQueue(path: path, configuration: configuration)
            let backup = unsafe source.inDatabase { source in
                unsafe target.inDatabase { target in
                    unsafe sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main")
                }
            }
            return unsafe (target, backup)
        } catch {
            remove(path)
            throw StoreError(error, path: path)
        }
    }

    deinit {
        discard()
    }

    /// Copies some more pages.
    ///
    /// - Parameter pages: how many pages of 4 KiB.
    /// - Returns: the copy when it is complete; nil while there is more to do.
    /// - Throws: `diskFull` and similar errors about the copy; `corrupt` or `inputOutput` if the store cannot be read.
    package func advance(pages: Int) throws(StoreError) -> FinishedCopy? {
        guard let backup = unsafe backup else { preconditionFailure("a copy that is over goes no further") }
        return try store.connection.activity.during { () throws(StoreError) in
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
            return FinishedCopy(path: path, of: store.connection)
        }
    }

    /// Ends the copy and removes its file. A complete copy stays.
    package func discard() {
        guard unsafe backup != nil else { return }
        store.connection.activity.during {
            finish()
            Self.remove(path)
        }
    }

    /// Removes copies that an earlier daemon or restore left behind.
    package static func removeLeftovers(besides store: String) {
        remove(Purpose.check.path(besides: store))
        removeFiles(startingWith: store + Purpose.backupSuffix)
        StoreRestore.removeLeftovers(besides: store)
    }

    /// Removes all files of the folder whose paths begin so.
    static func removeFiles(startingWith path: String) {
        let folder = PosixFile.parent(of: path)
        let start = path.dropFirst(folder.count + 1)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(start) { try? PosixFile.remove(folder + "/" + name) }
    }

    /// Removes the copy at `path`, and SQLite's files beside it.
    fileprivate static func remove(_ path: String) {
        for suffix in ["", "-wal", "-journal", StoreLock.suffix] { try? PosixFile.remove(path + suffix) }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        // An interrupted copy is discarded, so nothing in it has to be durable.
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

    /// Runs `body` in the queues of both connections, because SQLite's connections belong to their queues.
    private func onConnections(_ body: () -> Int32) -> Int32 {
        store.connection.database.inDatabase { _ in target.inDatabase { _ in body() } }
    }
}

/// A complete copy of a store that nobody else uses.
package struct FinishedCopy: Sendable {
    package let path: String
    /// The path of the copied store.
    package let original: String
    let keys: SealingKeys
    private let activity: StoreActivity
    private let check = RunningCheck()

    init(path: String, of store: StoreConnection) {
        self.path = path
        original = store.path
        keys = store.keys
        activity = store.activity
    }

    /// The identifiers of the keys that open the copy.
    package var keyIdentifiers: [String] { keys.all.map(\.identifier) }

    /// Checks the copy and makes it one complete file on disk. It blocks: a minute for a million accounts.
    ///
    /// The secrets stay sealed. The keys are not part of the copy, and without them nobody can open it.
    ///
    /// - Throws: `backupDamaged`; disk errors; an error after `interrupt()`. The copy is then removed.
    package func makeBackup() throws(StoreError) {
        do {
            let copy = try DatabaseQueue(path: path)
            let verdict = try check.run(on: copy) { db in
                // The backup must be one file, because people may forget to copy a log beside it.
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
                return try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
            }
            try copy.close()
            guard verdict == "ok" else { throw StoreError.backupDamaged(path: path) }
            try PosixFile.sync(path)
            try PosixFile.syncFolder(of: path)
        } catch {
            removeFiles()
            let failure = StoreError(error, path: path)
            throw failure == .corrupt(path: path) ? .backupDamaged(path: path) : failure
        }
    }

    /// Makes `makeBackup` end early. It may be called from any thread.
    package func interrupt() {
        check.interrupt()
    }

    /// Opens the copy as a store.
    func open() throws(StoreError) -> AccountStore {
        try AccountStore(path: path, keys: keys.all)
    }

    /// Removes the copy, in the serial context of the store.
    package func remove() {
        activity.during { removeFiles() }
    }

    /// Removes the copy, on any other thread.
    func removeFiles() {
        StoreCopy.remove(path)
    }
}

/// The connection that checks a copy, so that others can interrupt it.
private final class RunningCheck: Sendable {
    private let state = Mutex<(connection: DatabaseQueue?, isInterrupted: Bool)>((nil, false))

    /// Runs `body`, unless it was interrupted before.
    ///
    /// - Throws: what `body` throws; `CancellationError` if it may not begin any more.
    func run<Result>(on connection: DatabaseQueue, _ body: (Database) throws -> Result) throws -> Result {
        try state.withLock { state in
            guard !state.isInterrupted else { throw CancellationError() }
            state.connection = connection
        }
        // A closed connection must not be interrupted.
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
