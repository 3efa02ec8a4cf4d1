import GRDB
import RefreshCore

/// The accounts, their schedule and their sealed tokens, in one SQLite database.
///
/// It is used from one serial context (the coordinator's queue), which every call blocks until SQLite is done; other threads have
/// `tokenReader`. What a call has
/// written when it returns is on disk; a call that throws has written nothing, and the store stays usable. The database is
/// locked for this process from the moment it is opened until the store is closed or the process ends.
///
/// Durations are kept in whole microseconds.
package final class AccountStore {
    /// The name of the database in the state folder.
    package static let fileName = "accounts.sqlite"

    /// The database's path.
    package let path: String
    var sealer: Sealer {
        didSet { tokenReader.use(sealer) }
    }
    var keys: SealingKeys
    let database: SharedDatabase
    /// Finds access tokens for other threads.
    package let tokenReader: TokenReader
    /// What the path led to when it was opened.
    private let file: PosixFile.Identity?
    /// What the log's path led to when the log was begun.
    private var log: PosixFile.Identity?
    /// Called when the log was found removed or replaced, after what was in it is safe in the database.
    package var onLogRenewed: () -> Void = {}

    /// How far the wall clock has been moved since deadlines were first written.
    ///
    /// Deadlines are stored as wall clock minus this, so that a step of the clock moves a million of them by changing one row.
    var scheduleOffset: Duration
    private var issuers: [IssuerID: Issuer] = [:]
    /// The accounts at work, as they are stored: each is read when it is due, and wanted again when its answer comes.
    var recordCache: [AccountID: Record] = [:]
    /// What the last walk over the schedule found nothing in; nil if that may have changed.
    var nothingDue: NothingDue?

    /// Opens the database at `path`, or makes one, in a folder that nobody else may enter; brings an older one up to date.
    ///
    /// Takes the same time however many accounts there are, unless the schema is older.
    ///
    /// - Throws: `inUse`, `corrupt`, `notADatabase`, `notAStore`, `newerSchema`, `wrongKey`, `readOnly`, `diskFull`, `notOurs` or
    ///   `cannotOpen`; each with a hint for the owner. The file is left as it was.
    package convenience init(path: String, key: StoreKey) throws(StoreError) {
        try self.init(path: path, keys: [key])
    }

    /// The same, with those of several keys that it is sealed with; a new store is sealed with the first.
    package init(path: String, keys: [StoreKey]) throws(StoreError) {
        self.path = path
        (database, self.keys, scheduleOffset) = try StoreOpening(path: path, keys: keys).open()
        file = PosixFile.identity(of: path)
        log = PosixFile.identity(of: path + "-wal")
        sealer = self.keys.sealer
        tokenReader = TokenReader(database, sealer: sealer)
    }

    /// Writes the log back into the database and lets go of the lock; the store cannot be used afterwards.
    package func close() throws(StoreError) {
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
        nothingDue = nil
        recordCache = [:]
        return try transaction(body)
    }

    /// `write` for what keeps `nothingDue` and `recordCache` true by itself.
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

    /// The issuer with this number, nil if there is none; the latest ones are remembered, because reading a record asks for it.
    ///
    /// - Throws: `IssuerError` if the stored URL is none of an issuer.
    func issuer(_ id: IssuerID, in db: Database) throws -> Issuer? {
        if let known = issuers[id] { return known }
        let statement = try db.cachedStatement(sql: StoreStatement.issuer.sql)
        guard let url = try String.fetchOne(statement, arguments: [id.rawValue]) else { return nil }
        let issuer = try Issuer(url: url)
        // A thousand issuers are a few hundred kilobytes; whoever has more pays one look-up for each.
        if issuers.count >= 1_000 { issuers.removeAll() }
        issuers[id] = issuer
        return issuer
    }

    /// The record in a row of `AccountColumns.recordColumns`.
    private func record(from row: Row, in db: Database) throws -> Record {
        let id = AccountID(row[0])
        let issuerID = IssuerID(row[1])
        var reader = ColumnReader(row, account: id, from: 3)
        let issuer: Issuer
        do {
            issuer = try reader.required(self.issuer(issuerID, in: db), "issuer_id")
        } catch is IssuerError {
            throw StoreError.damagedRow(id, column: "issuer.url", .malformed)
        }
        let account = try AccountColumns.account(id, issuer: issuer, from: &reader, sealer: sealer)
        let state = try StateColumns.state(from: &reader, offset: scheduleOffset)
        return Record(
            account: account,
            issuerID: issuerID,
            state: state,
            createdAt: Timestamp(microseconds: row[2])
        )
    }

    /// The accounts in the rows of a query, the damaged ones among them.
    func entries(_ query: StoreStatement, _ arguments: StatementArguments, in db: Database) throws -> [AccountEntry] {
        let cursor = try Row.fetchCursor(db.cachedStatement(sql: query.sql), arguments: arguments)
        var entries: [AccountEntry] = []
        while let row = try cursor.next() {
            entries.append(try entry(from: row, in: db))
        }
        return entries
    }

    private func entry(from row: Row, in db: Database) throws -> AccountEntry {
        do {
            return .intact(try record(from: row, in: db))
        } catch let cause as StoreError where cause.damagedAccount != nil {
            let issuer = try? issuer(IssuerID(row[1]), in: db)
            return .damaged(DamagedAccount(id: AccountID(row[0]), name: row[3] ?? "", issuer: issuer, cause: cause))
        }
    }
}

extension AccountStore {
    /// Writes a number that nobody reads, to see whether the store can be written again.
    ///
    /// - Throws: what the disk has to say.
    package func probe() throws(StoreError) {
        try write(Meta.countProbe)
    }
}
