/// Text as one word of a shell's command line.
package enum ShellWord {
    /// The text in single quotes.
    ///
    /// Quotes and backslashes stand outside of them, each behind a backslash: within them a backslash is one character to POSIX shells and
    /// begins an escape in fish.
    package static func quoted(_ text: String) -> String {
        var quoted = "'"
        for character in text.unicodeScalars {
            switch character {
            case "'": quoted += #"'\''"#
            case "\\": quoted += #"'\\'"#
            default: quoted.unicodeScalars.append(character)
            }
        }
        return quoted + "'"
    }
}
