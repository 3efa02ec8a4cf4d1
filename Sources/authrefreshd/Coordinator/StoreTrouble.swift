internal import AccountStorage
internal import RefreshCore

/// The store cannot be used at the moment; the daemon goes on with what it holds.
struct StoreTrouble: Sendable {
    let error: StoreError
    /// When it failed last.
    let since: Moment

    /// Five seconds: a full disk is noticed within one breath of being freed, and a broken one is not hammered.
    static let retryInterval = Duration.seconds(5)

    /// How long it is until the store is tried again; zero if it is time.
    func remaining(at now: Moment) -> Duration {
        max(Self.retryInterval - now.elapsed(since: since), .zero)
    }
}
