import Foundation
import GRDB
package import RefreshCore

/// The published metadata of authorization servers, stored for the next start. None of it is secret.
package struct ServerMetadataTable {
    let connection: StoreConnection

    /// The most documents that are stored: at most 128 KiB each, usually a few KiB. Those fetched longest ago are
    /// removed first.
    package static let limit = 256
    /// Unchanged documents are written again after this time, to update their age.
    private static let shortestInterval = Duration.seconds(86_400)

    /// The stored documents of `issuer`, one or two in the order of precedence; nil if there are none.
    ///
    /// - Parameter caFile: the CA file with which the documents were fetched; empty for the default.
    package func documents(
        of issuer: Issuer,
        caFile: String
    ) throws(StoreError) -> (documents: [[UInt8]], fetchedAt: Timestamp)? {
        try connection.read { db in
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT first_document, second_document, fetched_usec FROM server_metadata
                        WHERE issuer_id = (SELECT id FROM issuer WHERE url = ?) AND ca_file = ?
                        """
                ),
                arguments: [issuer.url, caFile]
            )
            guard let row else { return nil }
            let documents: [Data?] = [row[0], row[1]]
            return (documents.compactMap { $0.map { Array($0) } }, Timestamp(microseconds: row[2]))
        }
    }

    /// Stores the documents of `issuer` and replaces older ones. Nothing is stored for an issuer that no account has
    /// had.
    ///
    /// - Returns: false if no account has had the issuer.
    @discardableResult
    package func keep(
        _ documents: [[UInt8]],
        fetchedAt: Timestamp,
        of issuer: Issuer,
        caFile: String
    ) throws(StoreError) -> Bool {
        guard let first = documents.first.map({ Data($0) }) else { return true }
        if let known = try self.documents(of: issuer, caFile: caFile), known.documents == documents,
            (Duration.zero..<Self.shortestInterval).contains(fetchedAt - known.fetchedAt)
        {
            return true
        }
        let second = documents.dropFirst().first.map { Data($0) }
        return try connection.transaction { db in
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO server_metadata (issuer_id, ca_file, first_document, second_document, fetched_usec)
                    SELECT id, ?, ?, ?, ? FROM issuer WHERE url = ?
                    """,
                arguments: [caFile, first, second, fetchedAt.microseconds, issuer.url]
            )
            let isKept = db.changesCount > 0
            try db.execute(
                sql: """
                    DELETE FROM server_metadata WHERE rowid IN
                    (SELECT rowid FROM server_metadata ORDER BY fetched_usec DESC LIMIT -1 OFFSET ?)
                    """,
                arguments: [Self.limit]
            )
            return isKept
        }
    }
}
