internal import AuthRefreshInterface

/// Makes text from elsewhere safe to print.
enum PlainText {
    /// The text on one line, without characters that steer a terminal.
    ///
    /// An authorization server's `error_description` is written by a stranger: escape sequences, line breaks and
    /// bidirectional overrides in it would let it forge what the user sees.
    static func line(_ text: String) -> String {
        text.replacingSteering(with: "\u{FFFD}")
    }
}
