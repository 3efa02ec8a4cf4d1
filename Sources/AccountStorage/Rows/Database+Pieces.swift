import GRDB

extension Database {
    private static let rowsPerPiece = 10_000

    /// Changes many rows of a table in pieces.
    ///
    /// SQLite keeps everything that a statement overwrites in memory until the statement ends. For a million accounts,
    /// that would exceed the unit's `MemoryMax=`.
    ///
    /// - Parameter change: gets the row numbers of a piece; returns how many rows it changed.
    /// - Returns: how many rows were changed.
    @discardableResult
    func inPieces(of table: String, _ change: (ClosedRange<Int64>) throws -> Int) throws -> Int {
        let piece = "SELECT rowid FROM \(table) WHERE rowid >= ? ORDER BY rowid LIMIT \(Self.rowsPerPiece)"
        var (changed, first) = (0, Int64.min)
        while let last = try Int64.fetchOne(self, sql: "SELECT max(rowid) FROM (\(piece))", arguments: [first]) {
            changed += try change(first...last)
            guard last < .max else { break }
            first = last + 1
        }
        return changed
    }

    /// Drops a table without triggers in pieces, because dropping overwrites the whole table (`secure_delete`).
    func dropInPieces(_ table: String) throws {
        try inPieces(of: table) { rows in
            try execute(
                sql: "DELETE FROM \(table) WHERE rowid BETWEEN ? AND ?",
                arguments: [rows.lowerBound, rows.upperBound]
            )
            return changesCount
        }
        try execute(sql: "DROP TABLE \(table)")
    }
}
