internal import AuthRefreshInterface
internal import Terminal
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
        case .interactionRequired: "interaction-required: " + Wording.reason(status.reason) + serverWords
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
        case .interactionRequired: "needs you: " + Wording.reason(status.reason) + serverWords
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

    private var serverWords: String { status.failure.flatMap(Wording.serverWords).map { " (\($0))" } ?? "" }
}

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
            title = "needs you: " + Wording.reason(status.reason)
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
        case .fresh where status.tokenFile?.trouble != nil:
            title = "is fresh, but its token file has a problem"
        case .fresh, .refreshing, nil:
            return nil
        }
        if let trouble = status.tokenFile?.trouble { lines.append(("file", trouble)) }
        if let missing = status.missingScopes { lines.append(("lacks", missing.joined(separator: " "))) }
        if let words = status.failure.flatMap(Wording.serverWords) { lines.append(("server", words)) }
        if let end = status.failure?.workedUntilUSec { lines.append(("worked", "until \(time.both(end))")) }
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

/// Problems of the daemon itself.
enum DaemonCondition {
    /// One line per problem, each with a newline; empty if there is none.
    static func text(_ info: GetInfo.Reply) -> String {
        var text = ""
        if !info.online { text += "no network route: only servers on this machine are asked\n" }
        if let trouble = info.trouble { text += "trouble: \(PlainText.line(trouble))\n" }
        return text
    }
}

/// What stands around the table of `authctl status`.
enum StatusWords {
    static let noAccounts = "no accounts"
    /// The command that adds the first account, as the README begins.
    static let firstLogin = "authctl login work --provider google"
    static let quits = "q quits"
    static let notAnswering = "the daemon does not answer yet, and this is the last known state"
    static let notAnsweringBriefly = "no answer yet"
    static let daemonMissedBriefly = "waiting for the daemon"

    /// - Parameter seconds: how long the next daemon is looked for.
    static func daemonMissed(seconds: Int) -> String {
        "the daemon has ended; waiting at most \(seconds) s for the next one"
    }

    static func accounts(_ count: some BinaryInteger) -> String { "\(count) \(count == 1 ? "account" : "accounts")" }

    /// - Parameter seconds: how far the server's clock is ahead of ours.
    static func clock(of host: String, ahead seconds: Int64) -> String {
        let (length, direction) = (Int64(clamping: seconds.magnitude), seconds > 0 ? "ahead of" : "behind")
        return "the clock of \(host) is \(LocalTime.length(length)) \(direction) this machine's"
    }

    /// What is out of sight; the lines are accounts or what is to be said about them.
    static func hidden(accounts: Int, above: Int, below: Int) -> String {
        (accounts == 0 ? "" : "\(Self.accounts(accounts)) out of sight; ")
            + "arrow keys scroll (\(above) above, \(below) below)"
    }

    static func hiddenBriefly(accounts: Int, above: Int, below: Int) -> String {
        (accounts == 0 ? "" : "\(accounts) hidden; ") + "\(above) above, \(below) below"
    }
}
