internal import AccountStorage
internal import RefreshCore

/// A check of the store that is under way.
struct StoreChecking {
    /// How far it is.
    struct Progress: Sendable {
        /// Accounts that are checked.
        var accounts = 0
        /// How many things were found, those among them that are not told.
        var found = 0
        /// What was found since the follower was told last, up to `CallerLimits.findingsMax` in all.
        var findings: [StoreFinding] = []
    }

    enum Failure: Error, Hashable, Sendable {
        /// The store could not be copied.
        case copy(StoreError)
        /// The daemon stops.
        case interrupted
    }

    /// What those who wait for it are told.
    enum News: Sendable {
        case progress(Progress)
        case end(Result<Progress, Failure>)
    }

    /// One who waits for it.
    struct Follower {
        /// Whether it is told more than the end.
        let wantsProgress: Bool
        let tell: @Sendable (News) -> Void
        /// How many findings it knows.
        var told = 0
    }

    /// What comes next.
    enum Step {
        /// The next batch, after others have had their turn.
        case copyMore
        /// The check of the complete copy, on a thread that nobody waits for.
        case check(FinishedCopy)
        /// The end, and why it came early; nil if it did not.
        case end(Failure?)
    }

    /// The copy while it is made; nil once it is checked.
    private var copy: StoreCopy?
    /// How many pages are copied in the next batch.
    private var batchSize = BatchSize()
    private var followers: [Int: Follower] = [:]
    private var lastFollower = 0
    /// When the followers were told last.
    private var toldAt: Moment?

    private var accounts = 0
    private var found = 0
    private var findings: [StoreFinding] = []

    init(copy: StoreCopy) {
        self.copy = copy
    }

    /// - Returns: the follower's number, to forget it by.
    mutating func follow(_ follower: Follower) -> Int {
        lastFollower += 1
        followers[lastFollower] = follower
        return lastFollower
    }

    mutating func forget(_ number: Int) {
        followers[number] = nil
    }

    /// Copies one batch of pages; nothing if the copy is complete.
    ///
    /// - Parameter path: the store's.
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
                // What the check is there to find.
                add(StoreCheck.Portion(findings: [.unreadable(path: path, error)]))
                return .end(nil)
            // The disk is full, or fails: nothing is known of the store's soundness.
            default: return .end(.copy(error))
            }
        }
    }

    mutating func add(_ portion: StoreCheck.Portion) {
        accounts += portion.accounts
        found += portion.findings.count
        findings += portion.findings.prefix(CallerLimits.findingsMax - findings.count)
    }

    /// Tells the followers how far it is, once a second: a silent daemon would be taken for a hanging one.
    mutating func tellProgress(at now: Moment) {
        guard toldAt.map({ now.elapsed(since: $0) >= .seconds(1) }) ?? true else { return }
        toldAt = now
        for (number, follower) in followers where follower.wantsProgress {
            follower.tell(.progress(progress(since: follower.told)))
            followers[number]?.told = findings.count
        }
    }

    /// Lets go of the copy, and tells all that it is over.
    func end(failure: Failure?) {
        copy?.discard()
        for follower in followers.values {
            let end = failure.map { Result<Progress, Failure>.failure($0) }
            follower.tell(.end(end ?? .success(progress(since: follower.told))))
        }
    }

    private func progress(since told: Int) -> Progress {
        Progress(accounts: accounts, found: found, findings: Array(findings[told...]))
    }
}
