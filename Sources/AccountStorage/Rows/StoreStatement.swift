import Foundation
import GRDB
import GRDBSQLite
import RefreshCore

/// The statements that must be fast with a million accounts. Each finds its rows through an index.
///
/// They are in one place so that a test can check every plan.
enum StoreStatement: Int, CaseIterable {
    case recordByID, recordByName, recordsAfterName, namesAfterName, recordsAfterID, callersByName
    case dueOnline, dueOffline, dueOfIssuer, recordsDueOfIssuer
    case nextDeadlineOnline, nextDeadlineOffline
    case signOutDue, signOutDueByWall, nextSignOut, nextSignOutByWall
    case nextIssuer
    case leased, countLeased, awaitingConnectivity, aside
    case token, tokenGeneration
    case issuer, issuerByURL
    case meta
    case commit, grantFacts, setAside, unschedule, reschedule, rename, remove
    case replaceToken, eraseTokens, eraseTokensOfKind, pruneRefreshTokens
    case copiedTokens, pruneCopiedTokens
    case accountsToReseal, tokensToReseal, resealClientSecret, resealClientKey, resealDPoPKey, resealRegistrationToken,
        resealToken
    case target, targets, firstTarget, eraseTarget, eraseTargets, eraseOldTargets
    case asideAmong, targetsAmong
    case accountByAddress, accountsByAddressAndUser, addressAfter
    case troubled, withTokenFile, ofTokenFile
    case ofPerson, derivedBySubject, derivedByActor, lackingSource, renameSubject, renameActor

    var sql: String { Self.texts[rawValue] }

    /// All are built once, because many run for each account of a batch.
    private static let texts = allCases.map(\.text)

    private var text: String {
        switch self {
        case .recordByID: "\(Self.record) WHERE id = ?"
        case .recordByName: "\(Self.record) WHERE name = ?"
        case .recordsAfterName: "\(Self.record) WHERE name > ? ORDER BY name LIMIT ?"
        case .namesAfterName: "SELECT name FROM account WHERE name > ? ORDER BY name LIMIT ?"
        case .callersByName: "SELECT allowed_callers FROM account WHERE name = ?"
        case .recordsAfterID: "\(Self.record) WHERE id > ? ORDER BY id LIMIT ?"
        case .dueOnline:
            "SELECT id, issuer_id FROM account WHERE deadline_usec > ? AND deadline_usec <= ? ORDER BY deadline_usec"
        case .dueOffline:
            """
            SELECT id, issuer_id FROM account WHERE needs_route = 0 AND deadline_usec > ? AND deadline_usec <= ?
            ORDER BY deadline_usec
            """
        case .dueOfIssuer: "SELECT id, deadline_usec FROM account \(Self.isDueOfIssuer)"
        case .recordsDueOfIssuer: "\(Self.record) \(Self.isDueOfIssuer)"
        case .nextDeadlineOnline:
            "SELECT deadline_usec FROM account WHERE deadline_usec > ? ORDER BY deadline_usec LIMIT 1"
        case .nextDeadlineOffline:
            """
            SELECT deadline_usec FROM account WHERE needs_route = 0 AND deadline_usec > ?
            ORDER BY deadline_usec LIMIT 1
            """
        case .signOutDue:
            """
            SELECT id FROM account WHERE sign_out_next_usec IS NOT NULL
            AND sign_out_boot_id = ? AND \(Schema.signOutBoot) <= ? AND \(Self.isNotAside) ORDER BY \(Schema.signOutBoot) LIMIT ?
            """
        case .signOutDueByWall:
            """
            SELECT id FROM account WHERE sign_out_next_usec IS NOT NULL
            AND sign_out_boot_id <> ? AND \(Schema.signOutWall) <= ? AND \(Self.isNotAside) ORDER BY \(Schema.signOutWall) LIMIT ?
            """
        case .nextSignOut:
            """
            SELECT \(Schema.signOutBoot) FROM account WHERE sign_out_next_usec IS NOT NULL
            AND sign_out_boot_id = ? AND \(Schema.signOutBoot) > ? ORDER BY \(Schema.signOutBoot) LIMIT 1
            """
        case .nextSignOutByWall:
            """
            SELECT \(Schema.signOutWall) FROM account WHERE sign_out_next_usec IS NOT NULL
            AND sign_out_boot_id <> ? AND \(Schema.signOutWall) > ? ORDER BY \(Schema.signOutWall) LIMIT 1
            """
        case .nextIssuer:
            "SELECT issuer_id FROM account WHERE issuer_id > ? ORDER BY issuer_id LIMIT 1"
        case .leased:
            """
            SELECT id FROM account WHERE phase = 'refreshing' AND deadline_usec IS NOT NULL AND id > ? ORDER BY id LIMIT ?
            """
        case .countLeased:
            "SELECT count(*) FROM account WHERE phase = 'refreshing' AND deadline_usec IS NOT NULL AND id > 0"
        case .awaitingConnectivity:
            """
            SELECT id FROM account WHERE phase IN ('backingOff', 'interactionRequired') AND deadline_usec IS NOT NULL
            AND (back_off_kind IN ('transient', 'misconfigured') OR failure_class = 'refusedHere') AND id > ?
            ORDER BY id LIMIT ?
            """
        case .token:
            "SELECT sealed FROM token WHERE account_id = ? AND kind = ? AND target = ? AND generation = ?"
        case .tokenGeneration:
            "SELECT generation, sealed, type FROM token WHERE account_id = ? AND kind = ? AND target = ? LIMIT 1"
        case .issuer: "SELECT url FROM issuer WHERE id = ?"
        case .issuerByURL: "SELECT id FROM issuer WHERE url = ?"
        case .meta: "SELECT value FROM meta WHERE key = ?"
        // The check of the generation is part of the statement, so no time passes between the check and the write.
        case .commit:
            """
            UPDATE account SET \(StateColumns.names.map { "\($0) = ?" }.joined(separator: ", ")),
                basic_encoding = coalesce(?, basic_encoding)
            WHERE id = ? AND generation <= ?
            """
        case .grantFacts: "UPDATE account SET subject = ?, kept_fields = ?, grant_facts = ? WHERE id = ?"
        case .aside: "SELECT account_id FROM set_aside WHERE account_id > ? ORDER BY account_id LIMIT ?"
        case .setAside:
            """
            INSERT INTO set_aside (account_id, deadline_usec) SELECT id, deadline_usec FROM account WHERE id = ?
            ON CONFLICT DO NOTHING
            """
        case .unschedule: "UPDATE account SET deadline_usec = NULL WHERE id = ? AND deadline_usec IS NOT NULL"
        case .reschedule:
            """
            UPDATE account SET deadline_usec =
                coalesce(deadline_usec, (SELECT deadline_usec FROM set_aside WHERE account_id = ?1))
            WHERE id = ?1
            """
        case .rename: "UPDATE account SET name = ? WHERE id = ?"
        case .remove: "DELETE FROM account WHERE id = ?"
        case .replaceToken:
            "UPDATE token SET generation = ?, type = ?, sealed = ? WHERE account_id = ? AND kind = ? AND target = ?"
        case .eraseTokens: "DELETE FROM token WHERE account_id = ?"
        case .eraseTokensOfKind: "DELETE FROM token WHERE account_id = ? AND kind = ? AND target = ?"
        case .pruneRefreshTokens:
            "DELETE FROM token WHERE account_id = ? AND kind = 'refresh' AND generation NOT IN (?, ?)"
        case .copiedTokens: "SELECT generation, sealed FROM token WHERE account_id = ? AND kind = 'copied'"
        case .pruneCopiedTokens:
            """
            DELETE FROM token WHERE account_id = ?1 AND kind = 'copied' AND target = '' AND generation <= (
                SELECT generation FROM token WHERE account_id = ?1 AND kind = 'copied' AND target = ''
                ORDER BY generation DESC LIMIT 1 OFFSET ?2
            )
            """
        case .accountsToReseal:
            """
            SELECT id, client_secret, client_key, dpop_key, registration_token FROM account
            WHERE id > ? ORDER BY id LIMIT ?
            """
        case .tokensToReseal:
            """
            SELECT rowid, account_id, kind, target, generation, sealed FROM token
            WHERE account_id > ? AND account_id <= ?
            """
        case .resealClientSecret: "UPDATE account SET client_secret = ? WHERE id = ?"
        case .resealClientKey: "UPDATE account SET client_key = ? WHERE id = ?"
        case .resealDPoPKey: "UPDATE account SET dpop_key = ? WHERE id = ?"
        case .resealRegistrationToken: "UPDATE account SET registration_token = ? WHERE id = ?"
        case .resealToken: "UPDATE token SET sealed = ? WHERE rowid = ?"
        case .target: "\(Self.targets.text) AND target = ?"
        case .targets: "SELECT \(TokenTargetColumns.recordColumns) FROM token_set WHERE account_id = ?"
        case .firstTarget: "SELECT target FROM token_set WHERE account_id = ? LIMIT 1"
        case .eraseTarget: "DELETE FROM token_set WHERE account_id = ? AND target = ?"
        case .eraseTargets: "DELETE FROM token_set WHERE account_id = ?"
        case .eraseOldTargets:
            "DELETE FROM token_set WHERE account_id = ? AND access_wall_usec + access_lifetime_usec < ?"
        case .asideAmong: "SELECT account_id FROM set_aside WHERE account_id > ? AND account_id <= ?"
        case .accountByAddress:
            """
            SELECT name, account_url.username FROM account_url JOIN account ON id = account_id
            WHERE url = ? ORDER BY account_id LIMIT 1
            """
        case .accountsByAddressAndUser:
            """
            SELECT name, account_url.username FROM account_url JOIN account ON id = account_id
            WHERE url = ? AND account_url.username IS ? COLLATE NOCASE ORDER BY account_id LIMIT 10
            """
        case .addressAfter:
            """
            SELECT url, spelling, name, account_url.username FROM account_url JOIN account ON id = account_id
            WHERE url > ? ORDER BY url, account_id LIMIT 1
            """
        case .troubled:
            "SELECT id FROM account WHERE phase IN ('backingOff', 'interactionRequired') AND id > ? ORDER BY id LIMIT ?"
        // Every text is >= ''. SQLite's planner uses a partial index only for exactly the condition in its definition.
        case .withTokenFile:
            """
            SELECT id FROM account WHERE \(Schema.tokenFile) IS NOT NULL AND \(Schema.tokenFile) >= ''
            ORDER BY \(Schema.tokenFile) LIMIT ?
            """
        case .ofTokenFile:
            """
            SELECT id, name FROM account WHERE \(Schema.tokenFile) IS NOT NULL AND \(Schema.tokenFile) = ? ORDER BY id LIMIT 2
            """
        case .ofPerson:
            """
            SELECT id FROM account
            WHERE subject = ? AND issuer_id = (SELECT id FROM issuer WHERE url = ?) ORDER BY id LIMIT ?
            """
        case .derivedBySubject: "SELECT id FROM account WHERE subject_id = ? LIMIT ?"
        case .derivedByActor: "SELECT id FROM account WHERE actor_id = ? LIMIT ?"
        case .lackingSource: "SELECT id FROM account WHERE subject_id > 0 AND interaction_reason = ?"
        case .renameSubject: "UPDATE account SET subject_account = ? WHERE subject_id = ?"
        case .renameActor: "UPDATE account SET actor_account = ? WHERE actor_id = ?"
        case .targetsAmong:
            """
            SELECT \(TokenTargetColumns.recordColumns), account_id FROM token_set WHERE account_id > ? AND account_id <= ?
            """
        }
    }

    private static let isDueOfIssuer = """
        WHERE issuer_id = ?1 AND deadline_usec <= ?2
        AND EXISTS (SELECT 1 FROM issuer WHERE id = ?1 AND needs_route <= ?3)
        ORDER BY deadline_usec LIMIT ?4
        """

    private static let record = "SELECT \(AccountColumns.recordColumns) FROM account"
    // Nothing can be decided about an account that cannot be read.
    private static let isNotAside = "NOT EXISTS (SELECT 1 FROM set_aside WHERE account_id = account.id)"
}

extension Database {
    /// The accounts whose numbers a statement returns.
    func accounts(_ statement: StoreStatement, _ arguments: StatementArguments) throws -> [AccountID] {
        try Int64.fetchAll(cachedStatement(sql: statement.sql), arguments: arguments).map(AccountID.init)
    }
}

/// A value for a parameter of a statement.
enum SQLValue: Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob(Data)

    init(_ number: Int64?) { self = number.map(SQLValue.integer) ?? .null }
    init(_ number: Int?) { self.init(number.map(Int64.init)) }
    init(_ flag: Bool?) { self.init(flag.map { $0 ? Int64(1) : 0 }) }
    init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }
    init(_ bytes: Data?) { self = bytes.map(SQLValue.blob) ?? .null }
}

/// Statements that run for every refresh, with SQLite's own calls. GRDB's arguments and its bookkeeping for observers,
/// of which we have none, take as long as the statement itself.
extension Database {
    /// Runs a statement that writes and returns no rows. It stays prepared.
    ///
    /// - Returns: how many rows it changed.
    /// - Throws: `DatabaseError`.
    @discardableResult
    func run(_ statement: StoreStatement, _ values: [SQLValue]) throws -> Int {
        try cachedStatement(sql: statement.sql).run(values)
    }

    /// The bytes in the first column of the first row; nil if there is no row, or if the value is not bytes.
    ///
    /// - Throws: `DatabaseError`.
    func bytes(_ statement: StoreStatement, _ values: [SQLValue]) throws -> Data? {
        try cachedStatement(sql: statement.sql).bytes(values)
    }
}

extension Statement {
    /// Like the method above, for a statement that is already prepared.
    @discardableResult
    func run(_ values: [SQLValue]) throws -> Int {
        let handle = unsafe sqliteStatement
        defer { unsafe sqlite3_reset(handle) }
        try bind(values)
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_DONE else { throw failure(code) }
        return unsafe Int(sqlite3_changes(sqlite3_db_handle(handle)))
    }

    fileprivate func bytes(_ values: [SQLValue]) throws -> Data? {
        let handle = unsafe sqliteStatement
        defer { unsafe sqlite3_reset(handle) }
        try bind(values)
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_ROW else {
            guard code == SQLITE_DONE else { throw failure(code) }
            return nil
        }
        return unsafe sqlite3_column_blob(handle, 0).map {
            unsafe Data(bytes: $0, count: Int(sqlite3_column_bytes(handle, 0)))
        }
    }

    /// Gives each parameter its value, so that values of the last run are never reused.
    private func bind(_ values: [SQLValue]) throws {
        let handle = unsafe sqliteStatement
        precondition(
            unsafe sqlite3_bind_parameter_count(handle) == values.count,
            "a statement is given a value for each parameter"
        )
        var index: Int32 = 0
        for value in values {
            index += 1
            let code = unsafe value.bind(to: handle, at: index)
            guard code == SQLITE_OK else { throw failure(code) }
        }
    }

    private func failure(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code))
    }
}

extension SQLValue {
    /// Makes SQLite copy each value, because it may be freed before the statement runs.
    private static var copied: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    fileprivate func bind(to handle: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null:
            return unsafe sqlite3_bind_null(handle, index)
        case .integer(let number):
            return unsafe sqlite3_bind_int64(handle, index, number)
        case .text(var text):
            return text.withUTF8 { text in
                // An empty buffer may have a null pointer, which SQLite would take as NULL.
                guard !text.isEmpty else { return unsafe sqlite3_bind_text(handle, index, "", 0, Self.copied) }
                return unsafe text.withMemoryRebound(to: CChar.self) { text in
                    unsafe sqlite3_bind_text(handle, index, text.baseAddress, Int32(clamping: text.count), Self.copied)
                }
            }
        case .blob(let bytes):
            return unsafe bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
                return unsafe sqlite3_bind_blob(handle, index, start, Int32(clamping: bytes.count), Self.copied)
            }
        }
    }
}
