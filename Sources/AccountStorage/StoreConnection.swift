import Basics
import GRDB
import GRDBSQLite
import RefreshCore
import Synchronization

/// The open database of a store, with its keys. All tables of the store use it.
final class StoreConnection {
    /// The database's path.
    let path: String
    let database: DatabaseQueue
    /// Tells other threads whether a call of SQLite is under way.
    var activity = StoreActivity()
    var keys: SealingKeys {
        didSet { sealer = keys.sealer }
    }
    private(set) var sealer: Sealer
    /// Nil once the store is closed.
    private var lock: StoreLock?
    /// Keeps the database from being opened by a name that a caller or a setting gives; nil once the store is closed.
    private var ownFile: OwnFile?
    /// The file that the path led to when it was opened.
    private let file: NamedFile.Identity?
    /// The file that the log's path led to when the log was begun.
    private var log: NamedFile.Identity?
    /// Whether the process is about to end. Whatever is not stored by then is lost. So writes go to the open database even
    /// while the path leads to another file, if another process can find the open one later.
    var isEnding = false
    /// Called after the log was found removed or replaced, and its contents were saved in the database.
    var onLogRenewed: () -> Void = {}

    /// How far the wall clock has been moved since deadlines were first written.
    ///
    /// Deadlines are stored as wall clock minus this offset, so that after a step of the clock one changed row moves a
    /// million deadlines.
    var scheduleOffset: Duration
    /// What the tables remember of rows until the next write.
    var memory = RowMemory()

    init(path: String, keys: [StoreKey]) throws(StoreError) {
        self.path = path
        let opening = StoreOpening(path: path, keys: keys)
        lock = try opening.lock()
        try opening.prepareFile()
        ownFile = OwnFile(at: path)
        (database, self.keys, scheduleOffset) = try opening.open()
        file = NamedFile.Identity(at: path)
        log = NamedFile.Identity(at: path + "-wal")
        sealer = self.keys.sealer
    }

    /// Writes the log back into the database and releases the lock. The store cannot be used afterwards.
    ///
    /// If another file is at the store's path, the database stays as it is, with its log, and open until the process
    /// ends: SQLite would remove the log by its name, and that name belongs to the other store now.
    func close() throws(StoreError) {
        try activity.during { () throws(StoreError) in
            defer { lock = nil }
            guard NamedFile.Identity(at: path).map({ $0 == file }) ?? true else {
                return Self.abandoned.withLock { $0.append(database) }
            }
            do {
                try database.close()
                ownFile = nil
            } catch {
                throw StoreError(error, path: path)
            }
        }
    }

    private static let abandoned = Mutex<[DatabaseQueue]>([])

    /// Makes sure that the path still leads to the open database.
    ///
    /// - Throws: `gone` if nothing is there; `replaced` if another file is.
    func checkPlace() throws(StoreError) {
        let found = activity.during { NamedFile.Identity(at: path) }
        guard found != file else { return }
        throw found == nil ? .gone(path: path) : .replaced(path: path)
    }

    /// Whether the open database still has a name, so that another process can open it later.
    var hasName: Bool { activity.during { ownFile?.hasName ?? false } }

    /// Runs `body`, which must change nothing.
    func read<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        try activity.during { () throws(StoreError) in
            do {
                return try database.writeWithoutTransaction(body)
            } catch {
                throw StoreError(error, path: path, systemError: systemError)
            }
        }
    }

    /// Runs `body` in one transaction. When it returns, all of it is on disk; if it throws, nothing is.
    ///
    /// - Throws: `gone` or `replaced` if the path leads to another file, except at the end (`isEnding`). SQLite would
    ///   otherwise write to a file that the next process does not find.
    func write<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        memory = RowMemory()
        return try transaction(body)
    }

    /// Like `write`, for callers that update `memory` themselves.
    func transaction<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        try activity.during { () throws(StoreError) in
            if try isInPlace(), NamedFile.Identity(at: path + "-wal") != log { try renewLog() }
            do {
                let result = try database.write(body)
                // SQLite creates a new log at the first write.
                if log == nil { log = NamedFile.Identity(at: path + "-wal") }
                return result
            } catch {
                throw StoreError(error, path: path, systemError: systemError)
            }
        }
    }

    /// Whether the path still leads to the open database. If not, the log's name belongs to another store, too.
    ///
    /// - Throws: `gone` or `replaced` if nothing may be written therefore.
    private func isInPlace() throws(StoreError) -> Bool {
        do throws(StoreError) {
            try checkPlace()
            return true
        } catch {
            // SQLite would create a log that it does not have yet by its name.
            guard isEnding, hasName, log != nil else { throw error }
            return false
        }
    }

    /// Writes the log back and begins a new one, after the log's name was removed or replaced. SQLite still has the old
    /// log open and would go on writing to it, and the next process would not find it.
    private func renewLog() throws(StoreError) {
        do {
            try database.writeWithoutTransaction { db in
                // Leaving this mode writes the whole log back, and syncs the database.
                let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
                guard mode == "delete" else { throw StoreError.gone(path: path + "-wal") }
                let again = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
                guard again == "wal" else { throw StoreError.readOnly(path: path) }
            }
        } catch {
            throw StoreError(error, path: path, systemError: systemError)
        }
        log = NamedFile.Identity(at: path + "-wal")
        onLogRenewed()
    }

    /// Writes the log back and empties it, so that it no longer contains erased tokens.
    ///
    /// The tokens there are sealed, and the caller did not ask for an empty log. So a failure here is not reported.
    func forgetLog() {
        activity.during {
            _ = try? database.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
        }
    }

    /// The `errno` of the last failed operation on the log or, if there is none, on the database; 0 if none has failed.
    ///
    /// SQLite keeps it per file and does not clear it after a success. So it explains a failed write only directly
    /// after the failed commit, whose writes go to the log. `sqlite3_system_errno` cannot be used, because it is not
    /// set when a commit fails.
    private var systemError: Int32 {
        database.writeWithoutTransaction { db in
            var log: UnsafeMutablePointer<sqlite3_file>?
            var code: Int32 = 0
            let connection = unsafe db.sqliteConnection
            unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_JOURNAL_POINTER, &log)
            _ = unsafe log?.pointee.pMethods?.pointee.xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &code)
            if code == 0 { unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_LAST_ERRNO, &code) }
            return code
        }
    }

    /// Converts `wall` to the clock of the stored deadlines.
    func onSchedule(_ wall: Timestamp) -> Int64 {
        (wall - scheduleOffset).microseconds
    }
}

extension AccountStore {
    /// The version of the loaded SQLite library: `3.40.1`.
    package static var sqliteVersion: String { unsafe String(cString: sqlite3_libversion()) }
}

/// A cache of rows between two writes.
struct RowMemory {
    /// The accounts at work, as stored. Each is read when it is due, and needed again when its answer comes.
    private(set) var records: [AccountID: Record] = [:]
    /// The part of the schedule in which the last walk found nothing; nil if that may have changed.
    var nothingDue: NothingDue?

    /// Remembers an account that was read for a decision.
    mutating func note(_ record: Record) {
        // There are never more at work by default. With more, accounts are read twice.
        if records.count >= 4_096 { records = [:] }
        records[record.account.id] = record
    }

    /// Remembers the stored state of an account that waits for an answer, and forgets other accounts.
    mutating func note(_ write: StateWrite) {
        guard case .refreshing = write.state.phase, write.settings == nil else {
            records[write.account] = nil
            return
        }
        records[write.account]?.state = write.state
        if let encoding = write.learnedEncoding { records[write.account]?.account.basicCredentialEncoding = encoding }
        if let facts = write.grantFacts { records[write.account]?.account.grantFacts = facts }
    }
}
