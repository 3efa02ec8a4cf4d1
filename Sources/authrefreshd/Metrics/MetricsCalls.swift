internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// The call that returns figures for a monitoring system.
struct MetricsCalls: CallSupport {
    let coordinator: RefreshCoordinator

    func metrics(_ call: VarlinkCall, on coordinator: isolated RefreshCoordinator) throws(VarlinkError)
        -> GetMetrics.Reply
    {
        _ = try call.decodeParameters(as: GetMetrics.Parameters.self)
        return try figures(on: coordinator)
    }

    func figures(on coordinator: isolated RefreshCoordinator) throws(VarlinkError) -> GetMetrics.Reply {
        let requests = coordinator.requestMetrics
        let counts = try stored(coordinator.store.counts())
        let shown = try stored(accounts(of: counts.total, on: coordinator))
        return GetMetrics.Reply(
            version: Version.text,
            atUSec: coordinator.timebase.now().wall.microseconds,
            startedAtUSec: coordinator.startedAt.microseconds,
            online: coordinator.host.isOnline,
            states: counts.byState,
            accounts: shown.map(AccountExpiry.init),
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
    private func accounts(
        of total: Int,
        on coordinator: isolated RefreshCoordinator
    ) throws(StoreError) -> [ShownAccount] {
        let limit = CallerLimits.measuredAccountsMax
        guard total > limit else { return try AccountListing.accounts(after: nil, limit: limit, on: coordinator) }
        let now = coordinator.timebase.now()
        var shown: [ShownAccount] = []
        for id in try coordinator.store.schedule.troubled(limit: limit) {
            guard let entry = try coordinator.store.entry(id) else { continue }
            shown.append(AccountListing.shown(entry, at: now, on: coordinator))
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

extension AccountExpiry {
    fileprivate init(_ account: ShownAccount) {
        let status = account.wireStatus
        self.init(account: status.account, state: status.state, expiresAtUSec: status.expiresAtUSec)
    }
}
