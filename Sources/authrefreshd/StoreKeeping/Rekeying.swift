internal import AccountStorage
internal import RefreshCore

/// A change of the store's key that is under way.
struct Rekeying: Sendable {
    /// How far it is.
    struct Progress: Hashable, Sendable {
        /// Accounts that are sealed with the new key.
        var accounts = 0
        /// Secrets that open with no key.
        var unreadable = 0
    }

    /// How it ended.
    struct Outcome: Hashable, Sendable {
        var progress: Progress
        /// The new key's name.
        var key: String
        var place: StoreKeyPlace
        /// What kept the old key from being destroyed; nil if it is.
        var leftover: StoreKeyError?
    }

    enum Failure: Error, Hashable, Sendable {
        case key(StoreKeyError)
        case store(StoreError)
        /// The daemon stops; the change goes on when it is started again.
        case interrupted
    }

    /// What those who wait for it are told.
    enum News: Sendable {
        case progress(Progress)
        case end(Result<Outcome, Failure>)
    }

    private(set) var progress = Progress()
    /// How many accounts the next batch brings over.
    private var batchSize = BatchSize()
    private var followers: [Int: @Sendable (News) -> Void] = [:]
    private var lastFollower = 0
    /// When the followers were told last.
    private var toldAt: Moment?

    /// - Parameter tell: must not call back into the coordinator.
    /// - Returns: the follower's number, to forget it by.
    mutating func follow(_ tell: @escaping @Sendable (News) -> Void) -> Int {
        lastFollower += 1
        followers[lastFollower] = tell
        return lastFollower
    }

    mutating func forget(_ number: Int) {
        followers[number] = nil
    }

    /// Brings over one batch.
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

    /// Tells the followers how far it is, once a second.
    mutating func tellProgress(at now: Moment) {
        guard toldAt.map({ now.elapsed(since: $0) >= .seconds(1) }) ?? true else { return }
        toldAt = now
        tell(.progress(progress))
    }

    func tell(_ news: News) {
        for follower in followers.values { follower(news) }
    }
}
