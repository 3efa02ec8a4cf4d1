import GRDB
import GRDBSQLite
import RefreshCore
internal import Synchronization

/// The store's connection to SQLite. Its owner always may use it, and another thread may read one token while the owner
/// does not.
///
/// There is only one connection, because its lock on the file excludes a second one, even ours. The owner waits while
/// it is in use, for up to the time that a disk takes for a commit. A thread that must not wait uses `tokenIfFree`.
final class SharedDatabase: Sendable {
    private let queue: DatabaseQueue
    /// Locked by the thread that uses the database; nil once the database is closed.
    private let statement: Mutex<TokenStatement?>

    init(_ queue: DatabaseQueue) throws {
        self.queue = queue
        statement = Mutex(try queue.writeWithoutTransaction { db in try TokenStatement(db) })
    }

    deinit {
        // If the database were released while open, inside the reading transaction, GRDB would be notified of that
        // transaction's end after its own part is gone.
        statement.withLock { statement in
            statement?.endReading()
            statement = nil
        }
    }

    /// Runs `body` with the database after the current user is done.
    func enter<Result>(_ body: (DatabaseQueue) throws -> Result) rethrows -> Result {
        try statement.withLock { statement in
            statement?.endReading()
            // The cache is cleared now and not at the next request, because erased tokens must not stay in memory.
            defer { statement?.forgetIfChanged() }
            return try body(queue)
        }
    }

    /// The access token of the account of this name; nil if there is none, or if the database is in use.
    func tokenIfFree(of name: String, _ sealer: Sealer) -> DatedToken? {
        statement.withLockIfAvailable { statement in statement?.token(of: name, sealer) } ?? nil
    }

    /// The `errno` of the last failed operation on the log or, if there is none, on the database; 0 if none has failed.
    ///
    /// SQLite keeps it per file and does not clear it after a success. So it explains a failed write only directly
    /// after the failed commit, whose writes go to the log. `sqlite3_system_errno` cannot be used, because it is not
    /// set when a commit fails.
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

    /// Closes the database. Nobody can use it afterwards.
    func close() throws {
        try statement.withLock { statement in
            statement?.endReading()
            statement = nil
            try queue.close()
        }
    }
}
