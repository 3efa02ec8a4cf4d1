import GRDB
import Glibc
package import RefreshCore

/// Why a call to the store failed. No case contains the value of a secret column.
///
/// After `gone`, `diskFull`, `readOnly` and `inputOutput`, nothing of the refused write is stored, and the store stays
/// usable. The same call may be repeated later.
package enum StoreError: Error, Hashable, Sendable {
    /// Another process has the database open; `pid` is nil if it is unknown.
    case inUse(path: String, pid: Int32?)
    /// The file's contents contradict each other.
    case corrupt(path: String)
    /// The file is not an SQLite database.
    case notADatabase(path: String)
    /// The file is an SQLite database of another program.
    case notAStore(path: String)
    /// A newer version wrote the file; `found` and `known` are schema numbers.
    case newerSchema(path: String, found: Int, known: Int)
    /// A development version that is too old wrote the file; `found` and `oldest` are schema numbers.
    case olderSchema(path: String, found: Int, oldest: Int)
    /// The secrets were sealed with another key. Both keys are given by their identifiers.
    case wrongKey(path: String, expected: String, given: String)
    /// The path leads to another file than the open one, or to none. A write would be lost with the old file.
    case gone(path: String)
    case readOnly(path: String)
    case diskFull(path: String)
    /// Reading or writing failed below SQLite; `code` is its extended result code.
    case inputOutput(path: String, code: Int32)
    /// The file cannot be opened; `code` is an `errno` value.
    case cannotOpen(path: String, code: Int32)
    /// The file or its folder belongs to another user.
    case notOurs(path: String, owner: UInt32)
    /// SQLite refused for a reason that has no case of its own; `code` is its extended result code.
    case refused(path: String, code: Int32)

    /// A secret cannot be opened: it was altered, or moved from another row.
    case sealBroken(AccountID, column: SealedColumn)
    /// A column has a value that this version never writes.
    case damagedRow(AccountID, column: String, ColumnFlaw)
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

extension StoreError: CustomStringConvertible {
    /// What failed, on what, and why: lower case, no full stop.
    package var description: String {
        switch self {
        case .inUse(let path, let pid?): "the store '\(path)' is in use by process \(pid)"
        case .inUse(let path, nil): "the store '\(path)' is in use by another process"
        case .corrupt(let path): "the store '\(path)' is damaged"
        case .notADatabase(let path): "'\(path)' is not an SQLite database"
        case .notAStore(let path): "'\(path)' is the database of another program"
        case .newerSchema(let path, let found, let known):
            "the store '\(path)' has schema \(found), this version knows schemas up to \(known)"
        case .olderSchema(let path, let found, let oldest):
            "the store '\(path)' has schema \(found), this version reads schemas from \(oldest) on"
        case .wrongKey(let path, let expected, let given):
            "the store '\(path)' was sealed with key \(expected), the key given is \(given)"
        case .gone(let path): "the store '\(path)' was removed or replaced while it was open"
        case .readOnly(let path): "the store '\(path)' cannot be written to"
        case .diskFull(let path): "no space is left for the store '\(path)'"
        case .inputOutput(let path, let code): "reading or writing '\(path)' failed (SQLite \(code))"
        case .cannotOpen(let path, let code): "'\(path)' cannot be opened: \(PosixError(code: code))"
        case .notOurs(let path, let owner): "'\(path)' belongs to another user (uid \(owner))"
        case .refused(let path, let code): "the store '\(path)' refused a statement (SQLite \(code))"
        case .sealBroken(let account, let column):
            "the sealed column '\(column.rawValue)' of account \(account) does not open: it was altered or moved"
        case .damagedRow(let account, let column, let flaw):
            "the column '\(column)' of account \(account) \(flaw)"
        case .staleGeneration(let account, let stored, let base):
            "account \(account) is at generation \(stored), a write for generation \(base) was refused"
        case .refreshTokenMissing(let account, let generation):
            "a write for account \(account) brought no refresh token of generation \(generation), and was refused"
        case .noSuchAccount(let account): "there is no account \(account)"
        case .nameTaken(let name): "an account named '\(name)' exists already"
        case .noSuchIssuer(let issuer): "there is no issuer \(issuer.rawValue)"
        case .backupExists(let path): "'\(path)' exists already"
        case .beingResealed(let path): "the store '\(path)' is being sealed with a new key"
        case .backupDamaged(let path): "the copy at '\(path)' was damaged, and was removed"
        case .notRestorable(let path, let cause): "'\(path)' cannot be restored: \(cause)"
        }
    }

    /// The next step for the user; nil if there is none.
    package var hint: String? {
        switch self {
        case .inUse:
            "stop the other daemon first: systemctl --user stop authrefreshd.service authrefreshd.socket"
        case .corrupt(let path), .notADatabase(let path):
            "stop the daemon and restore a backup: authctl store restore FILE; without a backup, move '\(path)' away with the"
                + " '-wal' beside it, and import the grants again"
        case .damagedRow: "stop the daemon and restore a backup: authctl store restore FILE"
        case .notAStore(let path):
            "move '\(path)' away, or name another folder with --state-dir"
        case .newerSchema(let path, _, _):
            "install the version of authrefreshd that wrote it, or go back to the copy made before the upgrade, which lacks what"
                + " was stored since: authctl store restore '\(path)\(UpgradeCopy.suffix)'"
        case .olderSchema(let path, _, _):
            "start the last version with schema \(Schema.oldest) once: it migrates the store; or move '\(path)' away, and add"
                + " the accounts again"
        case .wrongKey(_, let expected, _):
            "put the key \(expected) back, as the credential or the file 'store-key', or start the keyring that has it; no other key opens this store"
        case .gone(let path):
            "put '\(path)' back where it was, with all that was beside it; or restart the daemon to begin with what is there"
        case .readOnly(let path):
            "make '\(path)' and its folder writable for this user; if its file system has turned read-only,"
                + " journalctl -k says why"
        case .diskFull: "free some space; nothing is lost, and the daemon repeats the write"
        case .inputOutput: "look for disk errors in the kernel's log: journalctl -k"
        case .cannotOpen(let path, _): "check that '\(path)' and its folder exist and are accessible to this user"
        case .notOurs(let path, _): "give '\(path)' to this user, or name another folder with --state-dir"
        case .refused: "this is a fault of authrefreshd: please report it with this message"
        case .sealBroken: "sign in again: authctl login ACCOUNT"
        case .staleGeneration, .refreshTokenMissing, .noSuchAccount, .noSuchIssuer: nil
        case .nameTaken: "choose another name, or change the account with authctl account edit"
        case .backupExists: "name a file that does not exist"
        case .beingResealed: "repeat the command when that is done: authctl store rekey waits for it"
        case .backupDamaged:
            "check the disk that the backup went to, and the store: authctl store check; to keep what there is, damage and all, stop"
                + " the daemon and copy the store's file with the '-wal' beside it"
        case .notRestorable(_, .newerSchema):
            "the store is as it was; install the version of authrefreshd that wrote this file"
        case .notRestorable(_, .olderSchema(_, _, let oldest)):
            "the store is as it was; have the last version with schema \(oldest) restore this file first"
        case .notRestorable(_, .wrongKey(_, let expected, _)):
            "the store is as it was; put the key \(expected) back first, as the credential or the file 'store-key'"
        case .notRestorable: "the store is as it was; name another file"
        }
    }
}

extension ColumnFlaw: CustomStringConvertible {
    /// Completes "the column …".
    package var description: String {
        switch self {
        case .missing: "is empty, or refers to nothing"
        case .unknownWord: "has a word that this version does not know"
        case .notJSON: "has JSON that does not parse"
        case .malformed: "has a malformed text"
        case .outOfRange: "has a number that is out of range"
        }
    }
}

extension StoreError {
    /// Converts an error of SQLite or GRDB.
    ///
    /// Only codes are used, because the message of a `DatabaseError` repeats the statement.
    ///
    /// - Parameter systemError: the `errno` of the last failed operation on the files. It is used if SQLite's own code
    ///   says only that they could not be written.
    init(_ error: any Error, path: String, systemError: @autoclosure () -> Int32 = 0) {
        if let ours = error as? StoreError {
            self = ours
        } else if let database = error as? DatabaseError {
            self.init(extendedCode: database.extendedResultCode, path: path)
            if Self.writing.contains(database.extendedResultCode) {
                self = StoreError(systemError: systemError(), path: path) ?? self
            }
        } else {
            self = .refused(path: path, code: ResultCode.SQLITE_INTERNAL.rawValue)
        }
    }

    private static let writing: [ResultCode] = [
        .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_TRUNCATE,
    ]

    /// Returns nil if there is no more specific case than a failed read or write.
    private init?(systemError: Int32, path: String) {
        switch systemError {
        // A file system that became read-only after an error, as ext4 does by default; SQLite reports IOERR_WRITE.
        case EROFS: self = .readOnly(path: path)
        // SQLite knows only ENOSPC; an exceeded quota means the same.
        case EDQUOT: self = .diskFull(path: path)
        default: return nil
        }
    }

    private init(extendedCode: ResultCode, path: String) {
        switch extendedCode.primaryResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .inUse(path: path, pid: nil)
        case .SQLITE_CORRUPT, .SQLITE_FORMAT: self = .corrupt(path: path)
        case .SQLITE_NOTADB: self = .notADatabase(path: path)
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly(path: path)
        case .SQLITE_FULL: self = .diskFull(path: path)
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: self = .inputOutput(path: path, code: extendedCode.rawValue)
        default: self = .refused(path: path, code: extendedCode.rawValue)
        }
    }
}
