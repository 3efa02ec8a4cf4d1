internal import AccountStorage
internal import RefreshCore

/// The accounts during whose requests a daemon has crashed, until one of their requests ends without that.
///
/// Their requests are sent one at a time, so that another crash shows which one was the cause. That account then waits,
/// longer after each crash (`RefreshStep.outcomeLost`). A request that has exceeded its time limit holds up nobody.
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
    /// The due accounts that wait for their turn, in order. They stay due in the store. Wishes wait with their callers.
    private var waiting: [AccountID] = []

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

    /// Lets a due suspect wait for its turn; `takeReady` returns it.
    mutating func postpone(_ account: AccountID) {
        if !waiting.contains(account) { waiting.append(account) }
    }

    /// Removes and returns the waiting accounts if one of them may be tried.
    mutating func takeReady(during requests: PendingRequests, at now: Moment) -> [AccountID] {
        guard !waiting.isEmpty, wait(during: requests, at: now) == .zero else { return [] }
        defer { waiting = [] }
        return waiting
    }

    /// Accounts that are due without those that wait for their turn.
    func withoutWaiting(_ due: [AccountID]) -> [AccountID] {
        waiting.isEmpty ? due : due.filter { !waiting.contains($0) }
    }

    /// How many more due accounts to look for, because so many wait for their turn.
    var waitingCount: Int { waiting.count }

    /// How long until the next suspect may be tried; nil if a request has to end first.
    func wait(during requests: PendingRequests, at now: Moment) -> Duration? {
        let rest = noticedAt.map { max(Self.rest - now.elapsed(since: $0), .zero) } ?? .zero
        guard rest == .zero, crashes.keys.contains(where: { isTried($0, in: requests) }) else { return rest }
        return nil
    }

    private func isTried(_ suspect: AccountID, in requests: PendingRequests) -> Bool {
        requests[suspect]?.awaitsSource == false && !requests.isOverdue(suspect)
    }
}
