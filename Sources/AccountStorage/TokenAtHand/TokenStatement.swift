import Foundation
import GRDB
import GRDBSQLite
import RefreshCore

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

    /// Looks among the tokens at hand, then where they are copied from.
    private let atHand: Statement
    private let byName: Statement
    private let beginning: Statement
    private let ending: Statement
    /// Where the end of a name's place says; whoever was there before goes.
    private var recent = noneRecent
    /// How many rows had been changed when `recent` was begun.
    private var changes: Int64 = 0

    init(_ db: Database) throws {
        atHand = try db.makeStatement(sql: StoreStatement.tokenAtHand.sql)
        byName = try db.makeStatement(sql: StoreStatement.tokenByName.sql)
        beginning = try db.makeStatement(sql: "BEGIN")
        ending = try db.makeStatement(sql: "COMMIT")
    }

    /// Nil if there is none, or what is stored of it is damaged.
    func token(of name: String, _ sealer: Sealer) -> DatedToken? {
        forgetIfChanged()
        let place = TokenAtHand.place(of: name.utf8)
        let slot = Int(place & Int64(Self.recentMax - 1))
        // The place, too: SQLite compares bytes, Swift what a reader sees.
        if let known = recent[slot], known.place == place, known.name == name { return known.token }
        beginReading()
        guard let token = token(of: name, at: place, by: atHand, sealer) ?? token(of: name, by: byName, sealer) else {
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
        unsafe sqlite3_get_autocommit(sqlite3_db_handle(atHand.sqliteStatement)) == 0
    }

    /// Lets go of the tokens found before the last change, which erases them.
    func forgetIfChanged() {
        let now = unsafe sqlite3_total_changes64(sqlite3_db_handle(atHand.sqliteStatement))
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
            ColumnReader.isPlausible(wall), ColumnReader.isPlausible(lifetime), ColumnReader.isPlausible(refreshAfter)
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
