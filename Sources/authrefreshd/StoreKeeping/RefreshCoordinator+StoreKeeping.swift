internal import AccountStorage
internal import Dispatch
internal import OAuthClient
internal import RefreshCore

/// The store's keeping.
extension RefreshCoordinator {
    /// Carries out what the store's keeping wants done.
    func carryOut(_ effects: [StoreKeeping.Effect]) {
        for effect in effects {
            switch effect {
            case .turn(let turn, after: nil): later { $0.run(turn) }
            case .turn(let turn, let delay?):
                queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.microseconds))) { [weak self] in
                    self?.assumeIsolated { $0.run(turn) }
                }
            case .block(let label, let body):
                let tell: @Sendable (StoreKeeping.Turn) -> Void = { [weak self] turn in self?.later { $0.run(turn) } }
                DispatchQueue(label: label, qos: .utility).async { body(tell) }
            case .beginRekeying: Task { carryOut(await storeKeeping.beginRekeying()) }
            case .destroyRetiredKey: Task { carryOut(await storeKeeping.destroyRetiredKey()) }
            case .failed(let error): noteStoreFailure(error, at: timebase.now())
            case .statusChanged: statusChanged()
            case .wake: wake()
            }
        }
    }

    private func run(_ turn: StoreKeeping.Turn) {
        carryOut(storeKeeping.run(turn))
    }

    /// Carries out what the answer to a caller entails.
    ///
    /// - Returns: the caller's number.
    func receive(_ answer: (number: Int, effects: [StoreKeeping.Effect])) -> Int {
        carryOut(answer.effects)
        return answer.number
    }

    /// Checks whether the next daemon would find the store's key.
    func checkStoreKey() async {
        // What is beside another store is no key of ours.
        guard (try? store.checkPlace()) != nil else { return }
        carryOut(await storeKeeping.checkKey())
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
            in: MetadataStore(
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
