internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// The call that returns figures for a monitoring system.
extension RefreshCoordinator {
    func getMetrics(_: GetMetrics.Parameters) throws(VarlinkError) -> GetMetrics.Reply {
        let requests = requestMetrics
        let counts = try stored(store.counts())
        let shown = try stored(measuredAccounts(of: counts.total)).map(\.wireStatus)
        return GetMetrics.Reply(
            version: Version.text,
            atUSec: timebase.now().wall.microseconds,
            startedAtUSec: startedAt.microseconds,
            online: host.isOnline,
            states: counts.byState,
            accounts: shown.map {
                AccountExpiry(account: $0.account, state: $0.state, expiresAtUSec: $0.expiresAtUSec)
            },
            requestsSucceeded: requests.succeeded,
            requestsFailed: Dictionary(
                uniqueKeysWithValues: FailureClass.allCases.map { ($0.rawValue, requests.failed[$0] ?? 0) }
            ),
            bucketEndsMs: RequestMetrics.bucketEndsMs,
            buckets: requests.buckets,
            requestsMs: requests.total.microseconds / 1_000
        )
    }

    /// All accounts if there are few, otherwise those with problems, because a monitoring system stores a series for
    /// each.
    private func measuredAccounts(of total: Int) throws(StoreError) -> [ShownAccount] {
        let limit = CallerLimits.measuredAccountsMax
        guard total > limit else { return try shownAccounts(after: nil, limit: limit) }
        let now = timebase.now()
        var shown: [ShownAccount] = []
        for id in try store.schedule.troubled(limit: limit) {
            guard let entry = try store.entry(id) else { continue }
            shown.append(self.shown(entry, at: now))
        }
        return shown
    }
}

extension PhaseCounts {
    /// How many accounts are in each state, by the states' wire names. States that depend on the clock or on a resource
    /// server are not counted separately: `refresh-token-expiring` counts as `fresh`.
    fileprivate var byState: [String: Int64] {
        [
            ShownState.fresh.rawValue: Int64(scheduled),
            ShownState.refreshing.rawValue: Int64(refreshing),
            ShownState.retrying.rawValue: Int64(backingOff),
            ShownState.interactionRequired.rawValue: Int64(interactionRequired),
            ShownState.signedOut.rawValue: Int64(signedOut),
            ShownState.misconfigured.rawValue: Int64(misconfigured + unknown),
            ShownState.parked.rawValue: Int64(parked),
        ]
    }
}

/// Counts the results of token requests since the daemon was started.
struct RequestMetrics: Equatable, Sendable {
    /// The upper ends of the histogram's buckets, in ms. On a good connection a request takes some hundred
    /// milliseconds. Callers give up after 40 s. The daemon waits five minutes for a server that may replace the
    /// refresh token.
    static let bucketEndsMs: [Int64] = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000]

    /// Requests that brought a token.
    private(set) var succeeded: Int64 = 0
    /// Requests that failed, by the class of the failure.
    private(set) var failed: [FailureClass: Int64] = [:]
    /// For each bucket, the requests that took at most its upper end and longer than the previous one's; the last
    /// bucket has all longer requests.
    private(set) var buckets = [Int64](repeating: 0, count: bucketEndsMs.count + 1)
    /// The total duration of all requests.
    private(set) var total = Duration.zero

    /// Records the end of a request.
    ///
    /// - Parameters:
    ///   - failure: nil if it brought a token.
    ///   - length: how long it took.
    mutating func note(_ failure: FailureClass?, after length: Duration) {
        if let failure { failed[failure, default: 0] += 1 } else { succeeded += 1 }
        total += length
        let bucket = Self.bucketEndsMs.firstIndex { length <= .milliseconds($0) } ?? Self.bucketEndsMs.count
        buckets[bucket] += 1
    }
}
