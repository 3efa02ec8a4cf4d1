internal import AccountStorage
internal import RefreshCore

/// A change of the store's key that is under way.
struct Rekeying: Sendable {
    /// The progress of the change.
    struct Progress: Hashable, Sendable {
        /// Accounts sealed with the new key.
        var accounts = 0
        /// Secrets that no key opens.
        var unreadable = 0
    }

    /// The result of the change.
    struct Outcome: Hashable, Sendable {
        var progress: Progress
        /// The new key's identifier.
        var key: String
        var place: StoreKeyPlace
        /// Why the old key could not be destroyed; nil if it was.
        var leftover: StoreKeyError?
    }

    typealias News = KeepingNews<Progress, Outcome>

    private(set) var progress = Progress()
    /// How many accounts the next batch reseals.
    private var batchSize = BatchSize()
    private var followers: [Int: @Sendable (News) -> Void] = [:]
    private var lastFollower = 0
    /// When the followers were last told.
    private var toldAt: Moment?

    /// Adds a follower.
    ///
    /// - Parameter tell: must not call back into the coordinator.
    /// - Returns: the follower's number, for its removal.
    mutating func follow(_ tell: @escaping @Sendable (News) -> Void) -> Int {
        lastFollower += 1
        followers[lastFollower] = tell
        return lastFollower
    }

    mutating func forget(_ number: Int) {
        followers[number] = nil
    }

    /// Reseals one batch.
    ///
    /// - Returns: whether nothing is sealed with the old key any more.
    mutating func reseal(_ store: AccountStore, clock: () -> Moment) throws(StoreError) -> Bool {
        let began = clock()
        let batch = try store.rekeying.reseal(limit: batchSize.count)
        batchSize.fit(to: clock().elapsed(since: began))
        progress.accounts += batch.accounts
        progress.unreadable += batch.unreadable
        return batch.isLast
    }

    /// Tells the followers the progress, once a second.
    mutating func tellProgress(at now: Moment) {
        guard toldAt.map({ now.elapsed(since: $0) >= .seconds(1) }) ?? true else { return }
        toldAt = now
        tell(.progress(progress))
    }

    func tell(_ news: News) {
        for follower in followers.values { follower(news) }
    }
}
