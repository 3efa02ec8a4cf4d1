import GRDB

extension StoreError {
    /// The case for whatever came out of a call into SQLite.
    ///
    /// Only codes are taken over: the message of a `DatabaseError` repeats the statement.
    init(_ error: any Error, path: String) {
        if let ours = error as? StoreError {
            self = ours
        } else if let database = error as? DatabaseError {
            self.init(extendedCode: database.extendedResultCode, path: path)
        } else {
            self = .refused(path: path, code: ResultCode.SQLITE_INTERNAL.rawValue)
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
