import Foundation
import GRDB
import GRDBSQLite

/// What a parameter of a statement is given.
enum SQLValue: Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob(Data)

    init(_ number: Int64?) { self = number.map(SQLValue.integer) ?? .null }
    init(_ number: Int?) { self.init(number.map(Int64.init)) }
    init(_ flag: Bool?) { self.init(flag.map { $0 ? Int64(1) : 0 }) }
    init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }
    init(_ bytes: Data?) { self = bytes.map(SQLValue.blob) ?? .null }
}

/// Statements that are run for every refresh, by SQLite's own calls: GRDB's arguments and the bookkeeping of its observers, of which
/// there are none here, take as long as the statement itself.
extension Database {
    /// Runs a statement that writes and gives no rows; it stays prepared.
    ///
    /// - Returns: how many rows it changed.
    /// - Throws: `DatabaseError`.
    @discardableResult
    func run(_ statement: StoreStatement, _ values: [SQLValue]) throws -> Int {
        try cachedStatement(sql: statement.sql).run(values)
    }

    /// The bytes in the first column of the first row; nil if there is no row or it holds none.
    ///
    /// - Throws: `DatabaseError`.
    func bytes(_ statement: StoreStatement, _ values: [SQLValue]) throws -> Data? {
        try cachedStatement(sql: statement.sql).bytes(values)
    }
}

extension Statement {
    /// The same, for a statement that is at hand.
    @discardableResult
    func run(_ values: [SQLValue]) throws -> Int {
        let handle = unsafe sqliteStatement
        defer { unsafe sqlite3_reset(handle) }
        try bind(values)
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_DONE else { throw failure(code) }
        return unsafe Int(sqlite3_changes(sqlite3_db_handle(handle)))
    }

    fileprivate func bytes(_ values: [SQLValue]) throws -> Data? {
        let handle = unsafe sqliteStatement
        defer { unsafe sqlite3_reset(handle) }
        try bind(values)
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_ROW else {
            guard code == SQLITE_DONE else { throw failure(code) }
            return nil
        }
        return unsafe sqlite3_column_blob(handle, 0).map {
            unsafe Data(bytes: $0, count: Int(sqlite3_column_bytes(handle, 0)))
        }
    }

    /// Gives each parameter its value: what the last run gave is never used again.
    private func bind(_ values: [SQLValue]) throws {
        let handle = unsafe sqliteStatement
        precondition(
            unsafe sqlite3_bind_parameter_count(handle) == values.count,
            "a statement is given a value for each parameter"
        )
        var index: Int32 = 0
        for value in values {
            index += 1
            let code = unsafe value.bind(to: handle, at: index)
            guard code == SQLITE_OK else { throw failure(code) }
        }
    }

    private func failure(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code))
    }
}

extension SQLValue {
    /// SQLite copies what it is given: the value may be gone when the statement is run.
    private static var copied: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    fileprivate func bind(to handle: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null:
            return unsafe sqlite3_bind_null(handle, index)
        case .integer(let number):
            return unsafe sqlite3_bind_int64(handle, index, number)
        case .text(var text):
            return text.withUTF8 { text in
                // A null pointer would be NULL, and is what an empty buffer may have.
                guard !text.isEmpty else { return unsafe sqlite3_bind_text(handle, index, "", 0, Self.copied) }
                return unsafe text.withMemoryRebound(to: CChar.self) { text in
                    unsafe sqlite3_bind_text(handle, index, text.baseAddress, Int32(clamping: text.count), Self.copied)
                }
            }
        case .blob(let bytes):
            return unsafe bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
                return unsafe sqlite3_bind_blob(handle, index, start, Int32(clamping: bytes.count), Self.copied)
            }
        }
    }
}
