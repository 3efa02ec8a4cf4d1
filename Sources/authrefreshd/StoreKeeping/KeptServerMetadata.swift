internal import AccountStorage
internal import Foundation
internal import OAuthClient

/// What authorization servers publish about themselves, kept in the store: after a restart accounts are refreshed even while it cannot
/// be fetched.
extension RefreshCoordinator {
    /// Has the client keep the metadata of servers in the store.
    func keepMetadata() {
        client.keepMetadata(
            in: MetadataShelf(
                find: { [weak self] place in await self?.metadata(at: place) },
                keep: { [weak self] place, metadata in await self?.keep(metadata, at: place) }
            )
        )
    }

    private func metadata(at place: KeptMetadata.Place) -> KeptMetadata? {
        guard !isOver, let kept = try? store.serverMetadata(of: place.issuer, caFile: place.caFile ?? "") else {
            return nil
        }
        return KeptMetadata(documents: kept.documents.map { Array($0) }, fetchedAt: kept.fetchedAt)
    }

    private func keep(_ metadata: KeptMetadata, at place: KeptMetadata.Place) {
        guard !isOver, trouble == nil else { return }
        let kept = AccountStore.ServerMetadata(
            documents: metadata.documents.map { Data($0) },
            fetchedAt: metadata.fetchedAt
        )
        // What is lost here is fetched again at the next start, or in a day.
        try? store.keep(kept, of: place.issuer, caFile: place.caFile ?? "")
    }
}
