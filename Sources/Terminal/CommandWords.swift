internal import CommandLineProgram

/// Finds the commands in a message: `to see why: journalctl --user -u authrefreshd`.
enum CommandWords {
    /// A word of the message, or a whole command in it.
    struct Part: Equatable {
        let text: String
        let isCommand: Bool
    }

    /// Splits a message at its blanks, except for those in commands.
    ///
    /// A command is in quotes, or it begins the message or follows a colon, and ends with the message or before a
    /// comma or semicolon.
    static func parts(of text: String) -> [Part] {
        var parts: [Part] = []
        var command: [Substring] = []
        var isQuoted = false
        let words = text.split(separator: " ")
        for (index, word) in words.enumerated() {
            if command.isEmpty {
                isQuoted = word.first == "'"
                let isPlace = isQuoted || parts.last?.text.hasSuffix(":") ?? true
                let next = index + 1 < words.count ? words[index + 1] : ""
                guard isPlace, isCommand(isQuoted ? word.dropFirst() : word, next) else {
                    parts.append(Part(text: String(word), isCommand: false))
                    continue
                }
            }
            command.append(word)
            guard isQuoted ? isEndOfQuote(word) : word.hasSuffix(",") || word.hasSuffix(";") else { continue }
            parts.append(Part(text: command.joined(separator: " "), isCommand: true))
            command = []
        }
        return command.isEmpty ? parts : parts + [Part(text: command.joined(separator: " "), isCommand: true)]
    }

    /// Whether the words are the beginning of a command, and not of a sentence about the program.
    private static func isCommand(_ program: Substring, _ next: Substring) -> Bool {
        switch program {
        case "authctl", "authrefreshctl":
            next.hasPrefix("-") || CalledName.commands.contains(String(next.prefix { $0.isLetter || $0 == "-" }))
        case "curl", "journalctl", "systemctl": next.hasPrefix("-")
        case "chmod": next.first?.isNumber ?? false
        case "kubectl": next == "config"
        case "loginctl": next.hasPrefix("enable-linger")
        case "sudo": next == "apt"
        default: false
        }
    }

    private static func isEndOfQuote(_ word: Substring) -> Bool {
        word.reversed().first { !",;:.".contains($0) } == "'"
    }
}
