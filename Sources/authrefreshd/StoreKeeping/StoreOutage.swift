internal import AccountStorage
internal import RefreshCore

/// A failure of the store. The daemon continues with what it has in memory.
struct StoreOutage: Sendable {
    let error: StoreError
    /// When the store last failed.
    let since: Moment

    /// Five seconds: a full disk is noticed soon after it is freed, and a broken one is not flooded with attempts.
    static let retryInterval = Duration.seconds(5)

    /// How long until the store is tried again; zero if it is time.
    func remaining(at now: Moment) -> Duration {
        max(Self.retryInterval - now.elapsed(since: since), .zero)
    }
}

extension StoreError {
    /// The account whose write contradicts the store, so that it would be refused each time; nil for other failures.
    var contradictedAccount: AccountID? {
        switch self {
        case .noSuchAccount(let account), .staleGeneration(let account, _, _), .refreshTokenMissing(let account, _):
            account
        // All other cases are about the whole file, about reading, or about another call.
        default: nil
        }
    }
}

/// What the daemon currently works without.
struct Degradation: Sendable {
    /// Whether descriptors for callers have run out, so that callers are admitted one at a time.
    var descriptors = false
    /// Why the next daemon would not find the store's key; nil if it would.
    var key: StoreKeyError?

    /// A sentence for each problem.
    var texts: [String] {
        var texts: [String] = []
        if descriptors { texts.append("no file descriptor is left, callers are let in one at a time") }
        if let key { texts.append("the store's key is gone: \(key)") }
        return texts
    }
}
