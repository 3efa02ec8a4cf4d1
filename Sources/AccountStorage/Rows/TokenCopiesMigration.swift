import GRDB

/// Migrates schema 24 to 25: removes the copies of access tokens that an earlier version read on the socket's thread,
/// and the triggers that wrote them.
enum TokenCopiesMigration {
    static func run(in db: Database) throws {
        guard try db.tableExists("token_at_hand") else { return }
        for event in ["inserted", "updated", "erased", "aside", "outdated", "renamed", "orphaned"] {
            try db.execute(sql: "DROP TRIGGER IF EXISTS token_at_hand_\(event)")
        }
        try db.dropInPieces("token_at_hand")
    }
}

extension Database {
    private static let rowsPerPiece = 10_000

    /// Drops a table without triggers in pieces.
    ///
    /// SQLite keeps everything that a statement overwrites in memory until the statement ends, and dropping overwrites
    /// the whole table (`secure_delete`). For a million accounts, that would exceed the unit's `MemoryMax=`.
    func dropInPieces(_ table: String) throws {
        let piece = "SELECT rowid FROM \(table) ORDER BY rowid LIMIT \(Self.rowsPerPiece)"
        repeat {
            try execute(sql: "DELETE FROM \(table) WHERE rowid IN (\(piece))")
        } while changesCount > 0
        try execute(sql: "DROP TABLE \(table)")
    }
}
