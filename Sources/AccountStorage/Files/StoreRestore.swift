import Basics
import GRDB
import Glibc

/// Replaces the store with a backup, while no daemon has it open.
///
/// It first copies the backup, with its log if there is one, and checks the copy. An unusable backup changes nothing.
/// The old store is kept, damaged or not.
package struct StoreRestore {
    /// The result of a restore.
    package struct Outcome: Hashable, Sendable {
        /// How many accounts the store has now.
        package var accounts: Int
        /// Where the old store is; nil if there was none.
        package var kept: String?
        /// How many accounts have got newer grants from the old store.
        package var newerGrants = 0
        /// How many accounts were parked because the old store no longer had them.
        package var parkedGrants = 0
        /// Why newer grants of the old store, if it has any, were not taken over; nil if all were, or if there was none.
        package var grantsLost: String?
    }

    private let path: String
    private let backup: String
    private let keyring: StoreKeyring

    /// Prepares a restore.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - backup: the backup file, which is not changed.
    ///   - keyring: the places that have the backup's key.
    package init(of path: String, from backup: String, keyring: StoreKeyring) {
        self.path = path
        self.backup = backup
        self.keyring = keyring
    }

    private static let suffix = ".restoring"
    private var copy: String { path + Self.suffix }
    /// The copy of the old store, from which newer grants are taken.
    private var oldCopy: String { copy + "-previous" }

    /// Restores the backup. It blocks while the backup is copied and checked: a minute for a million accounts.
    ///
    /// - Throws: `inUse` while a daemon has the store open; `notRestorable` if the backup cannot be used; an error if
    ///   its key is missing; disk errors. The store is then unchanged.
    package func run() throws(StoreError) -> Outcome {
        defer { Self.removeLeftovers(besides: path) }
        do {
            try PosixFile.createFolder(PosixFile.parent(of: path))
            let lock = try StoreLock(path)
            if try PosixFile.status(of: path)?.isSymbolicLink == true { throw StoreError.isLink(path: path) }
            try checkUnread()
            // The backup may not be the store itself.
            try withExtendedLifetime(OwnFile(at: path)) { try copyBackup() }
            let accounts = try checkCopy()
            try checkUnread()
            try foldLog()
            let newer = takeNewerGrants()
            // The long part is over. A program that has opened the store meanwhile would use it without its log.
            try checkUnread()
            let kept = try replaceStore()
            _ = consume lock
            return Outcome(
                accounts: accounts,
                kept: kept,
                newerGrants: newer.taken,
                parkedGrants: newer.parked,
                grantsLost: newer.lost
            )
        } catch {
            throw StoreError(error, path: path)
        }
    }

    private func checkUnread() throws(StoreError) {
        if let holder = SQLiteLock.holder(of: path) { throw .inUse(path: path, by: holder) }
    }

    private func copyBackup() throws {
        Self.removeLeftovers(besides: path)
        do {
            guard let status = try PosixFile.status(of: backup), status.isRegularFile || status.isSymbolicLink else {
                throw StoreError.cannotOpen(path: backup, code: ENOENT)
            }
            try PosixFile.copy(backup, to: copy)
            if try PosixFile.status(of: backup + "-wal") != nil {
                try PosixFile.copy(backup + "-wal", to: copy + "-wal")
            }
        } catch let error as FileError {
            // Only the store itself is refused this way.
            if error.code == EBUSY {
                throw StoreError.notRestorable(path: backup, cause: .cannotOpen(path: backup, code: EBUSY))
            }
            throw StoreError(noRoom: error.code, path: path) ?? .cannotOpen(path: backup, code: error.code)
        }
    }

    /// Writes the log of the old store into its database. From here on, the old store is one file: it can be replaced in
    /// one step, and a kill before that step loses nothing.
    ///
    /// - Throws: disk errors.
    private func foldLog() throws(StoreError) {
        // Without a header of its own (file format, §1.3.1), the database would be overwritten with the log's pages.
        guard (try? PosixFile.begins(path, with: Array("SQLite format 3\0".utf8))) == true else { return }
        do {
            let store = try DatabaseQueue(path: path, configuration: .exclusive)
            try store.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
            try store.close()
        } catch {
            switch StoreError(error, path: path) {
            // Nobody can use such a store, with its log or without. The log is kept beside it.
            case .corrupt, .notADatabase, .inputOutput: break
            case let failure: throw failure
            }
        }
    }

    /// Checks the copy.
    ///
    /// - Returns: how many accounts it has.
    private func checkCopy() throws -> Int {
        do {
            try checkFile()
            let store = try keyring.openStore(at: copy)
            let counts = try store.counts()
            try store.close()
            try PosixFile.sync(copy)
            return counts.total
        } catch StoreError.key(let error) {
            throw StoreError.key(error)
        } catch let error as StoreError {
            throw error.refusal(of: backup)
        }
    }

    /// Takes newer grants from the old store over into the copy of the backup. The old store may be damaged, so it is
    /// copied, too, and a failure does not end the restore.
    ///
    /// - Returns: how many, how many were parked, and why some are missing.
    private func takeNewerGrants() -> (taken: Int, parked: Int, lost: String?) {
        do {
            guard try PosixFile.status(of: path) != nil else { return (0, 0, nil) }
            for suffix in ["", "-wal"] where try PosixFile.status(of: path + suffix) != nil {
                try PosixFile.copy(path + suffix, to: oldCopy + suffix)
            }
            let (old, new): (AccountStore, AccountStore)
            do throws(StoreError) {
                (old, new) = (try keyring.openStore(at: oldCopy), try keyring.openStore(at: copy))
            } catch {
                return (0, 0, error.description.replacing(oldCopy, with: path))
            }
            let grants = NewerGrants(old: old, new: new)
            let (taken, unreadable) = try grants.take()
            let parked = try grants.parkRemoved()
            try old.close()
            try new.close()
            try PosixFile.sync(copy)
            return (taken, parked, unreadable == 0 ? nil : "\(unreadable) of its accounts cannot be read")
        } catch {
            return (0, 0, StoreError(error, path: path).description)
        }
    }

    /// Checks what opening a store does not: all pages, and whether the file has a schema.
    private func checkFile() throws(StoreError) {
        do {
            let queue = try DatabaseQueue(path: copy)
            let (verdict, applicationID) = try queue.writeWithoutTransaction { db in
                (
                    try String.fetchOne(db, sql: "PRAGMA integrity_check(1)"),
                    try Int.fetchOne(db, sql: "PRAGMA application_id")
                )
            }
            try queue.close()
            guard verdict == "ok" else { throw StoreError.corrupt(path: copy) }
            guard applicationID == Schema.applicationID else { throw StoreError.notAStore(path: copy) }
        } catch {
            throw StoreError(error, path: copy)
        }
    }

    /// Replaces the store with the copy.
    ///
    /// - Returns: where the old store is; nil if there was none.
    private func replaceStore() throws(FileError) -> String? {
        let kept = try keepStore()
        do throws(FileError) {
            // The logs of a damaged store must never be beside the new file: SQLite would apply their pages to it.
            for suffix in ["-wal", "-journal", "-shm"] {
                guard try PosixFile.status(of: path + suffix) != nil else { continue }
                if let kept {
                    try PosixFile.rename(path + suffix, to: kept + suffix)
                } else {
                    try PosixFile.remove(path + suffix)
                }
            }
            try PosixFile.rename(copy, to: path)
        } catch {
            if let kept { try? PosixFile.remove(kept) }
            throw error
        }
        try PosixFile.syncFolder(of: path)
        return kept
    }

    /// Gives the current store a second name, the first free one.
    private func keepStore() throws(FileError) -> String? {
        guard try PosixFile.status(of: path) != nil else { return nil }
        var number = 1
        while true {
            let name = path + ".before-restore" + (number == 1 ? "" : "-\(number)")
            do {
                try PosixFile.link(path, as: name)
                return name
            } catch {
                guard error.code == EEXIST else { throw error }
                number += 1
            }
        }
    }

    /// Removes the copies of a restore that has ended, or was killed. The caller has the store's lock.
    static func removeLeftovers(besides store: String) {
        StoreCopy.removeFiles(startingWith: store + suffix)
    }
}

extension StoreError {
    /// The error about the backup instead of its copy. A disk error is not the backup's fault and stays as it is.
    fileprivate func refusal(of backup: String) -> StoreError {
        let cause: StoreError
        switch self {
        case .corrupt: cause = .corrupt(path: backup)
        case .notADatabase: cause = .notADatabase(path: backup)
        case .notAStore: cause = .notAStore(path: backup)
        case .newerSchema(_, let found, let known): cause = .newerSchema(path: backup, found: found, known: known)
        case .olderSchema(_, let found, let oldest): cause = .olderSchema(path: backup, found: found, oldest: oldest)
        case .wrongKey(_, let expected, let given): cause = .wrongKey(path: backup, expected: expected, given: given)
        default: return self
        }
        return .notRestorable(path: backup, cause: cause)
    }
}
