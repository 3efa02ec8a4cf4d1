/// Makes foreign text safe to print, and fits it to a width.
package enum PlainText {
    /// The text on one line, without terminal control characters.
    ///
    /// Strangers write an authorization server's `error_description`. With escape sequences, line breaks and
    /// bidirectional overrides, it could forge what the user sees.
    package static func line(_ text: String) -> String {
        text.replacingSteering(with: "\u{FFFD}")
    }

    /// The lines without control characters, as they leave the program. So a view that forgets to check a stranger's text
    /// shows a wrong text at worst.
    ///
    /// - Parameter marks: further control sequences that stay, besides our colors.
    package static func lines(_ text: String, keeping marks: [String] = []) -> String {
        let isForeign = { (scalar: Unicode.Scalar) in scalar.isSteering && scalar != "\n" }
        guard text.unicodeScalars.contains(where: isForeign) else { return text }
        let marks = (TerminalStyle.marks + marks).map(\.unicodeScalars)
        var (shown, rest) = (String.UnicodeScalarView(), text.unicodeScalars[...])
        while let first = rest.first {
            let mark = isForeign(first) ? marks.first(where: { rest.starts(with: $0) }) : nil
            if let mark { shown.append(contentsOf: mark) } else { shown.append(isForeign(first) ? "\u{FFFD}" : first) }
            rest = rest.dropFirst(mark?.count ?? 1)
        }
        return String(shown)
    }

    /// JSON in which a terminal obeys no character either: the others are written as escapes, which mean the same.
    package static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.isSteering && $0 != "\n" }) else { return text }
        return text.unicodeScalars.reduce(into: "") { json, scalar in
            guard scalar.isSteering, scalar != "\n" else { return json.unicodeScalars.append(scalar) }
            // RFC 8259 §7. All of them are in the Basic Multilingual Plane.
            let digits = String(scalar.value, radix: 16)
            json += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    package static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - TerminalWidth.of(text)))
    }
}

/// Wraps text to the width of a terminal.
package enum WrappedText {
    /// Wraps the words to as few lines as possible.
    ///
    /// A word of narrow characters that is longer than a line stays whole, because the user may want to copy it.
    /// Scripts without blanks are broken at the end of the line.
    ///
    /// - Parameters:
    ///   - width: the number of columns; nil gives one line.
    ///   - indent: by how many columns every line except the first is indented.
    ///   - ending: the end of every line except the last.
    ///   - breaking: whether long words are broken, too, so that nothing exceeds the width.
    package static func lines(
        _ text: String,
        width: Int?,
        indent: Int = 0,
        ending: String = "",
        breaking: Bool = false
    ) -> [String] {
        guard let width, TerminalWidth.of(text) > width else { return [text] }
        let room = max(1, width - indent - TerminalWidth.of(ending))
        let words = text.split(separator: " ").map { pieces(of: String($0), room, breaking) }
        return fill(words, width, indent, ending)
    }

    /// Wraps a message so that the commands in it can be copied.
    ///
    /// A command stays on one line if it fits there. The lines of a longer one end with a backslash, as a shell reads
    /// it.
    ///
    /// - Parameters:
    ///   - message: what is said. Control characters in it are replaced.
    ///   - called: the name of `authctl` in its commands.
    ///   - charset: the characters that the lines may have.
    ///   - width: the number of columns; nil gives one line.
    ///   - indent: by how many columns every line except the first is indented.
    package static func message(
        _ message: Hint,
        by called: InvokedAs,
        charset: Charset = .utf8,
        width: Int?,
        indent: Int = 0
    ) -> [String] {
        let parts = message.parts.map { part in
            switch part {
            case .text(let text): (text: charset.rendered(PlainText.line(text)), isCommand: false)
            case .command(let command):
                (text: charset.rendered(PlainText.line(command.text(by: called))), isCommand: true)
            }
        }
        let text = parts.map(\.text).joined()
        guard let width, TerminalWidth.of(text) > width else { return [text] }
        let room = max(1, width - indent)
        let words = words(of: parts).flatMap { word in
            word.isCommand
                ? lines(word.text, width: room, ending: " \\").map { [$0] } : [pieces(of: word.text, room, false)]
        }
        return fill(words, width, indent, "")
    }

    /// The lines of `authctl: KIND: message` on standard error, wrapped for a person at a terminal, each with a newline.
    ///
    /// - Parameters:
    ///   - kind: `error`, `hint`, `warning` or `note`.
    ///   - called: the name of `authctl` in the message's commands.
    package static func report(_ kind: String, _ text: Hint, by called: InvokedAs, _ style: TerminalStyle) -> String {
        message("authctl: \(kind): \(text)", by: called, charset: style.charset, width: style.width, indent: 2)
            .joined(separator: "\n") + "\n"
    }

    /// The words of a message. A command is one word, with the quotes and the punctuation that touch it.
    private static func words(of parts: [(text: String, isCommand: Bool)]) -> [(text: String, isCommand: Bool)] {
        var words: [(text: String, isCommand: Bool)] = []
        var isOpen = false
        for part in parts {
            let pieces =
                part.isCommand ? [part.text[...]] : part.text.split(separator: " ", omittingEmptySubsequences: false)
            for (index, piece) in pieces.enumerated() {
                isOpen = isOpen && index == 0
                guard !piece.isEmpty else { continue }
                let before = isOpen ? words.popLast() : nil
                words.append(((before?.text ?? "") + piece, part.isCommand || before?.isCommand ?? false))
                isOpen = true
            }
        }
        return words
    }

    /// Wraps the lines of a text for people, except for those that are indented: they are addresses, codes and tables.
    ///
    /// A blank at the end stays, as behind a question.
    package static func text(_ text: String, width: Int?) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let width, !line.hasPrefix(" "), TerminalWidth.of(String(line)) > width else { return String(line) }
            return lines(String(line), width: width).joined(separator: "\n") + (line.hasSuffix(" ") ? " " : "")
        }.joined(separator: "\n")
    }

    /// Puts as many words into each line as have room.
    ///
    /// - Parameter words: each as the pieces between which a line may end.
    private static func fill(_ words: [[String]], _ width: Int, _ indent: Int, _ ending: String) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in words {
            for (index, piece) in word.enumerated() {
                let longer = line.isEmpty ? piece : line + (index == 0 ? " " : "") + piece
                let columns = TerminalWidth.of(longer) + TerminalWidth.of(ending)
                if line.isEmpty || columns <= width - (lines.isEmpty ? 0 : indent) {
                    line = longer
                } else {
                    lines.append((lines.isEmpty ? "" : margin) + line + ending)
                    line = piece
                }
            }
        }
        return lines + [(lines.isEmpty ? "" : margin) + line]
    }

    /// The parts between which a line may end. Most words have only one part.
    private static func pieces(of word: String, _ room: Int, _ breaking: Bool) -> [String] {
        let isWide = TerminalWidth.of(word) > word.count
        if isWide { return word.map(String.init) }
        guard breaking, TerminalWidth.of(word) > room else { return [word] }
        var pieces: [String] = []
        var rest = word[...]
        while !rest.isEmpty {
            let piece = TerminalWidth.prefix(of: String(rest), columns: room)
            pieces.append(piece.isEmpty ? String(rest.prefix(1)) : String(piece))
            rest = rest.dropFirst(max(1, piece.count))
        }
        return pieces
    }
}
