package import Basics
import Glibc
import RefreshCore

extension StoreError: CustomStringConvertible {
    /// What failed, on what, and why: lower case, no full stop.
    package var description: String {
        switch self {
        case .key(let error): error.description
        case .inUse(let path, let holder): "the store '\(path)' is in use by \(holder)"
        case .missing(let path, _): "the store '\(path)' is missing, and the last daemon had one there"
        case .corrupt(let path): "the store '\(path)' is damaged"
        case .notADatabase(let path): "'\(path)' is not an SQLite database"
        case .isLink(let path): "the store '\(path)' is a symbolic link"
        case .notAStore(let path): "'\(path)' is the database of another program"
        case .newerSchema(let path, let found, let known):
            "the store '\(path)' has schema \(found), this version knows schemas up to \(known)"
        case .olderSchema(let path, let found, let oldest):
            "the store '\(path)' has schema \(found), this version reads schemas from \(oldest) on"
        case .wrongKey(let path, let expected, let given):
            "the store '\(path)' was encrypted with key \(expected), the key given is \(given)"
        case .gone(let path): "the store '\(path)' was removed or replaced while it was open"
        case .replaced(let path):
            "the store '\(path)' was removed or replaced while it was open: another file is there now, as when a mount"
                + " covers its folder"
        case .readOnly(let path): "the store '\(path)' cannot be written to"
        case .diskFull(let path): "no space is left for the store '\(path)'"
        case .fileLimit(let path): "a limit on the size of files keeps the store '\(path)' from growing"
        case .inputOutput(let path, let code): "reading or writing '\(path)' failed (SQLite \(code))"
        case .cannotOpen(let path, let code): "'\(path)' cannot be opened: \(FileError.failed(errno: code))"
        case .notOurs(let path, let owner): "'\(path)' belongs to another user (uid \(owner))"
        case .refused(let path, let code): "the store '\(path)' refused a statement (SQLite \(code))"
        case .sealBroken(let account, let column):
            "the encrypted column '\(column.rawValue)' of account \(account) does not open: it was altered or moved"
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
        case .beingResealed(let path): "the store '\(path)' is being encrypted with a new key"
        case .backupDamaged(let path): "the copy at '\(path)' was damaged, and was removed"
        case .notRestorable(let path, .cannotOpen(_, EBUSY)): "'\(path)' cannot be restored: it is the store itself"
        case .notRestorable(let path, let cause): "'\(path)' cannot be restored: \(cause)"
        }
    }

    /// The next step for the user; nil if there is none.
    package var hint: Hint? {
        switch self {
        case .key(let error): error.hint
        case .inUse(_, let holder) where holder.isElsewhere:
            "one daemon serves a store; to use it from '\(StoreHolder.ownHost)', run this on the other host:"
                + " \(Command("forward", StoreHolder.ownHost, "ACCOUNT")); or stop the daemon there"
        case .inUse(_, let holder) where holder.isDaemon:
            "stop the other daemon first:"
                + " \(Command(program: "systemctl", "--user", "stop", "authrefreshd.service", "authrefreshd.socket"));"
                + " if this home folder is shared, other machines reach that daemon with \(Command("forward"))"
        case .inUse: "end that program, or wait for it; the daemon then continues by itself"
        case .missing(_, let record):
            "mount the file system of its folder, or put it back; the daemon then continues by itself. If you removed the store on"
                + " purpose, remove this note of it, too: \(Command(program: "rm", path: record))"
        case .corrupt(let path), .notADatabase(let path):
            "stop the daemon and restore a backup: \(Command("store", "restore", "FILE")); without a backup, move '\(path)' away"
                + " with the '-wal' beside it, and import the grants again"
        case .damagedRow: "stop the daemon and restore a backup: \(Command("store", "restore", "FILE"))"
        case .isLink(let path):
            "SQLite keeps files beside the store, so link its folder instead: move the database that the link leads to, with the '-wal'"
                + " beside it, to '\(path)', and then the whole folder; or name the other folder with --state-dir"
        case .notAStore(let path):
            "move '\(path)' away, or name another folder with --state-dir"
        case .newerSchema(let path, _, _):
            "install the version of authrefreshd that wrote it, or go back to the copy made before the upgrade, which lacks what"
                + " was stored since: \(Command("store", "restore", path: path + UpgradeCopy.suffix))"
        case .olderSchema(let path, _, _):
            "start the last version with schema \(Schema.oldest) once: it migrates the store; or move '\(path)' away, and add"
                + " the accounts again"
        case .wrongKey(_, let expected, _):
            "put the key \(expected) back, as the credential or the file 'store-key', or start the keyring that has it; no other key opens this store"
        case .gone(let path):
            "put '\(path)' back where it was, with all that was beside it, or unmount what covers its folder:"
                + " \(Command(program: "findmnt"))"
        case .replaced:
            "the daemon restarts with the store that is there now, unless the open one has no name any more or tokens are"
                + " not stored yet; to have the former one back, put it there, or unmount what covers it: \(Command(program: "findmnt"))"
        case .readOnly(let path):
            "make '\(path)' and its folder writable for this user; if its file system has turned read-only,"
                + " \(Command(program: "journalctl", "-k")) says why"
        case .diskFull: "free some space; nothing is lost, and the daemon repeats the write"
        case .fileLimit:
            "allow larger files: LimitFSIZE= of the service, or ulimit -f in a shell; nothing is lost, and the daemon repeats the write"
        case .inputOutput: "look for disk errors in the kernel's log: \(Command(program: "journalctl", "-k"))"
        case .cannotOpen(let path, _): "check that '\(path)' and its folder exist and are accessible to this user"
        case .notOurs(let path, _): "give '\(path)' to this user, or name another folder with --state-dir"
        case .refused: "this is a fault of authrefreshd: please report it with this message"
        case .sealBroken: "sign in again: \(Command("login", "ACCOUNT"))"
        case .staleGeneration, .refreshTokenMissing, .noSuchAccount, .noSuchIssuer: nil
        case .nameTaken: "choose another name, or change the account with \(Command("account", "edit"))"
        case .backupExists: "name a file that does not exist"
        case .beingResealed: "repeat the command when that is done: \(Command("store", "rekey")) waits for it"
        case .backupDamaged:
            "check the disk that the backup went to, and the store: \(Command("store", "check")); to keep what there is, damage and"
                + " all, stop the daemon and copy the store's file with the '-wal' beside it"
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

extension ColumnFinding: CustomStringConvertible {
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
