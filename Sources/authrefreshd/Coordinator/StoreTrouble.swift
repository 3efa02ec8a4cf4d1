internal import AccountStorage
internal import RefreshCore

/// The store cannot be used at the moment; the daemon goes on with what it holds.
struct StoreTrouble: Sendable {
    let error: StoreError
    /// When it is tried again, by the wall clock.
    var retryAt: Timestamp

    /// Five seconds: a full disk is noticed within one breath of being freed, and a broken one is not hammered.
    static let retryInterval = Duration.seconds(5)
}
