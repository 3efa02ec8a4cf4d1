package import RefreshCore

/// Why the store could not do what it was asked to; no case carries the value of a secret column.
///
/// After `gone`, `diskFull`, `readOnly` and `inputOutput` nothing of the refused write is stored, and the store stays usable: the same
/// call may be repeated later.
package enum StoreError: Error, Hashable, Sendable {
    /// Another process has the database open; `pid` is nil if it could not be found out.
    case inUse(path: String, pid: Int32?)
    /// The file's contents contradict each other.
    case corrupt(path: String)
    /// The file is not an SQLite database.
    case notADatabase(path: String)
    /// The file is an SQLite database, but another program's.
    case notAStore(path: String)
    /// The file was written by a newer version; `found` and `known` are numbers of the schema.
    case newerSchema(path: String, found: Int, known: Int)
    /// The file was written by a development version that is too old; `found` and `oldest` are numbers of the schema.
    case olderSchema(path: String, found: Int, oldest: Int)
    /// The secrets were sealed with another key; both are named by their identifiers.
    case wrongKey(path: String, expected: String, given: String)
    /// The path leads to another file than the open one, or to none: what was written now would go with it.
    case gone(path: String)
    case readOnly(path: String)
    case diskFull(path: String)
    /// Reading or writing failed below SQLite; `code` is its extended result code.
    case inputOutput(path: String, code: Int32)
    /// `code` is an `errno` value.
    case cannotOpen(path: String, code: Int32)
    /// The file or its folder belongs to another user.
    case notOurs(path: String, owner: UInt32)
    /// SQLite refused for a reason that has no case of its own; `code` is its extended result code.
    case refused(path: String, code: Int32)

    /// A secret does not open: it was altered, or moved here from another row.
    case sealBroken(AccountID, column: SealedColumn)
    /// A column holds what this version never writes.
    case damagedRow(AccountID, column: String, ColumnFlaw)
    /// The write was decided on a state that is no longer the stored one; `base` is the generation it was decided on.
    case staleGeneration(AccountID, stored: Generation, base: Generation)
    /// The write would leave the account's generation without its refresh token.
    case refreshTokenMissing(AccountID, Generation)
    case noSuchAccount(AccountID)
    case nameTaken(AccountName)
    case noSuchIssuer(IssuerID)

    /// The backup's file exists already.
    case backupExists(path: String)
    /// The store is being sealed with a new key: a copy made now would take both, and one of them is about to be destroyed.
    case beingResealed(path: String)
    /// The copy was found to be damaged, and was removed.
    case backupDamaged(path: String)
    /// The backup cannot take the store's place; the store is as it was.
    indirect case notRestorable(path: String, cause: StoreError)
}
