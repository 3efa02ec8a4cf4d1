internal import AuthRefreshInterface
internal import Basics

/// What the person is told if no answer arrives for some time.
///
/// A server that does not know the client, or its redirect URI, must not send the browser back (RFC 6749 §4.1.2.1). It
/// shows an error page, and this program hears nothing.
struct SignInReminder {
    /// Long enough to type a password, and short enough for somebody who looks at an error page.
    static let delay = Duration.seconds(30)

    /// How long the program may be silent.
    static let quiet = Duration.seconds(2)

    /// The lines to show, with their newlines.
    let text: String
    private let dueAt: ContinuousClock.Instant

    /// Creates a reminder for a sign-in.
    ///
    /// - Parameters:
    ///   - invitation: what the daemon said of the sign-in.
    ///   - account: the account that is signed in to.
    init(_ invitation: StartSignIn.Reply, of account: String, now: ContinuousClock.Instant = .now) {
        let help = invitation.selfRegistered ?? false ? Self.newClient(of: account) : Self.settings(invitation, account)
        text = """
            Nothing has come back yet. If the page shows an error, this may help:
            \(help)
            Ctrl-C ends the sign-in.

            """
        dueAt = now + Self.delay
    }

    /// What helps a client that the server registered.
    private static func newClient(of account: String) -> String {
        let register = Command("account", "edit", PlainText.line(account), "--register").text(by: .here)
        return """
              unknown client      '\(register)' registers a new one
              redirect URI        the same
            """
    }

    /// What helps a client that a person registered.
    private static func settings(_ invitation: StartSignIn.Reply, _ account: String) -> String {
        let show = Command("account", "show").text(by: .here)
        let uri = invitation.registeredUri ?? invitation.redirectUri
        let advice = uri.map { RedirectWords.advice($0, of: account) } ?? "register it with the client"
        return """
              unknown client      compare the client id with '\(show)'
              redirect URI        \(advice)
            """
    }

    /// Creates a reminder for a slow server.
    ///
    /// - Parameter account: the account whose server has not answered yet.
    init(server account: String, now: ContinuousClock.Instant = .now) {
        text = "\(account): waiting for its authorization server; Ctrl-C cancels\n"
        dueAt = now + Self.quiet
    }

    /// µs until it is due, at least 1.
    var remaining: Int64 { PageOpening.rest(until: dueAt) ?? 1 }
}

extension SignInReminder? {
    /// The lines to show when it is due; returned once.
    mutating func takeIfDue() -> String? {
        guard let reminder = self, reminder.remaining == 1 else { return nil }
        self = nil
        return reminder.text
    }
}

/// What people do about a redirect URI that a server does not know.
enum RedirectWords {
    /// Whether the URI leads to a port of this machine that is another one each time (RFC 8252 §7.3).
    static func isWithoutPort(_ uri: String) -> Bool {
        uri.wholeMatch(of: /http:\/\/(127\.0\.0\.1|localhost|\[[0-9a-fA-F:]+\])(\/.*)?/) != nil
    }

    /// The account's own URI with the port that it fixes; nil if it has another one, or none.
    static func uri(of settings: AccountSettings) -> String? {
        guard let uri = settings.redirectUri, let port = settings.redirectPort, isWithoutPort(uri) else { return nil }
        let path = uri.dropFirst("http://".count).firstIndex(of: "/") ?? uri.endIndex
        return "\(uri[..<path]):\(port)\(uri[path...])"
    }

    /// The advice in one line.
    static func advice(_ uri: String, of account: String) -> String {
        let register = "register '\(PlainText.line(uri))' with the client"
        return isWithoutPort(uri) ? "\(register); \(port(of: account).text(by: .here))" : register
    }

    /// What helps if the server wants the port in it, too.
    static func port(of account: String) -> Hint {
        let command = Command("account", "edit", PlainText.line(account), "--redirect-port", "PORT")
        return "if the server wants a port in it: \(command), and register it with that port"
    }

    /// The lines before the first sign-in, each with a newline.
    static func request(_ uri: String, of account: String) -> String {
        let account = PlainText.line(account)
        let note = isWithoutPort(uri) ? "  \(port(of: account).text(by: .here))\n\n" : ""
        return "\(account): register this redirect URI with the client first:\n\n  \(PlainText.line(uri))\n\n\(note)"
    }
}
