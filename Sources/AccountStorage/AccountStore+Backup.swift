import GRDB
import Glibc

extension AccountStore {
    /// Copies the whole store, as it is now, into a new file at `path` that only this user can read, and checks the copy.
    ///
    /// The secrets in it stay sealed: without `keyIdentifiers`, which are not part of it, it opens for nobody. It is restored by
    /// stopping the daemon and putting it in place of the database (and of nothing else: there is no log to go with it). The caller is
    /// blocked for as long as copying takes, about a second per GB.
    ///
    /// - Throws: `backupExists`, `backupDamaged`, and what the disk has to say, with the backup's path; no file is left then.
    package func backup(to path: String) throws(StoreError) {
        do {
            try PosixFile.create(path)
        } catch {
            throw error.code == EEXIST ? .backupExists(path: path) : StoreError(error, path: path)
        }
        do {
            try copy(to: path)
            try PosixFile.syncFolder(of: path)
        } catch {
            try? PosixFile.remove(path)
            if let error = error as? PosixError { throw StoreError(error, path: path) }
            let failure = StoreError(error, path: path)
            throw failure == .corrupt(path: path) ? .backupDamaged(path: path) : failure
        }
    }

    private func copy(to path: String) throws {
        var configuration = Configuration()
        configuration.publicStatementArguments = false
        let copy = try DatabaseQueue(path: path, configuration: configuration)
        try database.enter { try $0.backup(to: copy) }
        let verdict = try copy.writeWithoutTransaction { db in
            // One file, complete in itself: a log beside it could be left behind.
            try db.execute(sql: "PRAGMA journal_mode = DELETE")
            return try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
        }
        try copy.close()
        guard verdict == "ok" else { throw StoreError.backupDamaged(path: path) }
    }
}
