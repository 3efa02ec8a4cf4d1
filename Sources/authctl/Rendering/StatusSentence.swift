internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// One account's state in one line: `fresh until 14:02 (in 59 min)`.
struct StatusSentence: CustomStringConvertible {
    let status: AccountStatus
    let time: LocalTime

    var description: String {
        switch status.knownState {
        case .fresh: "fresh" + until + (status.refreshTokenMissing == nil ? "" : ", and cannot be refreshed")
        case .refreshing: "refreshing" + (isValid ? "; valid" + until : "")
        case .retrying: "retrying\(next), \(isValid ? "valid" + until : "no valid token")" + because
        case .interactionRequired: "interaction-required: " + reason + serverWords
        case .refreshTokenExpiring:
            "fresh\(until); " + grantEnd
        case .signedOut: "signed-out"
        case .parked: "parked: \(Wording.parked(status)), not refreshed here" + (isValid ? "; valid" + until : "")
        case .misconfigured: "misconfigured" + because
        case nil: PlainText.line(status.state) + until
        }
    }

    /// What is said, after the account's name, of a refresh that brought no new token.
    var failure: String {
        switch status.knownState {
        case .fresh, .refreshing, .retrying, .refreshTokenExpiring, nil:
            "could not be refreshed\(because); "
                + (isValid ? "the current token is valid\(until)" : "there is no valid token")
                + (status.nextAttemptAtUSec.map { "; next attempt \(time.relative($0))" } ?? "")
        case .interactionRequired: "needs you: " + reason + serverWords
        case .signedOut: "is signed out"
        case .parked: "is parked: \(Wording.parked(status)), and it is not refreshed here"
        case .misconfigured: "cannot be refreshed as it is set up" + because
        }
    }

    private var isValid: Bool { status.isValid(at: time.nowUSec) }

    /// How and when the grant ends.
    var grantEnd: String {
        let (token, signOut) = (status.refreshTokenExpiresAtUSec, status.signOutAtUSec)
        if let signOut, signOut <= token ?? signOut { return "it signs out by itself \(time.both(signOut))" }
        return "the refresh token expires " + (token.map(time.both) ?? "soon")
    }

    private var until: String {
        if status.expiryBasis == "unlimited" { return ", never expires" }
        guard let end = status.expiresAtUSec else { return "" }
        let why = status.expiryBasis.map { ", assumed: " + Wording.basis($0) } ?? ""
        return " until \(time.both(end))\(why)"
    }

    private var next: String { status.nextAttemptAtUSec.map { " \(time.relative($0))" } ?? "" }

    private var because: String {
        status.failure.map { ": " + PlainText.line(Wording.joined($0.summary, $0)) } ?? ""
    }

    private var reason: String { Wording.reason(status.reason, summary: status.failure?.summary) }

    private var serverWords: String { status.failure.flatMap(Wording.serverWords).map { " (\($0))" } ?? "" }
}

extension StatusSentence {
    /// `work: fresh until 14:02 (in 59 min)`, wrapped, with a newline.
    static func line(for status: AccountStatus) -> String {
        let line = PlainText.line("\(status.account): \(StatusSentence(status: status, time: .now))")
        return WrappedText.lines(line, width: TerminalStyle.standardOutput.width, indent: 2)
            .joined(separator: "\n") + "\n"
    }
}

extension Report {
    /// The refresh that was waited for brought no new token.
    static func notFresh(_ status: AccountStatus) -> Report {
        var report = Report(
            status: status.refreshExitStatus,
            name: "authctl.NotFresh",
            message: "'\(status.account)' \(StatusSentence(status: status, time: .now).failure)",
            hints: [status.help ?? "\(Command("status", status.account))"],
            parameters: JSONText.object([("status", WireText.encode(status))]),
            cause: .notFresh
        )
        report.isWithoutAnswer = status.isWithoutAnswer
        return report
    }
}
