import GRDB
import Glibc

/// Puts a backup in the place of the store, while no daemon has it open.
///
/// The backup is copied first, with the log beside it if there is one, and the copy is checked: a backup that cannot be used changes
/// nothing. What was there before is kept, damaged or not.
package struct StoreRestore {
    /// What was done.
    package struct Outcome: Hashable, Sendable {
        /// How many accounts the store has now.
        package var accounts: Int
        /// Where the store from before is; nil if there was none.
        package var kept: String?
    }

    private let path: String
    private let backup: String
    private let keyring: StoreKeyring

    /// - Parameters:
    ///   - path: the store's.
    ///   - backup: the file that takes its place; it is left as it is.
    ///   - keyring: has the key that the backup is sealed with.
    package init(of path: String, from backup: String, keyring: StoreKeyring) {
        self.path = path
        self.backup = backup
        self.keyring = keyring
    }

    private var copy: String { path + ".restoring" }

    /// Blocks for as long as it takes to copy and check the backup: a minute with a million accounts.
    ///
    /// - Throws: `inUse` while a daemon has the store open; `notRestorable` if the backup cannot be used; that its key is missing; what
    ///   the disk has to say. The store is as it was then.
    package func run() throws(StoreOpeningError) -> Outcome {
        defer { removeCopy() }
        do {
            try PosixFile.createFolder(PosixFile.parent(of: path))
            // A daemon that has the store open is found before the long part; one that has opened it meanwhile, after it.
            _ = try StoreLock(path)
            try copyBackup()
            let accounts = try checkCopy()
            let lock = try StoreLock(path)
            let kept = try replaceStore()
            _ = consume lock
            return Outcome(accounts: accounts, kept: kept)
        } catch let error as StoreOpeningError {
            throw error
        } catch let error as PosixError {
            throw .store(StoreError(error, path: path))
        } catch {
            throw .store(StoreError(error, path: path))
        }
    }

    private func copyBackup() throws {
        removeCopy()
        do {
            guard let status = try PosixFile.status(of: backup), status.isRegularFile || status.isSymbolicLink else {
                throw StoreError.cannotOpen(path: backup, code: ENOENT)
            }
            try PosixFile.copy(backup, to: copy)
            if try PosixFile.status(of: backup + "-wal") != nil {
                try PosixFile.copy(backup + "-wal", to: copy + "-wal")
            }
        } catch let error as PosixError {
            throw error.code == ENOSPC || error.code == EDQUOT
                ? StoreError.diskFull(path: path) : StoreError.cannotOpen(path: backup, code: error.code)
        }
    }

    /// - Returns: how many accounts the copy has.
    private func checkCopy() throws -> Int {
        do {
            try checkFile()
            let store = try keyring.openStore(at: copy)
            let counts = try store.counts()
            try store.close()
            try PosixFile.sync(copy)
            return counts.total
        } catch StoreOpeningError.store(let error) {
            throw error.refusal(of: backup)
        } catch let error as StoreError {
            throw error.refusal(of: backup)
        }
    }

    /// What opening a store does not look at: all pages, and whether there is anything in it.
    private func checkFile() throws(StoreError) {
        do {
            var configuration = Configuration()
            configuration.publicStatementArguments = false
            let queue = try DatabaseQueue(path: copy, configuration: configuration)
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

    /// - Returns: where the store from before is kept; nil if there was none.
    private func replaceStore() throws(PosixError) -> String? {
        let kept = try keepStore()
        // Never beside the new one: SQLite would put an old log's pages into it.
        for suffix in ["-wal", "-journal", "-shm"] {
            guard try PosixFile.status(of: path + suffix) != nil else { continue }
            if let kept {
                try PosixFile.rename(path + suffix, to: kept + suffix)
            } else {
                try PosixFile.remove(path + suffix)
            }
        }
        try PosixFile.rename(copy, to: path)
        try PosixFile.syncFolder(of: path)
        return kept
    }

    /// Gives the store that is there a second name, the first that is free.
    private func keepStore() throws(PosixError) -> String? {
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

    private func removeCopy() {
        for suffix in ["", "-wal", "-shm", "-journal", UpgradeCopy.suffix] { try? PosixFile.remove(copy + suffix) }
    }
}

extension StoreError {
    /// The same about the backup, whose copy it was found in; what the disk has to say is not the backup's fault.
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

/// SQLite's lock on a database, held without SQLite: the file may be damaged.
///
/// The lock goes when any descriptor of the file is closed by this process (fcntl(2), "Record locks"): nobody here may open the file
/// meanwhile.
struct StoreLock: ~Copyable {
    /// Nil if there is no file, and nobody who could have it open.
    private let descriptor: Int32?

    /// - Throws: `inUse`; `cannotOpen`.
    init(_ path: String) throws(StoreError) {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            guard errno == ENOENT else { throw StoreError(PosixError.last, path: path) }
            descriptor = nil
            return
        }
        var lock = LockHolder.lock
        guard unsafe fcntl(file, F_SETLK, &lock) == 0 else {
            close(file)
            throw .inUse(path: path, pid: LockHolder.pid(of: path))
        }
        descriptor = file
    }

    deinit {
        if let descriptor { close(descriptor) }
    }
}
