import GRDB
package import RefreshCore

/// What is stored of a token target besides its sealed token.
package struct TokenTargetRecord: Equatable, Sendable {
    package var target: TokenTarget
    /// The times of the access token.
    package var times: AccessTokenTimes
    /// The granted scopes; nil if the server did not say, which means the requested ones (RFC 6749 §5.1).
    package var grantedScopes: [String]?

    package init(target: TokenTarget, times: AccessTokenTimes, grantedScopes: [String]? = nil) {
        self.target = target
        self.times = times
        self.grantedScopes = grantedScopes
    }
}

/// The token targets of an account whose tokens were obtained. They are removed some time after the token has expired.
package struct TargetTable {
    let connection: StoreConnection
    let tokens: TokenTable

    /// How long a target is kept after its token has expired. Nobody has asked for it since, and a new token costs one
    /// request anyway. After a day, a person can still see which tokens the night's jobs used.
    static let afterlife = Duration.seconds(86_400)

    /// The record of this target; nil if no token of it is stored.
    package func record(_ target: TokenTarget, of account: AccountID) throws(StoreError) -> TokenTargetRecord? {
        try connection.read { db in
            let row = try Row.fetchOne(
                db.cachedStatement(sql: StoreStatement.target.sql),
                arguments: [account.rawValue, target.text]
            )
            return row.flatMap { TokenTargetColumns.record(from: $0, account: account) }
        }
    }

    /// All token targets of an account, ordered by their texts; at most `TokenTarget.maximum`.
    package func records(of account: AccountID) throws(StoreError) -> [TokenTargetRecord] {
        try connection.read { db in try records(of: account, in: db) }
    }

    /// The access token of a target; nil if none is stored.
    ///
    /// - Throws: `sealBroken`.
    package func accessToken(of account: AccountID, for target: TokenTarget) throws(StoreError) -> AccessToken? {
        try tokens.accessToken(of: account, target: target.text)
    }

    /// Stores the tokens for a target and replaces its old ones.
    func store(_ write: TokenTargetWrite, of account: AccountID, generation: Generation, in db: Database) throws {
        try tokens.store(write.tokens, of: account, generation: generation, target: write.target.text, in: db)
        let record = TokenTargetRecord(target: write.target, times: write.times, grantedScopes: write.tokens.scopes)
        let place: ColumnValues = [.integer(account.rawValue), .text(write.target.text)]
        try db.cachedStatement(sql: TokenTargetColumns.upsert).run(place + TokenTargetColumns.values(of: record))
        // The coordinator requests no more targets than there is room for. Expired ones make room for new ones.
        let excess = try records(of: account, in: db).sorted { $0.times.end < $1.times.end }
            .dropLast(TokenTarget.maximum)
        for record in excess { try erase(record.target, of: account, in: db) }
    }

    /// Erases one target and its token.
    func erase(_ target: TokenTarget, of account: AccountID, in db: Database) throws {
        try db.run(.eraseTarget, [.integer(account.rawValue), .text(target.text)])
    }

    /// Erases all targets of an account and their tokens.
    func eraseAll(of account: AccountID, in db: Database) throws {
        try db.run(.eraseTargets, [.integer(account.rawValue)])
    }

    /// Erases the targets whose tokens expired long before a token that was issued at `now`.
    func eraseOld(of account: AccountID, at now: Timestamp, in db: Database) throws {
        // Few accounts have targets, and a statement with triggers takes four times as long to find nothing.
        guard try db.bytes(.firstTarget, [.integer(account.rawValue)]) != nil else { return }
        let end = (now - TargetTable.afterlife).microseconds
        try db.run(.eraseOldTargets, [.integer(account.rawValue), .integer(end)])
    }

    private func records(of account: AccountID, in db: Database) throws -> [TokenTargetRecord] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: StoreStatement.targets.sql),
            arguments: [account.rawValue]
        )
        var records: [TokenTargetRecord] = []
        while let row = try rows.next() {
            if let record = TokenTargetColumns.record(from: row, account: account) { records.append(record) }
        }
        return records
    }
}

/// The columns of a `TokenTargetRecord`, written and read in one order.
enum TokenTargetColumns {
    static let names = [
        "granted_scopes", "access_wall_usec", "access_boot_id", "access_boot_usec", "access_lifetime_usec",
        "access_refresh_after_usec",
    ]

    /// The columns that `record(from:account:)` reads.
    static let recordColumns = (["target"] + names).joined(separator: ", ")

    static let upsert = """
        INSERT INTO token_set (account_id, target, \(names.joined(separator: ", "))) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET \(names.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """

    static func values(of record: TokenTargetRecord) -> ColumnValues {
        // One scope per line, as for an account's scopes. A longer text than any target may have is not stored.
        let scopes = record.grantedScopes?.joined(separator: "\n")
        var values: ColumnValues = [SQLValue(scopes.flatMap { $0.utf8.count <= TokenTarget.longestText ? $0 : nil })]
        values.append(moment: record.times.issuedAt)
        values.append(record.times.lifetime.microseconds)
        values.append(record.times.refreshAfter.microseconds)
        return values
    }

    /// Reads a record; nil for a damaged row. One request replaces the token, so damage here must not take the account
    /// out of service.
    static func record(from row: Row, account: AccountID) -> TokenTargetRecord? {
        var reader = ColumnReader(row, account: account, from: 0)
        let target = reader.text().flatMap(TokenTarget.init(text:))
        let scopes = reader.text().map { $0.split(separator: "\n").map(String.init) }
        guard let target, let times = try? times(from: &reader) else { return nil }
        return TokenTargetRecord(target: target, times: times, grantedScopes: scopes)
    }

    private static func times(from reader: inout ColumnReader) throws(StoreError) -> AccessTokenTimes {
        let (issuedAt, lifetime, refreshAfter) = (try reader.moment(), try reader.duration(), try reader.duration())
        return AccessTokenTimes(
            issuedAt: try reader.required(issuedAt, "access_wall_usec"),
            lifetime: try reader.required(lifetime, "access_lifetime_usec"),
            refreshAfter: try reader.required(refreshAfter, "access_refresh_after_usec")
        )
    }
}

extension AccessTokenTimes {
    /// When the token expires, by the wall clock at the time of issue.
    fileprivate var end: Timestamp { issuedAt.wall + lifetime }
}
