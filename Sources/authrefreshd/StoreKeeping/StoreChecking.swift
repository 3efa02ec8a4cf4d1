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

    /// What followers are told.
    enum News: Sendable {
        case progress(Progress)
        case end(Result<Progress, StoreKeepingError>)
    }

    /// A caller that follows the check.
    struct Follower {
        /// Whether it wants more than the end.
        let wantsProgress: Bool
        let tell: @Sendable (News) -> Void
        /// How many findings it has received.
        var told = 0
    }

    /// The next step.
    enum Step {
        /// Copy the next batch, after others have had their turn.
        case copyMore
        /// Check the complete copy on a thread that nobody waits for.
        case check(FinishedCopy)
        /// The end. The failure says why it came early; nil if it did not.
        case end(StoreKeepingError?)
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

    /// Copies one batch of pages; does nothing if the copy is complete.
    ///
    /// - Parameter path: the store's path.
    mutating func copyMore(of path: String, clock: () -> Moment) -> Step? {
        guard let copy else { return nil }
        let began = clock()
        do throws(StoreError) {
            let finished = try copy.advance(pages: batchSize.count)
            let now = clock()
            batchSize.fit(to: now.elapsed(since: began))
            tellProgress(at: now)
            guard let finished else { return .copyMore }
            self.copy = nil
            return .check(finished)
        } catch {
            switch error {
            case .corrupt, .notADatabase:
                // This is what the check should find.
                add(StoreCheck.Portion(findings: [.unreadable(path: path, error)]))
                return .end(nil)
            // The disk is full or fails. That says nothing about the store.
            default: return .end(.store(error))
            }
        }
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
