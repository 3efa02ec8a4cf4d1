import GRDB

/// The copy of a store that is made before a newer version changes its tables: such a change is not undone by an older version.
///
/// One is kept, the latest. It is sealed with the store's key of that time, and removed when that key is changed.
enum UpgradeCopy {
    /// What its name has beyond the store's.
    static let suffix = ".before-upgrade"

    /// Copies the database that `queue` has open, and has it on disk, complete, when this returns. Blocks about a second per GB.
    static func make(of queue: DatabaseQueue, at path: String) throws {
        let (kept, unfinished) = (path + suffix, path + suffix + ".new")
        try? PosixFile.remove(unfinished)
        do {
            try PosixFile.create(unfinished)
            var configuration = Configuration()
            configuration.publicStatementArguments = false
            // As the store itself is opened: a log is then read without a file of shared memory beside it.
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            let copy = try DatabaseQueue(path: unfinished, configuration: configuration)
            try queue.backup(to: copy)
            // One file: a log beside it could be left behind.
            try copy.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
            try copy.close()
            try PosixFile.sync(unfinished)
            try PosixFile.rename(unfinished, to: kept)
            try PosixFile.syncFolder(of: path)
        } catch {
            try? PosixFile.remove(unfinished)
            throw error
        }
    }

    /// Removes the copy for the store at `path`.
    static func remove(of path: String) {
        try? PosixFile.remove(path + suffix)
    }
}
