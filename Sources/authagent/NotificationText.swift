internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// The text of a notification about an account that needs its user.
struct NotificationText: Equatable {
    let summary: String
    let body: String
    /// When the need began, in µs since 1970. Another time means another need.
    let since: Int64
    /// Why the last sign-in from here failed; nil if there was none.
    var problem: String?
    /// Whether a sign-in helps.
    let offersSignIn: Bool
    /// Whether it only announces what will be needed, or tells what the person has set up.
    var isQuiet = false

    /// The text about all accounts that are parked because the store came from another machine.
    static let parked = NotificationText()

    private init() {
        summary = "Accounts are parked"
        let resume = Command("account", "resume", "--all").text(by: .usual)
        body =
            "They came with a store from another machine. Two machines must not use the same grants."
            + " If the other one no longer uses them, run: \(resume)"
        (since, offersSignIn) = (0, false)
    }

    /// The text about an account whose grant ends soon, whatever is done.
    private init?(endingGrantOf status: AccountStatus) {
        guard status.state == "refresh-token-expiring",
            let end = status.grantEndsAtUSec ?? status.signOutAtUSec ?? status.refreshTokenExpiresAtUSec
        else { return nil }
        let name = Self.line(status.account)
        summary = "\(name) will need you"
        let time = LocalTime.now.clock(end)
        body = status.signOutAtUSec == end ? "It signs out by itself: \(time)" : "Its sign-in ends: \(time)"
        (since, offersSignIn, isQuiet) = (end, true, true)
    }

    /// The text about an account that has signed out by itself at `time`.
    init(signedOutByItself account: String, atUSec time: Int64) {
        summary = "\(Self.line(account)) is signed out"
        body = "The time that was set for it is over"
        (since, offersSignIn, isQuiet) = (time, true, true)
    }

    /// Returns nil if the account needs nobody.
    init?(_ status: AccountStatus) {
        if let ending = Self(endingGrantOf: status) {
            self = ending
            return
        }
        // A source account is notified once, and not for each account derived from it.
        guard status.state == "interaction-required", status.reason != "sourceAccount" else { return nil }
        let server = Self.line(ShownHost.of(status.issuer))
        summary = "Sign in to \(Self.line(status.account))"
        let reason = status.failure.map { ": \(Self.line($0.summary))" } ?? ""
        body = "\(server) wants you to sign in again\(reason)"
        since = status.sinceUSec ?? 0
        offersSignIn = true
    }

    /// The body in the markup of the desktop notifications specification.
    ///
    /// - Parameter hasActions: whether the server shows buttons. Without buttons, the text names the command.
    func markup(hasActions: Bool, command: String) -> String {
        let lines = [problem, body, hasActions || !offersSignIn ? nil : command].compactMap(\.self)
        return lines.map { Self.escaped(Self.line($0)) }.joined(separator: "\n")
    }

    /// Escapes scalar by scalar, as servers read it, because a Swift character may consist of a letter and the "<"
    /// after it (U+0D4E joins them).
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.isSteering }))
    }
}
