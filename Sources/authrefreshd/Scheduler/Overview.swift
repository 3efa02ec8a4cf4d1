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

    static let rejectedConfiguration = "the new configuration is rejected, the one before is in force"

    /// Creates the summary.
    ///
    /// - Throws: the error of reading the store.
    init(of coordinator: isolated RefreshCoordinator) throws(StoreError) {
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
        if let trouble { return "trouble: \(trouble)" }
        var parts = isConfigurationRejected ? [Self.rejectedConfiguration] : []
        parts += degradation.texts
        parts += [accounts == 1 ? "1 account" : "\(accounts) accounts"]
        if counts.interactionRequired > 0 { parts.append("\(counts.interactionRequired) need a person") }
        if counts.setAside > 0 { parts.append("\(counts.setAside) damaged") }
        if counts.misconfigured > 0 { parts.append("\(counts.misconfigured) misconfigured") }
        if counts.backingOff > 0 { parts.append("\(counts.backingOff) retrying") }
        if let first = behind.first {
            let others = behind.count > 1 ? " and \(behind.count - 1) more" : ""
            parts.append("\(first.issuer.url)\(others) cannot be kept up with")
        }
        if !isOnline { parts.append("offline") }
        if let nextDeadline {
            parts.append("next refresh \(LocalTime.now.clock(nextDeadline.microseconds, withSeconds: true))")
        }
        return parts.joined(separator: ", ")
    }
}
