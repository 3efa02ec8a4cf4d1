internal import AccountStorage
internal import RefreshCore

/// The accounts during whose requests a daemon has crashed, until one of their requests ends without that.
///
/// Their requests are sent one at a time, so that another crash shows which one was the cause. That account then waits,
/// longer after each crash (`FailureRule.outcomeLost`). A request that has exceeded its time limit holds up nobody.
/// Requests of all other accounts are sent as usual.
struct CrashSuspects {
    /// How long a daemon serves the other accounts before it tries the first suspect. If each suspect ends a daemon,
    /// the service manager sees four starts in a minute. It gives up at five (`StartLimitBurst=`).
    static let rest = Duration.seconds(15)

    /// The counting ends here, long after the longest wait is reached.
    static let countMax = 1_000

    private let store: AccountStore
    private var crashes: [AccountID: Int] = [:]
    /// When the last daemon's crash was noticed; nil if it did not crash.
    private var noticedAt: Moment?
    /// The arrivals that wait for their turn, in order; one for each event, however many callers it has.
    private var waiting: [Arrival] = []

    init(store: AccountStore) {
        self.store = store
    }

    /// Reads the suspects of earlier crashes.
    ///
    /// - Parameter leased: the accounts whose requests were under way in the last daemon, if it crashed; empty if not.
    mutating func begin(with leased: [AccountID], at now: Moment) throws(StoreError) {
        crashes = try store.crashes()
        guard !leased.isEmpty else { return }
        for account in leased { crashes[account] = min(self[account], Self.countMax - 1) + 1 }
        noticedAt = now
        // A full disk must not keep the daemon from starting.
        try? store.recordCrashes(crashes)
    }

    /// How many daemons in a row have crashed during a request of this account.
    subscript(_ account: AccountID) -> Int { crashes[account] ?? 0 }

    /// Records that a request of an account has ended, and the daemon has not.
    mutating func clear(_ account: AccountID) {
        guard crashes.removeValue(forKey: account) != nil else { return }
        // If this is not stored, the account is tried alone once more after the next start.
        try? store.recordCrashes(crashes)
    }

    /// Lets an arrival of a suspect wait if the suspect may not be tried now.
    ///
    /// - Parameters:
    ///   - requests: the requests under way.
    ///   - isTrying: whether another suspect's request is about to begin.
    /// - Returns: whether it waits; `takeReady` returns it later.
    mutating func holdBack(
        _ arrival: Arrival,
        during requests: PendingRequests,
        orSuspect isTrying: Bool,
        at now: Moment
    ) -> Bool {
        guard isTrying || !mayTry(during: requests, at: now) else { return false }
        if !waiting.contains(where: { $0.account == arrival.account && $0.event == arrival.event }) {
            waiting.append(arrival)
        }
        return true
    }

    /// Removes and returns the waiting arrivals if one of them may be tried.
    mutating func takeReady(during requests: PendingRequests, at now: Moment) -> [Arrival] {
        guard !waiting.isEmpty, mayTry(during: requests, at: now) else { return [] }
        defer { waiting = [] }
        return waiting
    }

    /// Accounts that are due without those that wait for their turn.
    func withoutWaiting(_ due: [AccountID]) -> [AccountID] {
        waiting.isEmpty ? due : due.filter { account in !waiting.contains { $0.account == account } }
    }

    /// How many more due accounts to look for, because so many wait for their turn.
    var waitingCount: Int { waiting.count }

    /// How long until the first suspect may be tried; nil if none waits, or if a request has to end first.
    func wait(at now: Moment) -> Duration? {
        let rest = remainingRest(at: now)
        return waiting.isEmpty || rest == .zero ? nil : rest
    }

    private func mayTry(during requests: PendingRequests, at now: Moment) -> Bool {
        remainingRest(at: now) == .zero && !crashes.keys.contains { isTried($0, in: requests) }
    }

    private func isTried(_ suspect: AccountID, in requests: PendingRequests) -> Bool {
        requests[suspect]?.awaitsSource == false && !requests.isOverdue(suspect)
    }

    private func remainingRest(at now: Moment) -> Duration {
        noticedAt.map { max(Self.rest - now.elapsed(since: $0), .zero) } ?? .zero
    }
}
