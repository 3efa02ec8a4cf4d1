import GRDB
import GRDBSQLite
import RefreshCore
internal import Synchronization

/// The store's connection to SQLite: its owner's whenever the owner wants it, and another thread's for one question while the owner
/// does not.
///
/// There is one connection, because its lock on the file keeps a second one out, ours too. Whoever comes while it is used waits, for
/// as long as a disk takes to make a commit durable; a thread that must not wait asks for what is free only.
final class SharedDatabase: Sendable {
    private let queue: DatabaseQueue
    /// Held by whoever is in the database; nil once that is closed.
    private let statement: Mutex<TokenStatement?>

    init(_ queue: DatabaseQueue) throws {
        self.queue = queue
        statement = Mutex(try queue.writeWithoutTransaction { db in try TokenStatement(db) })
    }

    deinit {
        // A database that is let go unclosed, within the questions' transaction, would tell GRDB of that transaction's end when GRDB's
        // part of it is gone.
        statement.withLock { statement in
            statement?.endReading()
            statement = nil
        }
    }

    /// Does `body` with the database, after whoever is in it.
    func enter<Result>(_ body: (DatabaseQueue) throws -> Result) rethrows -> Result {
        try statement.withLock { statement in
            statement?.endReading()
            // Not only when it is asked next: what was erased is not to stay in memory.
            defer { statement?.forgetIfChanged() }
            return try body(queue)
        }
    }

    /// The access token of the account of this name; nil if there is none, or if somebody is in the database.
    func tokenIfFree(of name: String, _ sealer: Sealer) -> DatedToken? {
        statement.withLockIfAvailable { statement in statement?.token(of: name, sealer) } ?? nil
    }

    /// The `errno` of the last operation on the log, or else on the database, that failed; 0 if none has.
    ///
    /// SQLite keeps it for each file, and does not clear it when a later operation succeeds: this says why a write has failed only if it is
    /// asked for just after the commit that failed, for what that writes goes to the log. `sqlite3_system_errno` does not know: it is not
    /// set where a commit fails.
    var systemError: Int32 {
        enter { queue in
            queue.writeWithoutTransaction { db in
                var log: UnsafeMutablePointer<sqlite3_file>?
                var code: Int32 = 0
                let connection = unsafe db.sqliteConnection
                unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_JOURNAL_POINTER, &log)
                _ = unsafe log?.pointee.pMethods?.pointee.xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &code)
                if code == 0 { unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_LAST_ERRNO, &code) }
                return code
            }
        }
    }

    /// Nobody can use it afterwards.
    func close() throws {
        try statement.withLock { statement in
            statement?.endReading()
            statement = nil
            try queue.close()
        }
    }
}
