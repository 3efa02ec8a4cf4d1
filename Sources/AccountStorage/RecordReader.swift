import GRDB
import RefreshCore

/// Reads accounts from their rows.
final class RecordReader {
    private let connection: StoreConnection
    private var issuers: [IssuerID: Issuer] = [:]
    /// The settings that were read last, and their text. Accounts of one client have the same settings, and are often
    /// due together.
    private var lastSettings: (text: String, value: StoredSettings)?

    init(_ connection: StoreConnection) {
        self.connection = connection
    }

    /// The account, from memory or from the store; nil if there is none.
    func entry(_ id: AccountID) throws(StoreError) -> AccountEntry? {
        if let record = connection.memory.records[id] { return .intact(record) }
        let entry = try connection.read { db in try entries(.recordByID, [id.rawValue], in: db).first }
        if case .intact(let record)? = entry { connection.memory.note(record) }
        return entry
    }

    /// The issuer with this number; nil if there is none. The latest ones are cached, because each record needs its
    /// issuer.
    ///
    /// - Throws: `ValueError` if the stored URL is not an issuer's.
    private func issuer(_ id: IssuerID, in db: Database) throws -> Issuer? {
        if let known = issuers[id] { return known }
        let statement = try db.cachedStatement(sql: StoreStatement.issuer.sql)
        guard let url = try String.fetchOne(statement, arguments: [id.rawValue]) else { return nil }
        let issuer = try Issuer(url: url)
        // A thousand issuers take a few hundred kilobytes. With more issuers, each record costs one look-up.
        if issuers.count >= 1_000 { issuers.removeAll() }
        issuers[id] = issuer
        return issuer
    }

    /// The settings in `text`; nil if the text is not the JSON of settings.
    private func settings(from text: String) -> StoredSettings? {
        if let lastSettings, lastSettings.text == text { return lastSettings.value }
        guard let value = JSONColumn.value(StoredSettings.self, from: text) else { return nil }
        lastSettings = (text, value)
        return value
    }

    /// The record in a row of `AccountColumns.recordColumns`.
    private func record(from row: Row, in db: Database) throws -> Record {
        let id = AccountID(row[0])
        let issuerID = IssuerID(row[1])
        var reader = ColumnReader(row, account: id, from: 3)
        let issuer: Issuer
        do {
            issuer = try reader.required(self.issuer(issuerID, in: db), "issuer_id")
        } catch is ValueError {
            throw StoreError.damagedRow(id, column: "issuer.url", .malformed)
        }
        let account = try AccountColumns.account(
            id,
            issuer: issuer,
            from: &reader,
            sealer: connection.sealer,
            readSettings: settings
        )
        let state = try StateColumns.state(from: &reader, offset: connection.scheduleOffset)
        return Record(
            account: account,
            issuerID: issuerID,
            state: state,
            createdAt: Timestamp(microseconds: row[2])
        )
    }

    /// The accounts in the rows of a query, including damaged ones.
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
