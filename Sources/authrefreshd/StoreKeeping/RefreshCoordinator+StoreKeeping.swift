internal import AccountStorage
internal import Dispatch
internal import OAuthClient
internal import RefreshCore

/// The coordinator's steps for the store's keeping.
extension RefreshCoordinator {
    /// Carries out the steps.
    func carryOut(_ steps: [StoreKeeping.Step]) {
        for step in steps {
            switch step {
            case .turn(let turn, after: nil): later { $0.take($0.storeKeeping.take(turn)) }
            case .turn(let turn, let delay?):
                queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.microseconds))) {
                    [weak self] in
                    self?.assumeIsolated { $0.take($0.storeKeeping.take(turn)) }
                }
            case .block(let label, let body):
                let tell: @Sendable (StoreKeeping.Turn) -> Void = { [weak self] turn in
                    self?.later { $0.take($0.storeKeeping.take(turn)) }
                }
                DispatchQueue(label: label, qos: .utility).async { body(tell) }
            case .beginRekeying: Task { take(await storeKeeping.beginRekeying()) }
            case .destroyRetiredKey: Task { take(await storeKeeping.destroyRetiredKey()) }
            case .failed(let error): noteStoreFailure(error, at: timebase.now())
            case .statusChanged: statusChanged()
            case .wake: wake()
            }
        }
    }

    /// Checks whether the next daemon would find the store's key.
    func checkStoreKey() async {
        // What is beside another store is no key of ours.
        guard (try? store.checkPlace()) != nil else { return }
        take(await storeKeeping.checkKey())
    }

    /// Records whether descriptors for callers are available.
    func descriptorsChanged(areLacking: Bool) {
        storeKeeping.descriptorsChanged(areLacking: areLacking)
        statusChanged()
    }

    /// Makes the client keep the published metadata of authorization servers in the store. So accounts can be refreshed
    /// after a restart even if the metadata cannot be fetched.
    func keepMetadata() {
        client.keepMetadata(
            in: MetadataShelf(
                find: { [weak self] place in
                    guard let self else { return nil }
                    return await keptMetadata(at: place)
                },
                keep: { [weak self] place, metadata in
                    guard let self else { return true }
                    return await keep(metadata, at: place)
                }
            )
        )
    }

    private func keptMetadata(at place: KeptMetadata.Place) -> KeptMetadata? {
        lifecycle.isOver ? nil : storeKeeping.metadata(at: place)
    }

    private func keep(_ metadata: KeptMetadata, at place: KeptMetadata.Place) -> Bool {
        lifecycle.isOver || storeKeeping.keep(metadata, at: place)
    }
}
