/// Quotes text as one word of a shell command line.
package enum ShellWord {
    /// The text in single quotes.
    ///
    /// Quotes and backslashes are outside of the quotes, each after a backslash. Within the quotes, a backslash is an
    /// ordinary character in POSIX shells, but begins an escape in fish.
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

    /// The text unchanged if a shell takes it for one word as it is, or else in quotes.
    package static func quotedIfNeeded(_ text: String) -> String {
        let isSpecial = { (character: Character) in
            character.isWhitespace || #"'"\`$&;|<>()[]{}*?!#"#.contains(character)
        }
        return text.isEmpty || text.contains(where: isSpecial) ? quoted(text) : text
    }
}
