internal import AuthRefreshInterface

/// What the user should know about one account beyond its line in the table.
struct StatusNote {
    /// Columns before the words that stand beside a label.
    private static let margin = 12

    private let account: String
    private let title: String
    private let lines: [(label: String, text: String)]

    /// Nil if there is nothing to say: all is well, or time will heal it.
    init?(_ status: AccountStatus, _ time: LocalTime) {
        var lines: [(label: String, text: String)] = []
        switch status.knownState {
        case .interactionRequired:
            title = "needs you: " + Wording.reason(status.reason)
        case .misconfigured where status.isDamaged:
            title = "cannot be used" + Self.because(status)
        case .misconfigured:
            title = "cannot be refreshed as it is set up" + Self.because(status)
        case .signedOut:
            title = "is signed out: there is no grant"
        case .parked:
            title = "is parked: it was exported to be moved, and is not refreshed here"
        case .refreshTokenExpiring:
            title =
                "will need you: the refresh token ends "
                + (status.refreshTokenExpiresAtUSec.map(time.both) ?? "soon")
        case .retrying:
            title = (status.isValid(at: time.nowUSec) ? "is retrying" : "has no valid token") + Self.because(status)
        case .fresh where status.hint != nil && status.clientSecretExpiresAtUSec != nil:
            title =
                "will be refused by the server: the client secret ends "
                + (status.clientSecretExpiresAtUSec.map(time.both) ?? "soon")
        case .fresh, .refreshing, nil:
            return nil
        }
        if let words = status.failure.flatMap(Wording.serverWords) { lines.append(("server", words)) }
        if let since = status.sinceUSec { lines.append(("since", time.both(since))) }
        if status.reason == "rejectedWithoutReason", let next = status.nextAttemptAtUSec {
            lines.append(("next", "the daemon tries again \(time.both(next))"))
        }
        if status.failures > 1 { lines.append(("failures", "\(status.failures) in a row")) }
        if let correlation = status.failure?.correlationId {
            lines.append(("journal", "AUTHREFRESH_CORRELATION_ID=\(correlation)"))
        }
        if let hint = status.hint { lines.append(("run", hint)) }
        self.lines = lines
        self.account = status.account
    }

    private static func because(_ status: AccountStatus) -> String {
        status.failure.map { ": \($0.summary)" } ?? ""
    }

    /// The lines, each with its newline.
    func render(_ style: TerminalStyle) -> String {
        let heading = WrappedText.lines(PlainText.line("\(account) \(title)"), width: style.width, indent: 2)
        var text = heading.joined(separator: "\n") + "\n"
        for (label, words) in lines {
            let padding = String(repeating: " ", count: max(1, Self.margin - 2 - label.count))
            let wrapped = WrappedText.lines(
                PlainText.line(words),
                width: style.width.map { $0 - Self.margin },
                // A command that was copied stays one.
                ending: label == "run" ? " \\" : ""
            )
            let rest = "\n" + String(repeating: " ", count: Self.margin)
            text += "  " + style.paint(label, .faint) + padding + wrapped.joined(separator: rest) + "\n"
        }
        return text
    }
}
