import GRDB
import GRDBSQLite

/// A copy of a store that is made a few pages at a time, beside the store, while the store is in use.
///
/// It is used where the store is, from the same serial context. What is written to the store meanwhile goes into the copy too, so that
/// in the end it is the store of that moment, and of no other.
@safe package final class StoreCopy {
    /// The copy's path: one name for all, so that what a crash leaves behind is found.
    private let path: String
    private let store: AccountStore
    private let target: DatabaseQueue
    /// SQLite's online backup; nil when it is over.
    private var backup: OpaquePointer?

    /// Begins a copy of `store`; one that was left behind is removed first.
    ///
    /// - Throws: what the disk has to say.
    package init(of store: AccountStore) throws(StoreError) {
        self.store = store
        path = Self.path(besides: store.path)
        Self.removeLeftover(besides: store.path)
        do {
            try PosixFile.create(path)
            target = try DatabaseQueue(path: path, configuration: Self.configuration)
            unsafe backup = store.database.enter { store in
                unsafe store.inDatabase { source in
                    unsafe target.inDatabase { target in
                        unsafe sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main")
                    }
                }
            }
        } catch let error as PosixError {
            throw StoreError(error, path: path)
        } catch {
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
        return FinishedCopy(path: path, original: store.path, keys: store.keys)
    }

    /// Ends the copy and removes its file; one that is complete stays.
    package func discard() {
        guard unsafe backup != nil else { return }
        finish()
        Self.removeLeftover(besides: store.path)
    }

    /// Removes the copy that an earlier daemon could not remove any more.
    package static func removeLeftover(besides store: String) {
        for suffix in ["", "-wal", "-journal"] { try? PosixFile.remove(path(besides: store) + suffix) }
    }

    private static func path(besides store: String) -> String { store + ".check" }

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
        store.database.enter { store in store.inDatabase { _ in target.inDatabase { _ in body() } } }
    }
}

/// A complete copy of a store, which nobody else uses.
package struct FinishedCopy: Sendable {
    let path: String
    /// The path of the store that was copied.
    package let original: String
    let keys: SealingKeys

    /// The copy as a store of its own.
    func open() throws(StoreError) -> AccountStore {
        try AccountStore(path: path, keys: [keys.current, keys.next].compactMap { $0 })
    }

    func remove() {
        StoreCopy.removeLeftover(besides: original)
    }
}
