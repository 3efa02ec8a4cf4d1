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

    /// The most important problem in one sentence; nil if there is none.
    var troubleText: String? { trouble?.description ?? degradation.texts.first }
    var accounts: Int { counts.total }
    var damaged: Int { counts.setAside }
    var interactionRequired: Int { counts.interactionRequired }

    static let configurationRejected = "the new configuration is invalid, the previous one is in force"

    static func trouble(_ error: StoreError) -> String { "trouble: \(error)" }

    /// One line for `systemctl status`.
    var statusLine: String {
        if let trouble { return Self.trouble(trouble) }
        var parts = isConfigurationRejected ? [Self.configurationRejected] : []
        parts += degradation.texts
        parts.append(accounts == 1 ? "1 account" : "\(accounts) accounts")
        let inNeed = counts.interactionRequired
        if inNeed > 0 { parts.append(inNeed == 1 ? "1 needs a sign-in" : "\(inNeed) need a sign-in") }
        if counts.setAside > 0 { parts.append("\(counts.setAside) damaged") }
        if counts.misconfigured > 0 { parts.append("\(counts.misconfigured) misconfigured") }
        if counts.backingOff > 0 { parts.append("\(counts.backingOff) retrying") }
        if let first = behind.first {
            let others = behind.count > 1 ? " and \(behind.count - 1) more" : ""
            parts.append("accounts wait for their turn at \(first.issuer.url)\(others)")
        }
        if !isOnline { parts.append("offline") }
        if let nextDeadline {
            let time = LocalTime.now.clock(nextDeadline.microseconds, withSeconds: true)
            parts.append("next refresh \(time)")
        }
        return parts.joined(separator: ", ")
    }
}

extension RefreshCoordinator {
    /// A summary of the present state.
    ///
    /// - Throws: the error of reading the store; `replaced` if the open store is not at its path.
    func overview() throws(StoreError) -> Overview {
        try checkStorePlace()
        let isOnline = host.isOnline
        return Overview(
            counts: try store.counts(),
            nextDeadline: try store.schedule.nextDeadline(after: Timestamp(microseconds: 0), online: isOnline),
            isOnline: isOnline,
            trouble: trouble?.error,
            degradation: storeKeeping.degradation,
            behind: scheduler.behind,
            isConfigurationRejected: isConfigurationRejected
        )
    }
}
