import GRDB
package import RefreshCore

/// Stores the accounts, their schedule and their sealed tokens in one SQLite database.
///
/// It is used from one serial context, the coordinator's queue, and each call blocks that queue until SQLite is done.
/// When a call returns, its writes are on disk. If it throws, nothing was written, and the store stays usable. The
/// database is locked for this process from its opening until the store is closed or the process ends.
///
/// This type keeps the accounts themselves. Other types keep the rest, each in a table of its own.
///
/// Durations are stored in whole microseconds.
package final class AccountStore {
    /// The name of the database in the state folder.
    package static let fileName = "accounts.sqlite"

    let connection: StoreConnection
    let records: RecordReader

    /// The accounts' deadlines.
    package let schedule: AccountSchedule
    package let tokens: TokenTable
    /// The tokens for targets other than the account's default.
    package let targets: TargetTable
    package let serverMetadata: ServerMetadataTable
    /// The store's key, and how to change it.
    package let rekeying: StoreKeyChange

    /// Opens or creates the database at `path`, in a folder that nobody else may enter, and migrates an older database.
    ///
    /// It takes the same time for any number of accounts, unless the schema is older.
    ///
    /// - Throws: `inUse`, `corrupt`, `notADatabase`, `notAStore`, `newerSchema`, `wrongKey`, `readOnly`, `diskFull`,
    ///   `notOurs` or `cannotOpen`, each with a hint for the owner. The file is left as it was.
    package convenience init(path: String, key: StoreKey) throws(StoreError) {
        try self.init(path: path, keys: [key])
    }

    /// Like `init(path:key:)`, but tries several keys. A new store is sealed with the first one.
    package init(path: String, keys: [StoreKey]) throws(StoreError) {
        connection = try StoreConnection(path: path, keys: keys)
        records = RecordReader(connection)
        schedule = AccountSchedule(connection: connection, records: records)
        tokens = TokenTable(connection: connection)
        targets = TargetTable(connection: connection, tokens: tokens)
        serverMetadata = ServerMetadataTable(connection: connection)
        rekeying = StoreKeyChange(connection: connection)
    }

    /// How many grants were parked because the store came from another machine.
    package internal(set) var parkedGrants = 0

    /// The database's path.
    package var path: String { connection.path }

    /// Tells other threads whether a call of SQLite is under way.
    package var activity: StoreActivity {
        get { connection.activity }
        set { connection.activity = newValue }
    }

    /// Whether the process is about to end. Writes then go to the open database even while the path leads to another
    /// file, if another process can find the open one later.
    package var isEnding: Bool {
        get { connection.isEnding }
        set { connection.isEnding = newValue }
    }

    /// Called after the log was found removed or replaced, and its contents were saved in the database.
    package var onLogRenewed: () -> Void {
        get { connection.onLogRenewed }
        set { connection.onLogRenewed = newValue }
    }

    /// Writes the log back into the database and releases the lock. The store cannot be used afterwards.
    package func close() throws(StoreError) {
        try connection.close()
    }

    /// Makes sure that the path still leads to the open database.
    ///
    /// - Throws: `gone` if nothing is there; `replaced` if another file is.
    package func checkPlace() throws(StoreError) {
        try connection.checkPlace()
    }

    /// Whether the open database still has a name, so that another process can open it later.
    package var hasName: Bool { connection.hasName }

    /// Writes a number that nobody reads, to find out whether the store can be written again.
    ///
    /// - Throws: the error of the disk.
    package func probe() throws(StoreError) {
        try connection.write { db in
            let count: Int64? = try Meta.value(.probes, in: db)
            try Meta.set(.probes, (count ?? 0) &+ 1, in: db)
        }
    }

    /// How many daemons in a row have crashed during a request of these accounts; without the accounts that are not
    /// suspected.
    package func crashes() throws(StoreError) -> [AccountID: Int] {
        let text: String? = try connection.read { db in try Meta.value(.crashes, in: db) }
        let counts = text.flatMap { JSONColumn.value([Int64: Int].self, from: $0) } ?? [:]
        return Dictionary(uniqueKeysWithValues: counts.map { (AccountID($0), $1) })
    }

    package func recordCrashes(_ counts: [AccountID: Int]) throws(StoreError) {
        let counts = Dictionary(uniqueKeysWithValues: counts.map { ($0.rawValue, $1) })
        try connection.write { db in
            guard !counts.isEmpty else { return try Meta.remove([.crashes], in: db) }
            try Meta.set(.crashes, JSONColumn.text(of: counts), in: db)
        }
    }

    // MARK: Accounts

    /// Adds an account, with its grant if it has one.
    ///
    /// - Throws: `nameTaken`; then nothing is added.
    package func add(_ account: NewAccount) throws(StoreError) -> Record {
        try connection.write { db in
            let id = try insert(account, in: db)
            guard let entry = try records.entries(.recordByID, [id.rawValue], in: db).first else {
                throw StoreError.noSuchAccount(id)
            }
            return try entry.record()
        }
    }

    /// Adds many accounts in one transaction.
    ///
    /// - Returns: their numbers, in the same order.
    /// - Throws: `nameTaken` for the first name that is taken; no account is added then.
    package func add(_ accounts: [NewAccount]) throws(StoreError) -> [AccountID] {
        try connection.write { db in try accounts.map { try insert($0, in: db) } }
    }

    /// The account with this number; nil if there is none.
    package func entry(_ id: AccountID) throws(StoreError) -> AccountEntry? {
        try records.entry(id)
    }

    /// The account with this name; nil if there is none. A damaged account may have a text that is not a valid account
    /// name.
    package func entry(named name: String) throws(StoreError) -> AccountEntry? {
        try connection.read { db in try records.entries(.recordByName, [name], in: db).first }
    }

    /// Who may use the account of this name, read without opening any of its secrets.
    ///
    /// Nil if there is no such account, if every process of this user may use it, or if its list is damaged.
    /// `entry(named:)` reports damage.
    package func allowedCallers(named name: String) throws(StoreError) -> (account: AccountName, AllowedCallers)? {
        try connection.read { db in
            let statement = try db.cachedStatement(sql: StoreStatement.callersByName.sql)
            guard let row = try Row.fetchOne(statement, arguments: [name]), let list: String = row[0],
                let account = AccountName(name),
                let callers = JSONColumn.value(AllowedCallers.self, from: list)
            else { return nil }
            return (account, callers)
        }
    }

    /// The accounts that a person is signed in to at `issuer`, in the order in which they were added. Damaged accounts
    /// are left out.
    ///
    /// - Parameter subject: the issuer's identifier of the person.
    package func accounts(
        ofPerson subject: String,
        at issuer: Issuer,
        limit: Int
    ) throws(StoreError) -> [Account] {
        let ids = try connection.read { db in try db.accounts(.ofPerson, [subject, issuer.url, limit]) }
        var accounts: [Account] = []
        for id in ids {
            if case .intact(let record)? = try entry(id) { accounts.append(record.account) }
        }
        return accounts
    }

    /// Whether `issuer` keeps the scope of a grant when a token asks for a part of it, as the answers to one of its
    /// accounts have shown; nil if none has.
    package func keepsScope(_ issuer: Issuer) throws(StoreError) -> Bool? {
        try connection.read { db in
            let statement = try db.cachedStatement(sql: "SELECT keeps_scope FROM issuer WHERE url = ?")
            return try Bool.fetchOne(statement, arguments: [issuer.url])
        }
    }

    /// The accounts with a token file, in the order of the files' names.
    package func accountsWithTokenFile(limit: Int) throws(StoreError) -> [AccountID] {
        try connection.read { db in try db.accounts(.withTokenFile, [limit]) }
    }

    /// The account with this token file, except `other`; nil if there is none.
    package func owner(
        ofTokenFile file: String,
        besides other: AccountID?
    ) throws(StoreError) -> (id: AccountID, name: String)? {
        try connection.read { db in
            let statement = try db.cachedStatement(sql: StoreStatement.ofTokenFile.sql)
            let owners = try Row.fetchAll(statement, arguments: [file]).map { (AccountID($0[0]), $0[1] as String) }
            return owners.first { $0.0 != other }
        }
    }

    /// A page of all accounts, ordered by the bytes of their names: those after `name`, or the first ones.
    package func entries(after name: String?, limit: Int) throws(StoreError) -> [AccountEntry] {
        try connection.read { db in try records.entries(.recordsAfterName, [name ?? "", limit], in: db) }
    }

    /// The names of such a page.
    package func names(after name: String, limit: Int) throws(StoreError) -> [String] {
        try connection.read { db in
            try String.fetchAll(db.cachedStatement(sql: StoreStatement.namesAfterName.sql), arguments: [name, limit])
        }
    }

    /// A page of all accounts by number, which is the order in which they were added. Renaming does not change it.
    package func entries(afterID id: AccountID, limit: Int) throws(StoreError) -> [AccountEntry] {
        try connection.read { db in try records.entries(.recordsAfterID, [id.rawValue, limit], in: db) }
    }

    /// The account with this number; nil if there is none.
    ///
    /// - Throws: `damagedRow` or `sealBroken` if it cannot be read.
    package func record(_ id: AccountID) throws(StoreError) -> Record? {
        try entry(id)?.record()
    }

    /// The account with this name; nil if there is none.
    package func record(named name: AccountName) throws(StoreError) -> Record? {
        try entry(named: name.text)?.record()
    }

    /// How many accounts are in each phase. It costs the same for any number of accounts.
    package func counts() throws(StoreError) -> PhaseCounts {
        try connection.read { db in
            var counts = PhaseCounts()
            let tallies: [String: WritableKeyPath<PhaseCounts, Int>] = [
                "signedOut": \.signedOut, "scheduled": \.scheduled, "backingOff": \.backingOff,
                "misconfigured": \.misconfigured, "interactionRequired": \.interactionRequired, "parked": \.parked,
            ]
            let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT tally, accounts FROM phase_count"))
            while let row = try rows.next() {
                // An unknown phase belongs to a damaged account.
                counts[keyPath: tallies[row[0]] ?? \.unknown] += row[1]
            }
            // Accounts being refreshed are counted as scheduled until somebody asks.
            counts.refreshing = try Int.fetchOne(db.cachedStatement(sql: StoreStatement.countLeased.sql)) ?? 0
            counts.scheduled -= counts.refreshing
            counts.setAside = try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM set_aside")) ?? 0
            return counts
        }
    }

    /// Stores everything about `account` that its owner may change, including its name.
    ///
    /// - Throws: `noSuchAccount`, `nameTaken`.
    package func update(_ account: Account) throws(StoreError) {
        try connection.write { db in try update(account, in: db) }
    }

    func update(_ account: Account, in db: Database) throws {
        let issuer = try issuerID(of: account.issuer, in: db)
        let statement = try db.cachedStatement(sql: AccountColumns.update)
        let values = try AccountColumns.values(of: account, sealer: connection.sealer)
        let place: ColumnValues = [
            .integer(issuer.rawValue), SQLValue(!account.issuer.isLoopback), .integer(account.id.rawValue),
        ]
        let changed = try naming(account.name) { try statement.run(values + place) }
        guard changed == 1 else { throw StoreError.noSuchAccount(account.id) }
    }

    /// Renames an account.
    ///
    /// - Throws: `noSuchAccount`, `nameTaken`.
    package func rename(_ id: AccountID, to name: AccountName) throws(StoreError) {
        try connection.write { db in
            let values: ColumnValues = [.text(name.text), .integer(id.rawValue)]
            let renamed = try naming(name) { try db.run(.rename, values) }
            guard renamed == 1 else { throw StoreError.noSuchAccount(id) }
            for statement in [StoreStatement.renameSubject, .renameActor] { try db.run(statement, values) }
        }
    }

    /// The accounts whose tokens are derived from this account, at most `limit`, in any order.
    package func derived(from source: AccountID, limit: Int) throws(StoreError) -> [AccountID] {
        try connection.read { db in
            let bySubject = try db.accounts(.derivedBySubject, [source.rawValue, limit])
            return try bySubject + db.accounts(.derivedByActor, [source.rawValue, limit - bySubject.count])
        }
    }

    /// The accounts that wait until the account that theirs is derived from has a token.
    package func lackingSource() throws(StoreError) -> [AccountID] {
        try connection.read { db in
            try db.accounts(.lackingSource, [InteractionReason.sourceAccount.rawValue])
        }
    }

    /// Removes the account and its tokens, also from the log.
    ///
    /// - Throws: `noSuchAccount`.
    package func remove(_ id: AccountID) throws(StoreError) {
        try connection.write { db in try remove(id, in: db) }
        connection.forgetLog()
    }

    func remove(_ id: AccountID, in db: Database) throws {
        guard try db.run(.remove, [.integer(id.rawValue)]) == 1 else { throw StoreError.noSuchAccount(id) }
    }

    /// The number of the account that was added last, even if it was removed since; 0 before the first.
    package func lastAccount() throws(StoreError) -> AccountID {
        try connection.read(lastAccount)
    }

    private func lastAccount(in db: Database) throws -> AccountID {
        let statement = try db.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'account'")
        return AccountID(try Int64.fetchOne(statement) ?? 0)
    }

    func insert(_ new: NewAccount, in db: Database) throws -> AccountID {
        let issuer = try issuerID(of: new.issuer, in: db)
        // The number must be known first, because the secrets are sealed for it. The transaction keeps it from being
        // taken.
        let id = AccountID(try lastAccount(in: db).rawValue + 1)
        var account = new.account
        account.id = id
        let place: ColumnValues = [
            .integer(id.rawValue), .integer(issuer.rawValue), SQLValue(!new.issuer.isLoopback),
            .integer(new.createdAt.microseconds),
        ]
        let values = try AccountColumns.values(of: account, sealer: connection.sealer)
        let state = try StateColumns.values(of: new.state, offset: connection.scheduleOffset)
        try naming(new.name) {
            _ = try db.cachedStatement(sql: AccountColumns.insert).run(place + values + state)
        }
        if let tokens = new.tokens { try self.tokens.store(tokens, of: id, generation: new.state.generation, in: db) }
        return id
    }

    /// The number of `issuer`. A new issuer gets a number now.
    private func issuerID(of issuer: Issuer, in db: Database) throws -> IssuerID {
        let statement = try db.cachedStatement(sql: StoreStatement.issuerByURL.sql)
        if let known = try Int64.fetchOne(statement, arguments: [issuer.url]) { return IssuerID(known) }
        try db.cachedStatement(sql: "INSERT INTO issuer (url, needs_route) VALUES (?, ?)")
            .execute(arguments: [issuer.url, !issuer.isLoopback])
        return IssuerID(db.lastInsertedRowID)
    }

    /// Runs a statement that writes `name`, and throws `nameTaken` if that is why it fails.
    private func naming<Result>(_ name: AccountName, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
            throw StoreError.nameTaken(name)
        }
    }
}
