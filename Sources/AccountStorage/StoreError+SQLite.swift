import Basics
import GRDB
import Glibc

extension StoreError {
    /// Converts an error of SQLite, of GRDB or of a system call.
    ///
    /// Only codes are used, because the message of a `DatabaseError` repeats the statement.
    ///
    /// - Parameter systemError: the `errno` of the last failed operation on the files. It is used if SQLite's own code
    ///   says only that they could not be written.
    init(_ error: any Error, path: String, systemError: @autoclosure () -> Int32 = 0) {
        if let ours = error as? StoreError {
            self = ours
        } else if let file = error as? FileError {
            self.init(file, path: path)
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
        // SQLite itself knows only ENOSPC.
        default:
            guard let error = StoreError(noRoom: systemError, path: path) else { return nil }
            self = error
        }
    }

    private init(extendedCode: ResultCode, path: String) {
        switch extendedCode.primaryResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self = .inUse(path: path, by: StoreHolder(pid: nil, program: nil, host: nil))
        case .SQLITE_CORRUPT, .SQLITE_FORMAT: self = .corrupt(path: path)
        case .SQLITE_NOTADB: self = .notADatabase(path: path)
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly(path: path)
        case .SQLITE_FULL: self = .diskFull(path: path)
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: self = .inputOutput(path: path, code: extendedCode.rawValue)
        default: self = .refused(path: path, code: extendedCode.rawValue)
        }
    }
}
