import GRDB
package import RefreshCore

/// What is stored of a token set beside its sealed token.
package struct TokenSetRecord: Equatable, Sendable {
    package var set: TokenSet
    /// Of the access token.
    package var times: AccessTokenTimes
    /// What was granted, as the server said; nil if it did not, which means: what was asked for (RFC 6749 §5.1).
    package var grantedScopes: [String]?

    package init(set: TokenSet, times: AccessTokenTimes, grantedScopes: [String]? = nil) {
        self.set = set
        self.times = times
        self.grantedScopes = grantedScopes
    }
}

/// The token sets of an account: those whose tokens were obtained, until they have ended for long.
extension AccountStore {
    /// How long a set is kept after its token has ended. Nobody has asked for it since, and who does pays one request anyway; a day
    /// lets a person see what the night's jobs used.
    static let tokenSetAfterlife = Duration.seconds(86_400)

    /// Nil if no token of this set is stored.
    package func tokenSet(_ set: TokenSet, of account: AccountID) throws(StoreError) -> TokenSetRecord? {
        try read { db in
            let row = try Row.fetchOne(
                db.cachedStatement(sql: StoreStatement.tokenSet.sql),
                arguments: [account.rawValue, set.text]
            )
            return row.flatMap { TokenSetColumns.record(from: $0, account: account) }
        }
    }

    /// All token sets of an account, in the order of their texts; at most `TokenSet.maximum`.
    package func tokenSets(of account: AccountID) throws(StoreError) -> [TokenSetRecord] {
        try read { db in try tokenSets(of: account, in: db) }
    }

    /// The access token of a set; nil if none is stored.
    ///
    /// - Throws: `sealBroken`.
    package func accessToken(of account: AccountID, for set: TokenSet) throws(StoreError) -> AccessToken? {
        try accessToken(of: account, target: set.text)
    }

    /// Stores the tokens that came for a set, in place of those that they replace.
    func store(_ write: TokenSetWrite, of account: AccountID, generation: Generation, in db: Database) throws {
        try store(write.tokens, of: account, generation: generation, target: write.set.text, in: db)
        let record = TokenSetRecord(set: write.set, times: write.times, grantedScopes: write.tokens.scopes)
        let place: ColumnValues = [.integer(account.rawValue), .text(write.set.text)]
        try db.cachedStatement(sql: TokenSetColumns.upsert).run(place + TokenSetColumns.values(of: record))
        // The coordinator lets no more be asked for than there is room for, once those that have ended make way for new ones.
        let excess = try tokenSets(of: account, in: db).sorted { $0.times.end < $1.times.end }
            .dropLast(TokenSet.maximum)
        for record in excess { try erase(record.set, of: account, in: db) }
    }

    /// Erases one set and its token.
    func erase(_ set: TokenSet, of account: AccountID, in db: Database) throws {
        try db.cachedStatement(sql: StoreStatement.eraseTokenSet.sql).execute(arguments: [account.rawValue, set.text])
    }

    /// Erases all sets of an account and their tokens.
    func eraseTokenSets(of account: AccountID, in db: Database) throws {
        try db.run(.eraseTokenSets, [.integer(account.rawValue)])
    }

    /// Erases the sets whose tokens had ended long before a token that was issued at `now`.
    func eraseOldTokenSets(of account: AccountID, at now: Timestamp, in db: Database) throws {
        // Hardly anybody has one, and a statement that sets off triggers takes four times as long to find nothing.
        guard try db.bytes(.firstTokenSet, [.integer(account.rawValue)]) != nil else { return }
        let end = (now - AccountStore.tokenSetAfterlife).microseconds
        try db.run(.eraseOldTokenSets, [.integer(account.rawValue), .integer(end)])
    }

    private func tokenSets(of account: AccountID, in db: Database) throws -> [TokenSetRecord] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: StoreStatement.tokenSets.sql),
            arguments: [account.rawValue]
        )
        var records: [TokenSetRecord] = []
        while let row = try rows.next() {
            if let record = TokenSetColumns.record(from: row, account: account) { records.append(record) }
        }
        return records
    }
}

/// The columns of a `TokenSetRecord`, written and read in one order.
enum TokenSetColumns {
    static let names = [
        "granted_scopes", "access_wall_usec", "access_boot_id", "access_boot_usec", "access_lifetime_usec",
        "access_refresh_after_usec",
    ]

    /// What `record(from:account:)` reads.
    static let recordColumns = (["target"] + names).joined(separator: ", ")

    static let upsert = """
        INSERT INTO token_set (account_id, target, \(names.joined(separator: ", "))) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET \(names.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """

    static func values(of record: TokenSetRecord) -> ColumnValues {
        // As for an account's scopes: a line each. What is longer than any set may be is not worth keeping.
        let scopes = record.grantedScopes?.joined(separator: "\n")
        var values: ColumnValues = [SQLValue(scopes.flatMap { $0.utf8.count <= TokenSet.longestText ? $0 : nil })]
        values.append(moment: record.times.issuedAt)
        values.append(record.times.lifetime.microseconds)
        values.append(record.times.refreshAfter.microseconds)
        return values
    }

    /// Nil for a damaged row: what can be had again for one request must not take an account out of service.
    static func record(from row: Row, account: AccountID) -> TokenSetRecord? {
        var reader = ColumnReader(row, account: account, from: 0)
        let set = reader.text().flatMap(TokenSet.init(text:))
        let scopes = reader.text().map { $0.split(separator: "\n").map(String.init) }
        guard let set, let times = try? times(from: &reader) else { return nil }
        return TokenSetRecord(set: set, times: times, grantedScopes: scopes)
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
    /// By the wall clock as it was when the token was issued.
    fileprivate var end: Timestamp { issuedAt.wall + lifetime }
}
