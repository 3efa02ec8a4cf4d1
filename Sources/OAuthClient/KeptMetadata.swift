package import RefreshCore

/// The metadata documents of an issuer as they were fetched last, for the time after a restart.
package struct KeptMetadata: Hashable, Sendable {
    /// What the documents were fetched for: those that one set of authorities vouches for are not believed with another.
    package struct Place: Hashable, Sendable {
        package let issuer: Issuer
        /// The PEM file of a profile; nil for the authorities that all servers are trusted by.
        package let caFile: String?

        package init(issuer: Issuer, caFile: String?) {
            self.issuer = issuer
            self.caFile = caFile
        }
    }

    /// JSON, as the server sent it; they are read by the rules for fetched ones whenever they are used.
    package var documents: [[UInt8]]
    package var fetchedAt: Timestamp

    package init(documents: [[UInt8]], fetchedAt: Timestamp) {
        self.documents = documents
        self.fetchedAt = fetchedAt
    }

    /// Bytes of one document that is kept. Real ones have some KiB, with embedded keys up to 100 KiB.
    package static let bytesMax = 128 << 10
    /// How long documents are used after they were fetched: an endpoint that nobody has confirmed for a quarter of a year may be
    /// another's by now.
    package static let lifetime = Duration.seconds(90 * 86_400)
}

/// Keeps metadata beyond the life of the process. Nothing in it is secret: servers publish it to everybody.
package struct MetadataShelf: Sendable {
    /// What was kept last; nil if there is nothing.
    let find: @Sendable (KeptMetadata.Place) async -> KeptMetadata?
    let keep: @Sendable (KeptMetadata.Place, KeptMetadata) async -> Void

    package init(
        find: @escaping @Sendable (KeptMetadata.Place) async -> KeptMetadata?,
        keep: @escaping @Sendable (KeptMetadata.Place, KeptMetadata) async -> Void
    ) {
        self.find = find
        self.keep = keep
    }
}
