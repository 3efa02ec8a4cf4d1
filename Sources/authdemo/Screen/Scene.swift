internal import AuthRefreshInterface

/// Everything there is to see of a show at one moment.
struct Scene: Sendable {
    /// Reports kept: more than the tallest terminal shows.
    private static let reportsMax = 200

    /// The facts in the first line.
    var facts: [String] = []
    /// What is going on, in one or two sentences.
    var chapter = ""
    /// In the order of their names.
    private(set) var accounts: [AccountStatus] = []
    /// The oldest first.
    private(set) var reports: [Report] = []
    /// What the viewer can do; empty: nothing but watch.
    var advice = ""
    /// The command that `advice` is about, for a shell; empty: none.
    var command = ""

    /// Takes in a change; returns what there is to tell about it.
    mutating func apply(_ change: Subscribe.Reply) -> [Report] {
        if change.event == "account-removed" {
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
