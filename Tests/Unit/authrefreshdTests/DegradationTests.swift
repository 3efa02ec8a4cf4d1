import AccountStorage
import Dispatch
import TestSupport
import Testing

@testable import authrefreshd

/// Missing parts that the daemon notices.
struct DegradationTests {
    /// Looks for the key of a store in a place without it.
    ///
    /// - Parameter meanwhile: runs on the coordinator's queue during the wait for the keyring.
    private func missingKey(_ meanwhile: @escaping @Sendable (isolated RefreshCoordinator) -> Void) async throws -> Bool
    {
        let rig = try CoordinatorRig()
        let elsewhere = try TemporaryFolder()
        try await rig.start()
        let coordinator = rig.coordinator
        let keyring = StoreKeyring(
            source: StoreKeySource(credentialsDirectory: nil, stateDirectory: elsewhere.path),
            secretService: SecretServiceKeys(
                load: {
                    coordinator.queue.sync { coordinator.assumeIsolated(meanwhile) }
                    return []
                },
                add: { _, _ in },
                removeOthers: { _ in }
            ),
            usesSecretService: true
        )
        await rig.inside { $0.storeKeeping.use(keyring) }
        await coordinator.checkStoreKey()
        let isMissing = await rig.inside { $0.storeKeeping.degradation.key != nil }
        await rig.stop()
        return isMissing
    }

    @Test func `a key that cannot be found is reported as missing`() async throws {
        #expect(try await missingKey { _ in })
    }

    @Test func `a key that changes during the check is not reported as missing`() async throws {
        #expect(try await !missingKey { _ = $0.storeKeeping.rekey { _ in } })
    }
}
