internal import AccountStorage
internal import Dispatch
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

/// Checking the store while it is in use: it is copied in batches, callers and refreshes having their turns in between, and the copy is
/// checked on a thread that nobody waits for.
extension RefreshCoordinator {
    /// Checks the store, or joins the check that is under way.
    ///
    /// - Returns: the follower's number, to forget it by.
    /// - Throws: `StoreError` if the copy cannot be begun.
    func check(for follower: StoreChecking.Follower) throws(StoreError) -> Int {
        if let number = checking?.follow(follower) { return number }
        var begun = StoreChecking(copy: try StoreCopy(of: store, for: .check))
        let number = begun.follow(follower)
        checking = begun
        copyForCheck()
        return number
    }

    /// Forgets a follower who has gone; the check goes on.
    func forgetCheckFollower(_ number: Int) {
        checking?.forget(number)
    }

    private func copyForCheck() {
        guard !isStopping else { return }
        switch checking?.copyMore(of: store.path, clock: timebase.now) {
        case nil: break
        case .check(let copy): checkCopy(copy, at: timebase.now().wall)
        case .end(let failure): endChecking(failure: failure)
        case .copyMore:
            queue.async { [weak self] in
                self?.assumeIsolated { $0.copyForCheck() }
            }
        }
    }

    private func checkCopy(_ copy: FinishedCopy, at wall: Timestamp) {
        let defences = StoreGuard(path: store.path, keyIdentifier: store.keyIdentifier, keyring: keyring)
        let report: @Sendable (StoreCheck.Portion) -> Void = { [weak self, queue] portion in
            queue.async { [weak self] in
                self?.assumeIsolated { $0.checked(portion) }
            }
        }
        // A queue of its own, once: what else blocks is not to wait for a minute.
        DispatchQueue(label: "authrefreshd.check", qos: .utility).async { [weak self, queue] in
            report(StoreCheck.Portion(findings: defences.findings()))
            StoreCheck.run(on: copy, at: wall, tell: report)
            // Behind the last portion, which is on its way to this queue.
            queue.async { [weak self] in
                self?.assumeIsolated { $0.endChecking(failure: nil) }
            }
        }
    }

    private func checked(_ portion: StoreCheck.Portion) {
        checking?.add(portion)
        checking?.tellProgress(at: timebase.now())
    }

    /// Tells those who wait for the check that it is over; without one it does nothing.
    ///
    /// - Parameter failure: why it did not come to its end; nil if it did.
    func endChecking(failure: StoreChecking.Failure?) {
        let ended = checking
        checking = nil
        ended?.end(failure: failure)
    }
}
