/// What the person is told after a while in which nothing came back.
///
/// A server that does not know the client, or its redirect URI, must not send the browser back (RFC 6749 §4.1.2.1): it shows a page of its
/// own, and this program hears nothing.
struct SignInReminder {
    /// Long enough to type a password, short enough for somebody who looks at an error page.
    static let delay = Duration.seconds(30)

    /// How long nothing may happen without a word.
    static let quiet = Duration.seconds(2)

    /// The lines to show, with their newlines.
    let text: String
    private let dueAt: ContinuousClock.Instant

    /// - Parameter redirectURI: by which the answer comes; nil: by none.
    init(redirectURI: String?, now: ContinuousClock.Instant = .now) {
        text = SignInProgress.nothingYet(redirectURI: redirectURI)
        dueAt = now + Self.delay
    }

    /// - Parameter account: whose server has not answered yet.
    init(server account: String, now: ContinuousClock.Instant = .now) {
        text = SignInProgress.waitingForServer(account)
        dueAt = now + Self.quiet
    }

    /// µs until it is due, 1 or more.
    var remaining: Int64 {
        let rest = (dueAt - .now).components
        return max(rest.seconds * 1_000_000 + rest.attoseconds / 1_000_000_000_000, 1)
    }
}

extension SignInReminder? {
    /// The lines to show, once, when it is time.
    mutating func takeIfDue() -> String? {
        guard let reminder = self, reminder.remaining == 1 else { return nil }
        self = nil
        return reminder.text
    }
}
