internal import AuthRefreshInterface

/// Everything visible in a show at one moment.
struct Scene: Sendable {
    /// How many reports are kept, more than the tallest terminal shows.
    private static let reportsMax = 200

    /// The facts in the first line.
    var facts: [String] = []
    /// What is happening, in one or two sentences.
    var chapter = ""
    /// The accounts, ordered by name.
    private(set) var accounts: [AccountStatus] = []
    /// The reports, the oldest first.
    private(set) var reports: [Report] = []
    /// What the viewer can do; empty if nothing.
    var advice = ""
    /// The command in `advice`, for a shell; empty if there is none.
    var command = ""

    /// Applies a change; returns the reports about it.
    mutating func apply(_ change: Subscribe.Reply) -> [Report] {
        if change.news == .accountRemoved {
            accounts.removeAll { $0.account == change.account }
        }
        for status in change.accounts {
            accounts.removeAll { $0.account == status.account }
            accounts.append(status)
        }
        accounts.sort { $0.account < $1.account }
        return Report.reports(of: change)
    }

    mutating func add(_ report: Report) {
        reports.append(report)
        if reports.count > Self.reportsMax { reports.removeFirst(reports.count - Self.reportsMax) }
    }
}
