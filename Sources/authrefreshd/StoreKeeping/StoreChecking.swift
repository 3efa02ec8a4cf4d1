internal import AccountStorage
internal import RefreshCore

/// A check of the store that is under way.
struct StoreChecking {
    /// The progress of the check.
    struct Progress: Sendable {
        /// Accounts that were checked.
        var accounts = 0
        /// The number of findings, including those that are not reported.
        var found = 0
        /// The findings since the follower was last told, up to `CallerLimits.findingsMax` in total.
        var findings: [StoreFinding] = []
    }

    typealias News = KeepingNews<Progress, Progress>

    /// A caller that follows the check.
    struct Follower {
        /// Whether it wants more than the end.
        let wantsProgress: Bool
        let tell: @Sendable (News) -> Void
        /// How many findings it has received.
        var told = 0
    }

    /// The copy while it is made; nil once it is complete.
    private var copy: StoreCopy?
    /// How many pages are copied in the next batch.
    private var batchSize = BatchSize()
    private var followers: [Int: Follower] = [:]
    private var lastFollower = 0
    /// When the followers were last told.
    private var toldAt: Moment?

    private var accounts = 0
    private var found = 0
    private var findings: [StoreFinding] = []

    init(copy: StoreCopy) {
        self.copy = copy
    }

    /// Adds a follower.
    ///
    /// - Returns: the follower's number, for its removal.
    mutating func follow(_ follower: Follower) -> Int {
        lastFollower += 1
        followers[lastFollower] = follower
        return lastFollower
    }

    mutating func forget(_ number: Int) {
        followers[number] = nil
    }

    /// Whether the copy is not complete yet.
    var isCopying: Bool { copy != nil }

    /// Copies one batch of pages.
    ///
    /// - Returns: the copy when it is complete; nil while there is more to do.
    mutating func copyMore(clock: () -> Moment) throws(StoreError) -> FinishedCopy? {
        let began = clock()
        let finished = try copy?.advance(pages: batchSize.count)
        let now = clock()
        batchSize.fit(to: now.elapsed(since: began))
        tellProgress(at: now)
        if finished != nil { copy = nil }
        return finished
    }

    mutating func add(_ portion: StoreCheck.Portion) {
        accounts += portion.accounts
        found += portion.findings.count
        findings += portion.findings.prefix(CallerLimits.findingsMax - findings.count)
    }

    /// Tells the followers the progress, once a second. A silent daemon would seem to hang.
    mutating func tellProgress(at now: Moment) {
        guard toldAt.map({ now.elapsed(since: $0) >= .seconds(1) }) ?? true else { return }
        toldAt = now
        for (number, follower) in followers where follower.wantsProgress {
            follower.tell(.progress(progress(since: follower.told)))
            followers[number]?.told = findings.count
        }
    }

    /// Releases the copy, and tells all followers that it is over.
    func end(failure: StoreKeepingError?) {
        copy?.discard()
        for follower in followers.values {
            let end = failure.map { Result<Progress, StoreKeepingError>.failure($0) }
            follower.tell(.end(end ?? .success(progress(since: follower.told))))
        }
    }

    private func progress(since told: Int) -> Progress {
        Progress(accounts: accounts, found: found, findings: Array(findings[told...]))
    }
}
