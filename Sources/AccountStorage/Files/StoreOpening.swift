import Basics
import GRDB
import Glibc

/// Opens a database: the steps from a path to a locked, migrated database. The caller keeps the store's lock.
///
/// Before it changes anything, it checks that the file is ours, is not too new, and is sealed with our key.
struct StoreOpening {
    /// A write-ahead log that has grown in a burst is cut back to this size at the next checkpoint. It is twice the 4
    /// MB at which SQLite makes a checkpoint.
    private static let longestIdleLog = 8 << 20

    /// The most bytes of SQLite's page cache, allocated as needed. A few accounts need 100 KB. With random access to a
    /// million accounts, the inner pages of their indexes have to stay in memory. SQLite's default of 2 MB was not
    /// enough; 4 MB served a tenth fewer tokens.
    private static let cache = 16 << 20

    let path: String
    /// The available keys.
    let keys: [StoreKey]

    /// Creates the store's folder if it is missing, and takes the store's lock.
    func lock() throws(StoreError) -> StoreLock {
        let folder = PosixFile.parent(of: path)
        do {
            if let status = try PosixFile.status(of: folder), status.owner != geteuid() {
                throw StoreError.notOurs(path: folder, owner: status.owner)
            }
            try PosixFile.createFolder(folder)
            // SQLite would open a file that it may not write, and fail later with another error.
            try PosixFile.checkWritable(folder)
        } catch {
            throw StoreError(error, path: path)
        }
        return try StoreLock(path)
    }

    /// Opens the database. The caller has the store's lock.
    ///
    /// - Returns: the database, the keys that it is sealed with, and how far its deadlines are behind the wall clock.
    func open() throws(StoreError) -> (DatabaseQueue, keys: SealingKeys, scheduleOffset: Duration) {
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let version: Int? = try queue.writeWithoutTransaction { db in
                let version = try checkOrigin(db)
                if version != nil { _ = try Meta.findKeys(among: keys, path: path, in: db) }
                try configure(db)
                // This comes first, so that we recognize our file even if a full disk or a power cut leaves it half
                // made.
                if version == nil { try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
                return version
            }
            if let version, version < Schema.latest { try UpgradeCopy.make(of: queue, at: path) }
            try Schema.migrator.migrate(queue)
            let (sealing, offset): (SealingKeys, Int64) = try queue.write { db in
                (try Meta.findKeys(among: keys, path: path, in: db), try Meta.value(.scheduleOffset, in: db) ?? 0)
            }
            return (queue, sealing, .microseconds(offset))
        } catch {
            throw refusal(for: error)
        }
    }

    /// Creates an empty file that only this user may access; closes an existing file to others.
    func prepareFile() throws(StoreError) {
        do {
            guard let file = try PosixFile.status(of: path) else {
                try PosixFile.create(path)
                return try PosixFile.syncFolder(of: path)
            }
            guard !file.isSymbolicLink else { throw StoreError.isLink(path: path) }
            guard file.isRegularFile else { throw StoreError.notADatabase(path: path) }
            guard file.owner == geteuid() else { throw StoreError.notOurs(path: path, owner: file.owner) }
            try PosixFile.checkWritable(path)
            if file.mode & 0o077 != 0 { try PosixFile.setMode(0o600, of: path) }
        } catch {
            throw StoreError(error, path: path)
        }
    }

    private var configuration: Configuration {
        // The first read takes and keeps the lock.
        var configuration = Configuration.exclusive
        configuration.label = "authrefreshd.store"
        configuration.foreignKeysEnabled = true
        // Error texts may show statements but not their arguments, which contain sealed secrets.
        configuration.publicStatementArguments = false
        // Nobody else may have this database open, so waiting is pointless.
        configuration.busyMode = .immediateError
        return configuration
    }

    /// Refuses files of other programs, of newer versions, and of versions that are too old.
    ///
    /// - Returns: the schema number; nil if the file is empty, or was left before anything was written.
    private func checkOrigin(_ db: Database) throws -> Int? {
        let applicationID = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        if applicationID != Schema.applicationID {
            let isEmpty = try Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM sqlite_master)") ?? false
            guard applicationID == 0, isEmpty else { throw StoreError.notAStore(path: path) }
            return nil
        }
        guard version == 0 || version >= Schema.oldest else {
            throw StoreError.olderSchema(path: path, found: version, oldest: Schema.oldest)
        }
        guard version <= Schema.latest else {
            throw StoreError.newerSchema(path: path, found: version, known: Schema.latest)
        }
        return version > 0 ? version : nil
    }

    private func configure(_ db: Database) throws {
        let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else { throw StoreError.readOnly(path: path) }
        // FULL: a lease or a rotated token that is reported as stored survives a power cut. WAL's default may lose the
        // last ones.
        try db.execute(
            sql: """
                PRAGMA synchronous = FULL;
                PRAGMA secure_delete = ON;
                PRAGMA temp_store = MEMORY;
                PRAGMA cache_size = -\(StoreOpening.cache >> 10);
                PRAGMA journal_size_limit = \(StoreOpening.longestIdleLog);
                """
        )
    }

    /// The error for SQLite's refusal; if the file is locked, it names the holder.
    private func refusal(for error: any Error) -> StoreError {
        let refusal = StoreError(error, path: path)
        guard case .inUse = refusal else { return refusal }
        return .inUse(path: path, by: SQLiteLock.holder(of: path) ?? StoreHolder(pid: nil, program: nil, host: nil))
    }
}

extension Configuration {
    /// For a database that nobody else has open. SQLite reads and writes its log without a shared-memory file.
    static var exclusive: Configuration {
        var configuration = Configuration()
        // It must be set before the first read.
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        return configuration
    }
}

extension StoreError {
    /// The error for a system call that failed on `path`.
    init(_ error: FileError, path: String) {
        switch error.code {
        case EROFS, EACCES: self = .readOnly(path: path)
        default: self = StoreError(noRoom: error.code, path: path) ?? .cannotOpen(path: path, code: error.code)
        }
    }

    /// The error for an `errno` that means that a file cannot grow; nil for others.
    init?(noRoom code: Int32, path: String) {
        switch code {
        // An exceeded quota means the same as a full disk.
        case ENOSPC, EDQUOT: self = .diskFull(path: path)
        case EFBIG: self = .fileLimit(path: path)
        default: return nil
        }
    }
}

/// The copy of a store that is made before a newer version migrates its tables, because an older version cannot undo
/// that.
///
/// Only the latest copy is kept. It is sealed with the store's key of that time, and removed when that key changes.
enum UpgradeCopy {
    /// The suffix of its name.
    static let suffix = ".before-upgrade"

    /// Copies the database that `queue` has open. When it returns, the complete copy is on disk. It blocks for about a
    /// second per GB.
    static func make(of queue: DatabaseQueue, at path: String) throws {
        let (kept, unfinished) = (path + suffix, path + suffix + ".new")
        try? PosixFile.remove(unfinished)
        do {
            try PosixFile.create(unfinished)
            let copy = try DatabaseQueue(path: unfinished, configuration: .exclusive)
            try queue.backup(to: copy)
            // The copy must be one file, because people may forget to copy a log beside it.
            try copy.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
            try copy.close()
            try PosixFile.sync(unfinished)
            try PosixFile.rename(unfinished, to: kept)
            try PosixFile.syncFolder(of: path)
        } catch {
            try? PosixFile.remove(unfinished)
            throw error
        }
    }

    /// Removes the copy for the store at `path`.
    static func remove(of path: String) {
        try? PosixFile.remove(path + suffix)
    }
}
