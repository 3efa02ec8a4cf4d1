internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// What the user should know about an account in addition to its line in the table.
struct StatusNote {
    /// The column where the text after a label begins.
    private static let margin = 12

    private let account: String
    private let title: String
    private let lines: [(label: String, text: String)]

    /// Returns nil if nothing is wrong, or if the problem will pass by itself.
    init?(_ status: AccountStatus, _ time: LocalTime) {
        var lines: [(label: String, text: String)] = []
        switch status.knownState {
        case .interactionRequired:
            title = "needs you: " + Wording.reason(status.reason, summary: status.failure?.summary)
        case .misconfigured where status.isDamaged:
            title = "cannot be used" + Self.because(status)
        case .misconfigured:
            title = "cannot be refreshed as it is set up" + Self.because(status)
        case .signedOut:
            title = "is signed out: there is no grant"
        case .parked:
            title = "is parked: \(Wording.parked(status)), and it is not refreshed here"
        case .refreshTokenExpiring:
            title =
                "will need you: " + StatusSentence(status: status, time: time).grantEnd
        case .retrying:
            title = (status.isValid(at: time.nowUSec) ? "is retrying" : "has no valid token") + Self.because(status)
        case .fresh where status.refreshTokenMissing != nil:
            title = "cannot be refreshed: the server gave no refresh token. Sign in again when the access token expires"
        case .fresh where status.hint != nil && status.clientSecretExpiresAtUSec != nil:
            title =
                "will be refused by the server: the client secret expires "
                + (status.clientSecretExpiresAtUSec.map(time.both) ?? "soon")
        case .fresh where status.missingScopes != nil:
            title = "works, but its access token lacks scopes that the server granted"
            lines.append(
                ("next", "the next refresh asks for all scopes; if some are still missing then, sign in again")
            )
        case .fresh where status.declinedScopes != nil:
            title = "works, but you or the server did not grant every scope that it is for"
        case .fresh where status.tokenFile?.trouble != nil:
            title = "is fresh, but its token file has a problem"
        case .fresh where status.grantEndsAtUSec != nil:
            title = "works, and will need you: " + StatusSentence(status: status, time: time).grantEnd
        case .fresh, .refreshing, nil:
            return nil
        }
        if let trouble = status.tokenFile?.trouble { lines.append(("file", trouble)) }
        if let declined = status.declinedScopes { lines.append(("declined", declined.joined(separator: " "))) }
        if let missing = status.missingScopes { lines.append(("lacks", missing.joined(separator: " "))) }
        if let words = status.failure.flatMap(Wording.serverWords) { lines.append(("server", words)) }
        if let end = status.failure?.workedUntilUSec { lines.append(("worked", "until \(time.both(end))")) }
        if let since = status.sinceUSec { lines.append(("since", time.both(since))) }
        if ["rejectedWithoutReason", "userRequired"].contains(status.reason), let next = status.nextAttemptAtUSec {
            lines.append(("next", "the daemon tries again \(time.both(next))"))
        }
        if status.failures > 1 { lines.append(("failures", "\(status.failures) in a row")) }
        if let correlation = status.failure?.correlationId {
            lines.append(("journal", "\(JournalKey.correlationID.rawValue)=\(correlation)"))
        }
        if let help = status.help { lines.append(("run", help.text(by: .here))) }
        self.lines = lines
        self.account = status.account
    }

    private static func because(_ status: AccountStatus) -> String {
        status.failure.map { ": \($0.summary)" } ?? ""
    }

    /// The lines, each with a newline.
    ///
    /// - Parameter breaking: whether long words are broken at the edge.
    func render(_ style: TerminalStyle, breaking: Bool = false) -> String {
        let heading = WrappedText.lines(
            PlainText.line("\(account) \(title)"),
            width: style.width,
            indent: 2,
            breaking: breaking
        )
        var text = heading.joined(separator: "\n") + "\n"
        for (label, words) in lines {
            let padding = String(repeating: " ", count: max(1, Self.margin - 2 - label.count))
            let wrapped = WrappedText.lines(
                PlainText.line(words),
                width: style.width.map { $0 - Self.margin },
                // So that a copied command is still complete.
                ending: label == "run" ? " \\" : "",
                breaking: breaking
            )
            let rest = "\n" + String(repeating: " ", count: Self.margin)
            text += "  " + style.paint(label, .faint) + padding + wrapped.joined(separator: rest) + "\n"
        }
        return text
    }
}
