internal import AccountStorage
internal import RefreshCore
internal import TextEncodings

/// The daemon at a glance.
struct Overview: Sendable {
    var counts: PhaseCounts
    var nextDeadline: Timestamp?
    var isOnline: Bool
    var trouble: StoreError?
    var degradation: Degradation
    /// Issuers whose accounts ask for more than they may be asked, and since when.
    var behind: [(issuer: Issuer, since: Moment)]
    /// Whether the last reload brought a configuration that cannot be used.
    var isConfigurationRejected: Bool

    /// - Throws: what keeps the store from being read.
    init(of coordinator: isolated RefreshCoordinator) throws(StoreError) {
        counts = try coordinator.store.counts()
        isOnline = coordinator.host.isOnline
        nextDeadline = try coordinator.store.schedule.nextDeadline(after: Timestamp(microseconds: 0), online: isOnline)
        trouble = coordinator.trouble?.error
        degradation = coordinator.storeKeeping.degradation
        behind = coordinator.scheduler.behind
        isConfigurationRejected = coordinator.isConfigurationRejected
    }

    /// In one sentence; nil if all is well.
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
