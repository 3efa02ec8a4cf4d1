import Foundation
import GRDB
import GRDBSQLite
package import RefreshCore
internal import Synchronization

/// Finds the access token of an account for callers on other threads than the store's owner's.
///
/// It tells what is stored at that very moment: what it found before is used again only as long as nothing was written since. It never
/// waits: while the owner is at work in the database, the owner has to be asked.
package final class TokenReader: Sendable {
    private let database: SharedDatabase
    private let sealer: Mutex<Sealer>
    /// Whether the owner knows what is not in the store yet.
    private let isBehind = Atomic<Bool>(false)

    init(_ database: SharedDatabase, sealer: Sealer) {
        self.database = database
        self.sealer = Mutex(sealer)
    }

    /// The token of the account of this name; nil if the owner has to be asked: there is none, it is not for every caller, its row is
    /// damaged, or the owner is at work.
    package func token(of name: String) -> DatedToken? {
        guard !isBehind.load(ordering: .acquiring) else { return nil }
        return database.tokenIfFree(of: name, sealer.withLock(\.self))
    }

    /// Has everybody ask the owner, while the owner knows what is not in the store yet.
    package func setBehind(_ isBehind: Bool) {
        self.isBehind.store(isBehind, ordering: .releasing)
    }

    func use(_ sealer: Sealer) {
        self.sealer.withLock { $0 = sealer }
    }
}

/// An account's access token, with all that says how long it is good.
package struct DatedToken: Sendable {
    package let token: AccessToken
    package let times: AccessTokenTimes

    package init(token: AccessToken, times: AccessTokenTimes) {
        self.token = token
        self.times = times
    }
}

/// The table `token_at_hand`: a copy of the access tokens that are for every caller, each with all that an answer needs in one row.
///
/// A row stands where the account's name says: with a million accounts, whoever is asked for one of them at random reads one page from
/// the disk's cache instead of six.
///
/// Only triggers write it, so that no writer can forget to, and it changes in the same transaction as what it is a copy of. A row is
/// made whenever a token is stored, and is gone as soon as anything about it changes: what stands there is always right, and what does
/// not is looked for where it is a copy of. So a store of an earlier version needs no filling: its tokens come one by one, as they
/// are refreshed.
enum TokenLookup {
    /// Where the token of the account of this name stands in the copy: FNV-1a, folded to 48 bits so that it is short in the inner
    /// pages.
    ///
    /// A million names have the same place in one case of 300, and it is that of two of them. Then the last one stored has it: the row
    /// holds the name, and the other's token is found where it is copied from.
    static func place(of name: some Sequence<UInt8>) -> Int64 {
        let hash = name.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return Int64((hash ^ hash >> 48) & 0xFFFF_FFFF_FFFF)
    }

    /// `place` for the triggers. A connection that does not know it cannot write tokens.
    static let function = DatabaseFunction("name_place", argumentCount: 1, pure: true) { arguments in
        arguments.first.flatMap(String.fromDatabaseValue).map { place(of: $0.utf8) }
    }

    /// The table, and the triggers of the tables that it is copied from, but for those of `account`.
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

/// The parts of which the statements are made.
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

/// Finds the access token that is for every caller, by the account's name: SQLite's own calls on a statement that stays prepared,
/// because this is asked far more often than everything else together, and GRDB's rows and queue take longer than SQLite.
///
/// The tokens found last are kept for whoever asks again, until anything at all is changed in the database. SQLite itself counts the
/// changes, so that there is no writer who could forget to say so.
@safe final class TokenStatement {
    /// Programs that ask again and again are few; each costs its token's bytes and 200 more. A power of two.
    private static let recentMax = 64
    private static let noneRecent = [Recent?](repeating: nil, count: recentMax)

    private struct Recent {
        let place: Int64
        let name: String
        let token: DatedToken
    }

    /// Looks in the copy, then where it is made from.
    private let lookup: Statement
    private let byName: Statement
    private let beginning: Statement
    private let ending: Statement
    /// Where the end of a name's place says; whoever was there before goes.
    private var recent = noneRecent
    /// How many rows had been changed when `recent` was begun.
    private var changes: Int64 = 0

    init(_ db: Database) throws {
        lookup = try db.makeStatement(sql: StoreStatement.tokenLookup.sql)
        byName = try db.makeStatement(sql: StoreStatement.tokenByName.sql)
        beginning = try db.makeStatement(sql: "BEGIN")
        ending = try db.makeStatement(sql: "COMMIT")
    }

    /// Nil if there is none, or what is stored of it is damaged.
    func token(of name: String, _ sealer: Sealer) -> DatedToken? {
        forgetIfChanged()
        let place = TokenLookup.place(of: name.utf8)
        let slot = Int(place & Int64(Self.recentMax - 1))
        // The place, too: SQLite compares bytes, Swift what a reader sees.
        if let known = recent[slot], known.place == place, known.name == name { return known.token }
        beginReading()
        guard let token = token(of: name, at: place, by: lookup, sealer) ?? token(of: name, by: byName, sealer) else {
            return nil
        }
        recent[slot] = Recent(place: place, name: name, token: token)
        return token
    }

    /// Begins a transaction for this question and those that come before somebody else wants the database. Without one SQLite makes
    /// one for each, which asks the kernel for the file's length.
    private func beginReading() {
        guard !isReading else { return }
        // Should it fail, each question has its own.
        unsafe sqlite3_step(beginning.sqliteStatement)
        unsafe sqlite3_reset(beginning.sqliteStatement)
    }

    /// Ends what the questions share: to be called before anybody else uses the database.
    func endReading() {
        guard isReading else { return }
        unsafe sqlite3_step(ending.sqliteStatement)
        unsafe sqlite3_reset(ending.sqliteStatement)
    }

    private var isReading: Bool {
        unsafe sqlite3_get_autocommit(sqlite3_db_handle(lookup.sqliteStatement)) == 0
    }

    /// Lets go of the tokens found before the last change, which erases them.
    func forgetIfChanged() {
        let now = unsafe sqlite3_total_changes64(sqlite3_db_handle(lookup.sqliteStatement))
        guard now != changes else { return }
        changes = now
        recent = Self.noneRecent
    }

    /// - Parameter place: nil if the statement does not ask for it.
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
            // Not copied: the binding is gone when this returns.
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

    /// The five columns of an access token's times, from `column` on; nil if one is missing or cannot be right.
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
