/// Makes text from elsewhere safe to print.
enum PlainText {
    /// The text on one line, without characters that steer a terminal.
    ///
    /// An authorization server's `error_description` is written by a stranger: escape sequences, line breaks and
    /// bidirectional overrides in it would let it forge what the user sees.
    static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isSteering) else { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(isSteering(scalar) ? "\u{FFFD}" : scalar)
        }
        return String(scalars)
    }

    private static func isSteering(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
