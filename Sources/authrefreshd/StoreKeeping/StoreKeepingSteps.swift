internal import AccountStorage
internal import Dispatch
internal import OAuthClient
internal import RefreshCore

/// The coordinator's steps for the store's keeping.
enum StoreKeepingSteps {
    /// Carries out the steps.
    static func carryOut(_ steps: [StoreKeeping.Step], on coordinator: isolated RefreshCoordinator) {
        for step in steps {
            switch step {
            case .turn(let turn, after: nil): coordinator.later { $0.take($0.storeKeeping.take(turn)) }
            case .turn(let turn, let delay?):
                coordinator.queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.microseconds))) {
                    [weak coordinator] in
                    coordinator?.assumeIsolated { $0.take($0.storeKeeping.take(turn)) }
                }
            case .block(let label, let body):
                let tell: @Sendable (StoreKeeping.Turn) -> Void = { [weak coordinator] turn in
                    coordinator?.later { $0.take($0.storeKeeping.take(turn)) }
                }
                DispatchQueue(label: label, qos: .utility).async { body(tell) }
            case .beginRekeying: Task { coordinator.take(await coordinator.storeKeeping.beginRekeying()) }
            case .destroyRetiredKey: Task { coordinator.take(await coordinator.storeKeeping.destroyRetiredKey()) }
            case .failed(let error): StoreFailures.note(error, at: coordinator.timebase.now(), on: coordinator)
            case .statusChanged: coordinator.statusChanged()
            case .wake: coordinator.wake()
            }
        }
    }

    /// Checks whether the next daemon would find the store's key.
    static func checkKey(on coordinator: isolated RefreshCoordinator) async {
        // What is beside another store is no key of ours.
        guard (try? coordinator.store.checkPlace()) != nil else { return }
        coordinator.take(await coordinator.storeKeeping.checkKey())
    }

    /// Records whether descriptors for callers are available.
    static func descriptorsChanged(areLacking: Bool, on coordinator: isolated RefreshCoordinator) {
        coordinator.storeKeeping.descriptorsChanged(areLacking: areLacking)
        coordinator.statusChanged()
    }

    /// Makes the client keep the published metadata of authorization servers in the store. So accounts can be refreshed
    /// after a restart even if the metadata cannot be fetched.
    static func keepMetadata(on coordinator: isolated RefreshCoordinator) {
        coordinator.client.keepMetadata(
            in: MetadataShelf(
                find: { [weak coordinator] place in
                    guard let coordinator else { return nil }
                    return await metadata(at: place, on: coordinator)
                },
                keep: { [weak coordinator] place, metadata in
                    guard let coordinator else { return true }
                    return await keep(metadata, at: place, on: coordinator)
                }
            )
        )
    }

    private static func metadata(at place: KeptMetadata.Place, on coordinator: isolated RefreshCoordinator)
        -> KeptMetadata?
    {
        coordinator.lifecycle.isOver ? nil : coordinator.storeKeeping.metadata(at: place)
    }

    private static func keep(
        _ metadata: KeptMetadata,
        at place: KeptMetadata.Place,
        on coordinator: isolated RefreshCoordinator
    ) -> Bool {
        coordinator.lifecycle.isOver || coordinator.storeKeeping.keep(metadata, at: place)
    }
}
