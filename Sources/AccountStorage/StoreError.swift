package import RefreshCore

/// Why a call to the store failed. No case contains the value of a secret column.
///
/// After `gone`, `replaced`, `diskFull`, `fileLimit`, `readOnly` and `inputOutput`, nothing of the refused write is stored, and the store
/// stays usable. The same call may be repeated later.
package enum StoreError: Error, Hashable, Sendable {
    /// Another process has the database open.
    case inUse(path: String, by: StoreHolder)
    /// There is no store, although a daemon had one here since the machine was started. `record` is the file that
    /// remembers it.
    case missing(path: String, record: String)
    /// The file's contents contradict each other.
    case corrupt(path: String)
    /// The file is not an SQLite database.
    case notADatabase(path: String)
    /// A symbolic link is where the store should be.
    case isLink(path: String)
    /// The file is an SQLite database of another program.
    case notAStore(path: String)
    /// A newer version wrote the file; `found` and `known` are schema numbers.
    case newerSchema(path: String, found: Int, known: Int)
    /// A development version that is too old wrote the file; `found` and `oldest` are schema numbers.
    case olderSchema(path: String, found: Int, oldest: Int)
    /// The secrets were sealed with another key. Both keys are given by their identifiers.
    case wrongKey(path: String, expected: String, given: String)
    /// The path of the open store leads to nothing. A write would be lost with the open file.
    case gone(path: String)
    /// The path of the open store leads to another file, as when a mount covers the folder.
    case replaced(path: String)
    case readOnly(path: String)
    case diskFull(path: String)
    /// A limit of this process or of the file system keeps a file of the store from growing.
    case fileLimit(path: String)
    /// Reading or writing failed below SQLite; `code` is its extended result code.
    case inputOutput(path: String, code: Int32)
    /// The file cannot be opened; `code` is an `errno` value.
    case cannotOpen(path: String, code: Int32)
    /// The file or its folder belongs to another user.
    case notOurs(path: String, owner: UInt32)
    /// SQLite refused for a reason that has no case of its own; `code` is its extended result code.
    case refused(path: String, code: Int32)
    /// There is no key to open the store with.
    case key(StoreKeyError)

    /// A secret cannot be opened: it was altered, or moved from another row.
    case sealBroken(AccountID, column: SealedColumn)
    /// A column has a value that this version never writes.
    case damagedRow(AccountID, column: String, ColumnFinding)
    /// The write was based on a state that is no longer the stored one; `base` is the generation of that state.
    case staleGeneration(AccountID, stored: Generation, base: Generation)
    /// The write would leave the account's generation without its refresh token.
    case refreshTokenMissing(AccountID, Generation)
    case noSuchAccount(AccountID)
    case nameTaken(AccountName)
    case noSuchIssuer(IssuerID)

    /// The backup's file exists already.
    case backupExists(path: String)
    /// The store's key is being changed. A copy made now would need both keys, and one of them will soon be destroyed.
    case beingResealed(path: String)
    /// The copy is damaged and was removed.
    case backupDamaged(path: String)
    /// The backup cannot replace the store, which is unchanged.
    indirect case notRestorable(path: String, cause: StoreError)
}
