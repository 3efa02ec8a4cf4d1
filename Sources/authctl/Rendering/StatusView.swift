internal import AuthRefreshInterface

/// What `authctl status` prints: a table, then what to do, then one line that sums it up.
struct StatusView {
    let accounts: [AccountStatus]
    let time: LocalTime

    /// What concerns the daemon as a whole; a line each, with its newline.
    var condition = ""

    /// The lines, each with its newline.
    ///
    /// - Parameter height: how many lines there is room for; nil: as many as there are. Fresh accounts make room first, then other
    ///   lines of the table, which the notes tell too; the summary stays.
    func render(_ style: TerminalStyle, height: Int? = nil) -> String {
        guard !accounts.isEmpty else { return "no accounts\n" + condition }
        let notes = Self.lines(accounts.compactMap { StatusNote($0, time)?.render(style) }.joined(separator: "\n"))
        let end = Self.lines(summary + "\n" + clocks + condition).flatMap {
            WrappedText.lines($0, width: style.width, indent: 2)
        }
        // A blank line stands before the notes, and one after them.
        let others = notes.count + end.count + (notes.isEmpty ? 1 : 2)
        let table = tableLines(style, room: height.map { $0 - others })
        let room = height.map { $0 - others + notes.count - table.count } ?? notes.count
        let shown = notes.count <= room ? notes : notes.prefix(max(0, room - 1)) + ["(name accounts to see all)"]
        let parts = [table, shown, end].filter { !$0.isEmpty }
        return parts.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    private func tableLines(_ style: TerminalStyle, room: Int?) -> [String] {
        guard let room, accounts.count + 1 > room else { return Self.lines(table(accounts).render(style)) }
        // The header, and the line that tells what is missing.
        let count = max(0, room - 2)
        let urgent = accounts.indices.filter { accounts[$0].knownState != .fresh }
        let fresh = accounts.indices.filter { accounts[$0].knownState == .fresh }
        let kept = (urgent + fresh).prefix(count).sorted().map { accounts[$0] }
        let hidden = "(\(accounts.count - kept.count) more: name accounts, or make the terminal taller)"
        return (kept.isEmpty ? [] : Self.lines(table(kept).render(style))) + [hidden]
    }

    private static func lines(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines
    }

    private func table(_ accounts: [AccountStatus]) -> TextTable {
        var table = TextTable(
            header: ["ACCOUNT", "STATE", "EXPIRES", "NEXT REFRESH", "ISSUER"],
            cuttable: [4, 0],
            droppable: [3, 4, 2]
        )
        table.rows = accounts.map { status in
            [
                TextTable.Cell(text: PlainText.line(status.account)),
                TextTable.Cell(text: PlainText.line(status.state), colour: colour(of: status)),
                TextTable.Cell(text: expiry(of: status)),
                TextTable.Cell(text: nextRefresh(of: status)),
                TextTable.Cell(text: Self.host(of: status.issuer)),
            ]
        }
        return table
    }

    private func expiry(of status: AccountStatus) -> String {
        guard let end = status.expiresAtUSec else { return "-" }
        return switch status.expiryBasis {
        case nil: time.relative(end)
        case "unlimited": "never"
        case .some: "\(time.relative(end)) (assumed)"
        }
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
        case .signedOut, .parked: .faint
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
