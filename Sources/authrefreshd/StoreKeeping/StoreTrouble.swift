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

extension StoreError {
    /// The account whose write contradicts what is stored, so that it will be refused however often it is tried; nil if the
    /// store has failed otherwise.
    var contradictedAccount: AccountID? {
        switch self {
        case .noSuchAccount(let account), .staleGeneration(let account, _, _), .refreshTokenMissing(let account, _):
            account
        // All other cases are about the file as a whole, about reading, or about another call.
        default: nil
        }
    }
}

/// What the daemon lacks, and works on without.
struct Degradation: Sendable {
    /// Descriptors for callers, who are let in one at a time.
    var descriptors = false
    /// Why the next daemon would not find the store's key; nil if it would.
    var key: StoreKeyError?

    /// A sentence for each.
    var texts: [String] {
        var texts: [String] = []
        if descriptors { texts.append(StatusText.noDescriptors) }
        if let key { texts.append(StatusText.keyGone(key)) }
        return texts
    }
}
