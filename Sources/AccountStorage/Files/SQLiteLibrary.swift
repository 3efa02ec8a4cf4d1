internal import GRDBSQLite

/// The SQLite library that this module is linked with.
package enum SQLiteLibrary {
    /// The version of the loaded library: `3.40.1`.
    package static var version: String { unsafe String(cString: sqlite3_libversion()) }
}
