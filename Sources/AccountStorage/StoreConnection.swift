import GRDB
import RefreshCore

/// The database that a store has open, with the keys that it is sealed with: what all of the store's tables work on.
final class StoreConnection {
    /// The database's path.
    let path: String
    let database: SharedDatabase
    /// Finds access tokens for other threads.
    let tokenReader: TokenReader
    var keys: SealingKeys {
        didSet {
            sealer = keys.sealer
            tokenReader.use(sealer)
        }
    }
    private(set) var sealer: Sealer
    /// What the path led to when it was opened.
    private let file: PosixFile.Identity?
    /// What the log's path led to when the log was begun.
    private var log: PosixFile.Identity?
    /// Called when the log was found removed or replaced, after what was in it is safe in the database.
    var onLogRenewed: () -> Void = {}

    /// How far the wall clock has been moved since deadlines were first written.
    ///
    /// Deadlines are stored as wall clock minus this, so that a step of the clock moves a million of them by changing one row.
    var scheduleOffset: Duration
    /// What the tables remember of the rows until the next write.
    var memory = RowMemory()

    init(path: String, keys: [StoreKey]) throws(StoreError) {
        self.path = path
        (database, self.keys, scheduleOffset) = try StoreOpening(path: path, keys: keys).open()
        file = PosixFile.identity(of: path)
        log = PosixFile.identity(of: path + "-wal")
        sealer = self.keys.sealer
        tokenReader = TokenReader(database, sealer: sealer)
    }

    /// Writes the log back into the database and lets go of the lock; the store cannot be used afterwards.
    func close() throws(StoreError) {
        do {
            try database.close()
        } catch {
            throw StoreError(error, path: path)
        }
    }

    /// Asks without changing anything.
    func read<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        do {
            return try database.enter { try $0.writeWithoutTransaction(body) }
        } catch {
            throw StoreError(error, path: path, systemError: database.systemError)
        }
    }

    /// Runs `body` in one transaction: all of it is on disk when this returns, or nothing if it throws.
    ///
    /// - Throws: `gone` if the file is not where it was: SQLite would write on into a file without a name.
    func write<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        memory = RowMemory()
        return try transaction(body)
    }

    /// `write` for what keeps `memory` true by itself.
    func transaction<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        guard PosixFile.identity(of: path) == file else { throw .gone(path: path) }
        if PosixFile.identity(of: path + "-wal") != log { try renewLog() }
        do {
            let result = try database.enter { try $0.write(body) }
            // SQLite makes a new log with the first write.
            if log == nil { log = PosixFile.identity(of: path + "-wal") }
            return result
        } catch {
            throw StoreError(error, path: path, systemError: database.systemError)
        }
    }

    /// The write-ahead log's name is gone, or leads to another file. SQLite has the log open still, and would write on into it; the next
    /// process would not find what is in it. So it is written back, and a log is begun that has a name.
    private func renewLog() throws(StoreError) {
        do {
            try database.enter { queue in
                try queue.writeWithoutTransaction { db in
                    // Leaving this mode writes the whole log back, and syncs the database.
                    let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
                    guard mode == "delete" else { throw StoreError.gone(path: path + "-wal") }
                    let again = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
                    guard again == "wal" else { throw StoreError.readOnly(path: path) }
                }
            }
        } catch {
            throw StoreError(error, path: path, systemError: database.systemError)
        }
        log = PosixFile.identity(of: path + "-wal")
        onLogRenewed()
    }

    /// Writes the log back and empties it, so that erased tokens are not in it any more.
    ///
    /// They are sealed there, and an empty log is not what the caller asked for: a failure here is none of theirs.
    func forgetLog() {
        _ = try? database.enter { queue in
            try queue.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
        }
    }

    /// `wall` on the clock that deadlines are stored by.
    func onSchedule(_ wall: Timestamp) -> Int64 {
        (wall - scheduleOffset).microseconds
    }
}

/// What is remembered of rows between two writes.
struct RowMemory {
    /// The accounts at work, as they are stored: each is read when it is due, and wanted again when its answer comes.
    private(set) var records: [AccountID: Record] = [:]
    /// What the last walk over the schedule found nothing in; nil if that may have changed.
    var nothingDue: NothingDue?

    /// Remembers an account that was read to be decided on.
    mutating func note(_ record: Record) {
        // More than are ever at work; whoever configures more of them has them read twice.
        if records.count >= 4_096 { records = [:] }
        records[record.account.id] = record
    }

    /// Remembers what was stored of an account whose answer is awaited, and forgets the others.
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
