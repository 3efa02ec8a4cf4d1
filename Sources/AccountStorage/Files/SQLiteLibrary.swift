internal import GRDBSQLite

/// The system's SQLite, which this module is linked with.
package enum SQLiteLibrary {
    /// `3.40.1`: of the library that the process has loaded.
    package static var version: String { unsafe String(cString: sqlite3_libversion()) }
}
