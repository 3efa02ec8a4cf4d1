internal import AuthRefreshInterface

/// What `authctl status` prints: a table, then what to do, then one line that sums it up.
struct StatusView {
    let accounts: [AccountStatus]
    let time: LocalTime

    /// The lines, each with its newline.
    func render(_ style: TerminalStyle) -> String {
        guard !accounts.isEmpty else { return "no accounts\n" }
        var text = table.render(style) + "\n"
        for account in accounts {
            guard let note = StatusNote(account, time) else { continue }
            text += note.render(style) + "\n"
        }
        return text + summary + "\n" + clocks
    }

    private var table: TextTable {
        var table = TextTable(header: ["ACCOUNT", "STATE", "EXPIRES", "NEXT REFRESH", "ISSUER"], cuttable: [4, 0])
        table.rows = accounts.map { status in
            [
                TextTable.Cell(text: PlainText.line(status.account)),
                TextTable.Cell(text: PlainText.line(status.state), colour: colour(of: status)),
                TextTable.Cell(text: status.expiresAtUSec.map(time.relative) ?? "-"),
                TextTable.Cell(text: nextRefresh(of: status)),
                TextTable.Cell(text: Self.host(of: status.issuer)),
            ]
        }
        return table
    }

    private func nextRefresh(of status: AccountStatus) -> String {
        if status.knownState == .refreshing { return "now" }
        guard let next = status.nextAttemptAtUSec else { return "-" }
        return next <= time.nowUSec ? "now" : time.relative(next)
    }

    private func colour(of status: AccountStatus) -> TerminalStyle.Colour? {
        switch status.knownState {
        case .fresh: .green
        case .refreshing: .cyan
        case .retrying: status.isValid(at: time.nowUSec) ? .yellow : .red
        case .refreshTokenExpiring: .yellow
        case .interactionRequired, .misconfigured: .red
        case .signedOut: .faint
        case nil: nil
        }
    }

    /// A line for each server whose clock is a minute or more away from this machine's: one of the two is wrong, and with a wrong
    /// one certificates and tokens are misjudged.
    private var clocks: String {
        let skews = Dictionary(accounts.map { (Self.host(of: $0.issuer), $0.clockSkewSec ?? 0) }) { first, _ in first }
        return skews.filter { abs($0.value) >= 60 }.sorted { $0.key < $1.key }.reduce(into: "") { text, skew in
            let direction = skew.value > 0 ? "ahead of" : "behind"
            text += "the clock of \(skew.key) is \(LocalTime.length(abs(skew.value))) \(direction) this machine's\n"
        }
    }

    /// `3 accounts: 2 fresh, 1 interaction-required`, in the order of the states' urgency.
    private var summary: String {
        let counts = Dictionary(grouping: accounts, by: \.state).mapValues(\.count)
        let known = AccountState.allCases.map(\.rawValue)
        let order = known.filter { counts[$0] != nil } + counts.keys.filter { !known.contains($0) }.sorted()
        let parts = order.map { "\(counts[$0] ?? 0) \(PlainText.line($0))" }
        let noun = accounts.count == 1 ? "account" : "accounts"
        return "\(accounts.count) \(noun): \(parts.joined(separator: ", "))"
    }

    /// The host of an issuer's URL, with its port; the whole text if it is no URL.
    static func host(of issuer: String) -> String {
        guard let start = issuer.firstRange(of: "://")?.upperBound else { return PlainText.line(issuer) }
        return PlainText.line(String(issuer[start...].prefix { $0 != "/" }))
    }
}
