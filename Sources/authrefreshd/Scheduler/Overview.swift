internal import AccountStorage
internal import RefreshCore
internal import TextEncodings

/// A summary of the daemon's state.
struct Overview: Sendable {
    var counts: PhaseCounts
    var nextDeadline: Timestamp?
    var isOnline: Bool
    var trouble: StoreError?
    var degradation: Degradation
    /// Issuers whose accounts need more requests than are allowed, and since when.
    var behind: [(issuer: Issuer, since: Moment)]
    /// Whether the last reload found an invalid configuration.
    var isConfigurationRejected: Bool

    /// Creates the summary.
    ///
    /// - Throws: the error of reading the store; `replaced` if the open store is not at its path.
    init(of coordinator: isolated RefreshCoordinator) throws(StoreError) {
        try StoreFailures.checkPlace(on: coordinator)
        counts = try coordinator.store.counts()
        isOnline = coordinator.host.isOnline
        nextDeadline = try coordinator.store.schedule.nextDeadline(after: Timestamp(microseconds: 0), online: isOnline)
        trouble = coordinator.trouble?.error
        degradation = coordinator.storeKeeping.degradation
        behind = coordinator.scheduler.behind
        isConfigurationRejected = coordinator.isConfigurationRejected
    }

    /// The most important problem in one sentence; nil if there is none.
    var troubleText: String? { trouble?.description ?? degradation.texts.first }
    var accounts: Int { counts.total }
    var damaged: Int { counts.setAside }
    var interactionRequired: Int { counts.interactionRequired }

    /// One line for `systemctl status`.
    var statusLine: String {
        if let trouble { return StatusText.trouble(trouble) }
        var parts = isConfigurationRejected ? [StatusText.rejectedConfiguration] : []
        parts += degradation.texts
        parts.append(StatusText.accounts(accounts))
        if counts.interactionRequired > 0 { parts.append(StatusText.needSignIn(counts.interactionRequired)) }
        if counts.setAside > 0 { parts.append(StatusText.damaged(counts.setAside)) }
        if counts.misconfigured > 0 { parts.append(StatusText.misconfigured(counts.misconfigured)) }
        if counts.backingOff > 0 { parts.append(StatusText.retrying(counts.backingOff)) }
        if let first = behind.first { parts.append(StatusText.behind(first.issuer.url, others: behind.count - 1)) }
        if !isOnline { parts.append(StatusText.offline) }
        if let nextDeadline {
            let time = LocalTime.now.clock(nextDeadline.microseconds, withSeconds: true)
            parts.append(StatusText.nextRefresh(time))
        }
        return parts.joined(separator: ", ")
    }
}
