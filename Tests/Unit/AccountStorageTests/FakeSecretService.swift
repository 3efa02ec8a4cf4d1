import RefreshCore
import Synchronization

@testable import AccountStorage

/// A Secret Service with the items of one store.
final class FakeSecretService: Sendable {
    private struct State {
        var items: [(identifier: String, contents: Secret)] = []
        var trouble: StoreKeyError?
        var calls = 0
    }

    private let state = Mutex(State())

    var identifiers: [String] { state.withLock { $0.items.map(\.identifier) } }
    /// How often it was called.
    var calls: Int { state.withLock { $0.calls } }

    func fail(with trouble: StoreKeyError?) {
        state.withLock { $0.trouble = trouble }
    }

    func keyring(_ source: StoreKeySource, isUsed: Bool = true) -> StoreKeyring {
        StoreKeyring(
            source: source,
            secretService: SecretServiceKeys(
                load: { [self] () throws(StoreKeyError) in try enter { $0.items.map(\.contents) } },
                add: { [self] contents, identifier throws(StoreKeyError) in
                    try enter { $0.items.append((identifier, contents)) }
                },
                removeOthers: { [self] identifier throws(StoreKeyError) in
                    try enter { $0.items.removeAll { $0.identifier != identifier } }
                }
            ),
            usesSecretService: isUsed
        )
    }

    private func enter<Result>(_ body: (inout State) -> sending Result) throws(StoreKeyError) -> Result {
        try state.withLock { (state) throws(StoreKeyError) in
            state.calls += 1
            if let trouble = state.trouble { throw trouble }
            return body(&state)
        }
    }
}
