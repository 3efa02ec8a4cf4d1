import Foundation
import GRDB
import GRDBSQLite
package import RefreshCore
internal import Synchronization

/// Reads access tokens for threads other than that of the store's owner.
///
/// It returns what is stored at that moment. Earlier results are reused only if nothing was written since. It never
/// waits: while the owner uses the database, it returns nil and the caller has to ask the owner.
package final class TokenReader: Sendable {
    private let database: SharedDatabase
    private let sealer: Mutex<Sealer>
    /// Whether the owner knows something that is not in the store yet.
    private let isBehind = Atomic<Bool>(false)

    init(_ database: SharedDatabase, sealer: Sealer) {
        self.database = database
        self.sealer = Mutex(sealer)
    }

    /// The token of the account of this name. It is nil if the caller has to ask the owner: there is no token, not
    /// every caller may have it, its row is damaged, or the owner is using the database.
    package func token(of name: String) -> DatedToken? {
        guard !isBehind.load(ordering: .acquiring) else { return nil }
        return database.tokenIfFree(of: name, sealer.withLock(\.self))
    }

    /// Makes everybody ask the owner, while the owner knows something that is not in the store yet.
    package func setBehind(_ isBehind: Bool) {
        self.isBehind.store(isBehind, ordering: .releasing)
    }

    func use(_ sealer: Sealer) {
        self.sealer.withLock { $0 = sealer }
    }
}

/// An account's access token, with everything that says how long it is valid.
package struct DatedToken: Sendable {
    package let token: AccessToken
    package let times: AccessTokenTimes

    package init(token: AccessToken, times: AccessTokenTimes) {
        self.token = token
        self.times = times
    }
}

/// The table `token_at_hand`: a copy of the access tokens that every caller may have, with all data for an answer in
/// one row.
///
/// The row number is computed from the account's name. With a million accounts, reading one at random touches one page
/// of the disk's cache instead of six.
///
/// Only triggers write the table, in the same transaction as the original, so no writer can forget it. A row is created
/// when a token is stored, and removed as soon as anything about it changes. So existing rows are always right, and for
/// a missing row the original tables are read. A store of an earlier version need not be filled: its tokens appear when
/// they are refreshed.
enum TokenLookup {
    /// The row number for an account's name: FNV-1a, folded to 48 bits to save space in the inner pages.
    ///
    /// With a million names, the chance is one in 300 that two of them share a number. The last stored one then has the
    /// row. The row contains the name, and the other account's token is read from the original tables.
    static func place(of name: some Sequence<UInt8>) -> Int64 {
        let hash = name.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return Int64((hash ^ hash >> 48) & 0xFFFF_FFFF_FFFF)
    }

    /// `place` as an SQL function for the triggers. A connection without it cannot write tokens.
    static let function = DatabaseFunction("name_place", argumentCount: 1, pure: true) { arguments in
        arguments.first.flatMap(String.fromDatabaseValue).map { place(of: $0.utf8) }
    }

    /// The table, and the triggers on the tables that it copies, except those on `account`.
    static let table = """
        CREATE TABLE token_at_hand (
            place INTEGER PRIMARY KEY,             -- name_place(name)
            name TEXT NOT NULL,
            account_id INTEGER NOT NULL,
            \(copied)
        ) STRICT;
        CREATE TRIGGER token_at_hand_inserted AFTER INSERT ON token \(isDefaultAccessToken("new")) BEGIN
            \(copy)
        END;
        CREATE TRIGGER token_at_hand_updated AFTER UPDATE ON token \(isDefaultAccessToken("new")) BEGIN
            \(copy)
        END;
        CREATE TRIGGER token_at_hand_erased AFTER DELETE ON token \(isDefaultAccessToken("old")) BEGIN
            \(erase(placeOf("old.account_id")))
        END;
        CREATE TRIGGER token_at_hand_aside AFTER INSERT ON set_aside BEGIN
            \(erase(placeOf("new.account_id")))
        END;
        """

    static let accountTriggers = """
        CREATE TRIGGER token_at_hand_outdated AFTER UPDATE OF \(outdating) ON account \(isOutdated) BEGIN
            \(erase("name_place(old.name)"))
        END;
        CREATE TRIGGER token_at_hand_renamed AFTER UPDATE OF name ON account WHEN new.name <> old.name BEGIN
            \(erase("name_place(old.name)"))
        END;
        CREATE TRIGGER token_at_hand_orphaned AFTER DELETE ON account BEGIN
            \(erase("name_place(old.name)"))
        END;
        """

    private static let copy = """
        INSERT OR REPLACE INTO token_at_hand
            SELECT name_place(name), name, id, new.generation, new.type, new.sealed, \(times) FROM account
            \(isForAll)
        """

    private static func erase(_ place: String) -> String {
        "DELETE FROM token_at_hand WHERE place = \(place);"
    }

    private static func placeOf(_ account: String) -> String {
        "(SELECT name_place(name) FROM account WHERE id = \(account))"
    }
}

/// The parts of the statements.
extension TokenLookup {
    private static let copied = """
        generation INTEGER NOT NULL,
            type TEXT,
            sealed BLOB NOT NULL,
            access_wall_usec INTEGER NOT NULL,
            access_boot_id INTEGER NOT NULL,
            access_boot_usec INTEGER NOT NULL,
            access_lifetime_usec INTEGER NOT NULL,
            access_refresh_after_usec INTEGER NOT NULL
        """

    private static let timeColumns = [
        "access_wall_usec", "access_boot_id", "access_boot_usec", "access_lifetime_usec", "access_refresh_after_usec",
    ]
    private static let times = timeColumns.joined(separator: ", ")
    private static let outdating = "\(times), allowed_callers"
    private static let isOutdated =
        "WHEN " + (timeColumns + ["allowed_callers"]).map { "new.\($0) IS NOT old.\($0)" }.joined(separator: " OR ")

    private static func isDefaultAccessToken(_ row: String) -> String {
        "WHEN \(row).kind = 'access' AND \(row).target = ''"
    }

    private static let isForAll = """
        WHERE id = new.account_id AND allowed_callers IS NULL
            AND \(timeColumns.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
            AND NOT EXISTS (SELECT 1 FROM set_aside WHERE set_aside.account_id = id);
        """
}

/// Finds an access token that every caller may have, by the account's name.
///
/// This query runs far more often than all others together, and GRDB's rows and queue take longer than SQLite. So it
/// uses SQLite's own calls on a prepared statement.
///
/// The last tokens found are cached until anything in the database changes. SQLite counts the changes, so no writer can
/// forget to report one.
@safe final class TokenStatement {
    /// The size of the cache. Few programs ask again and again. Each entry costs its token's bytes and 200 more. It is
    /// a power of two.
    private static let recentMax = 64
    private static let noneRecent = [Recent?](repeating: nil, count: recentMax)

    private struct Recent {
        let place: Int64
        let name: String
        let token: DatedToken
    }

    /// Reads the copy first, then the original tables.
    private let lookup: Statement
    private let byName: Statement
    private let beginning: Statement
    private let ending: Statement
    /// The cache. The last bits of a name's row number give its slot, and a new entry replaces the old one.
    private var recent = noneRecent
    /// SQLite's count of changed rows when `recent` was begun.
    private var changes: Int64 = 0

    init(_ db: Database) throws {
        lookup = try db.makeStatement(sql: StoreStatement.tokenLookup.sql)
        byName = try db.makeStatement(sql: StoreStatement.tokenByName.sql)
        beginning = try db.makeStatement(sql: "BEGIN")
        ending = try db.makeStatement(sql: "COMMIT")
    }

    /// The token of the account of this name; nil if there is none, or if its data is damaged.
    func token(of name: String, _ sealer: Sealer) -> DatedToken? {
        forgetIfChanged()
        let place = TokenLookup.place(of: name.utf8)
        let slot = Int(place & Int64(Self.recentMax - 1))
        // Compare the row number as well: SQLite compares bytes, and Swift compares characters.
        if let known = recent[slot], known.place == place, known.name == name { return known.token }
        beginReading()
        guard let token = token(of: name, at: place, by: lookup, sealer) ?? token(of: name, by: byName, sealer) else {
            return nil
        }
        recent[slot] = Recent(place: place, name: name, token: token)
        return token
    }

    /// Begins a transaction for this query and the following ones, until somebody else needs the database. Without it,
    /// SQLite begins a transaction for each query, which asks the kernel for the file's length.
    private func beginReading() {
        guard !isReading else { return }
        // If this fails, each query has its own transaction.
        unsafe sqlite3_step(beginning.sqliteStatement)
        unsafe sqlite3_reset(beginning.sqliteStatement)
    }

    /// Ends the shared transaction. Call it before anybody else uses the database.
    func endReading() {
        guard isReading else { return }
        unsafe sqlite3_step(ending.sqliteStatement)
        unsafe sqlite3_reset(ending.sqliteStatement)
    }

    private var isReading: Bool {
        unsafe sqlite3_get_autocommit(sqlite3_db_handle(lookup.sqliteStatement)) == 0
    }

    /// Clears and erases the cached tokens if anything has changed since.
    func forgetIfChanged() {
        let now = unsafe sqlite3_total_changes64(sqlite3_db_handle(lookup.sqliteStatement))
        guard now != changes else { return }
        changes = now
        recent = Self.noneRecent
    }

    /// Runs one of the statements.
    ///
    /// - Parameter place: the row number; nil if the statement does not use it.
    private func token(
        of name: String,
        at place: Int64? = nil,
        by statement: Statement,
        _ sealer: Sealer
    ) -> DatedToken? {
        let handle = unsafe statement.sqliteStatement
        var name = name
        return name.withUTF8 { text in
            defer {
                unsafe sqlite3_reset(handle)
                unsafe sqlite3_clear_bindings(handle)
            }
            if let place { unsafe sqlite3_bind_int64(handle, 2, place) }
            // SQLite need not copy the text, because the binding is removed before this returns.
            let length = Int32(clamping: text.count)
            let isBound = unsafe text.withMemoryRebound(to: CChar.self) { text in
                unsafe sqlite3_bind_text(handle, 1, text.baseAddress, length, nil) == SQLITE_OK
            }
            guard isBound, unsafe sqlite3_step(handle) == SQLITE_ROW else { return nil }
            return unsafe Self.token(in: handle, sealer)
        }
    }

    private static func token(in handle: OpaquePointer, _ sealer: Sealer) -> DatedToken? {
        guard let account = unsafe integer(0, of: handle), let generation = unsafe integer(1, of: handle),
            let times = unsafe times(from: 4, of: handle), let sealed = unsafe sqlite3_column_blob(handle, 3)
        else { return nil }
        let place = TokenPlace(account: AccountID(account), kind: .access, generation: Generation(generation))
        let bytes = unsafe Data(bytes: sealed, count: Int(sqlite3_column_bytes(handle, 3)))
        guard let secret = try? sealer.open(bytes, at: place.sealedPlace) else { return nil }
        let type = unsafe sqlite3_column_text(handle, 2).map { unsafe String(cString: $0) }
        return DatedToken(token: AccessToken(secret, type: type ?? "Bearer"), times: times)
    }

    /// The five columns of an access token's times, from `column` on; nil if one is missing or impossible.
    private static func times(from column: Int32, of handle: OpaquePointer) -> AccessTokenTimes? {
        guard let wall = unsafe integer(column, of: handle), let bootID = unsafe integer(column + 1, of: handle),
            let boot = unsafe integer(column + 2, of: handle), let lifetime = unsafe integer(column + 3, of: handle),
            let refreshAfter = unsafe integer(column + 4, of: handle),
            PlausibleTime.range.contains(wall), PlausibleTime.range.contains(lifetime),
            PlausibleTime.range.contains(refreshAfter)
        else { return nil }
        return AccessTokenTimes(
            issuedAt: Moment(
                wall: Timestamp(microseconds: wall),
                boot: BootTime(bootID: bootID, microseconds: boot)
            ),
            lifetime: .microseconds(lifetime),
            refreshAfter: .microseconds(refreshAfter)
        )
    }

    private static func integer(_ column: Int32, of handle: OpaquePointer) -> Int64? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(handle, column)
    }
}
