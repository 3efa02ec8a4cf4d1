internal import CommandLineProgram
internal import Terminal

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
    /// - Parameter redirectURI: where the answer arrives; nil if there is no such address.
    init(redirectURI: String?, now: ContinuousClock.Instant = .now) {
        let uri = redirectURI.map { " '\(PlainText.line($0))'" } ?? ""
        let show = Command("account", "show").text(by: .here)
        text = """
            Nothing has come back yet. If the page shows an error, this may help:
              unknown client      compare the client id with '\(show)'
              redirect URI        register\(uri) with the client
            Ctrl-C ends the sign-in.

            """
        dueAt = now + Self.delay
    }

    /// Creates a reminder for a slow server.
    ///
    /// - Parameter account: the account whose server has not answered yet.
    init(server account: String, now: ContinuousClock.Instant = .now) {
        text = "\(account): waiting for its authorization server; Ctrl-C cancels\n"
        dueAt = now + Self.quiet
    }

    /// µs until it is due, at least 1.
    var remaining: Int64 {
        let rest = (dueAt - .now).components
        return max(rest.seconds * 1_000_000 + rest.attoseconds / 1_000_000_000_000, 1)
    }
}

extension SignInReminder? {
    /// The lines to show when it is due; returned once.
    mutating func takeIfDue() -> String? {
        guard let reminder = self, reminder.remaining == 1 else { return nil }
        self = nil
        return reminder.text
    }
}
