internal import AuthRefreshInterface
internal import TextEncodings

/// What a notification says of an account that needs its user.
struct NotificationText: Equatable {
    let summary: String
    let body: String
    /// When the need began, µs since 1970; another instant is another need.
    let since: Int64
    /// Why the last sign-in from here brought nothing; nil: there was none.
    var problem: String?

    /// Nil if the account needs nobody.
    init?(_ status: AccountStatus) {
        // Of an account that others' tokens are derived from, it is told once, and not for each of them.
        guard status.state == "interaction-required", status.reason != "sourceAccount" else { return nil }
        let server = Self.line(ShownHost.of(status.issuer))
        summary = NotificationWords.signInSummary(Self.line(status.account))
        body = NotificationWords.signInBody(server: server, reason: status.failure.map { Self.line($0.summary) })
        since = status.sinceUSec ?? 0
    }

    /// The body in the markup of the desktop notifications specification, in which some servers show it.
    ///
    /// - Parameter hasActions: whether the server shows buttons; without them the command is named.
    func markup(hasActions: Bool, command: String) -> String {
        let lines = [problem, body, hasActions ? nil : command].compactMap(\.self)
        return lines.map { Self.escaped(Self.line($0)) }.joined(separator: "\n")
    }

    /// Scalar by scalar, as servers read it: what Swift calls a character may be a letter and the "<" behind it (U+0D4E joins them).
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
