internal import AuthRefreshInterface

/// Makes text from elsewhere safe to print, and fits it.
package enum PlainText {
    /// The text on one line, without characters that steer a terminal.
    ///
    /// An authorization server's `error_description` is written by a stranger: escape sequences, line breaks and
    /// bidirectional overrides in it would let it forge what the user sees.
    package static func line(_ text: String) -> String {
        text.replacingSteering(with: "\u{FFFD}")
    }

    package static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
    }

    package static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

/// Text on lines that a terminal has room for.
package enum WrappedText {
    /// The words on as few lines as they take. A word that is longer than a line stays whole: it may be there to be copied.
    ///
    /// - Parameters:
    ///   - width: columns; nil: one line.
    ///   - indent: columns by which every line but the first is moved.
    ///   - ending: what every line but the last ends with.
    package static func lines(_ text: String, width: Int?, indent: Int = 0, ending: String = "") -> [String] {
        guard let width, text.count > width else { return [text] }
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            let longer = line.isEmpty ? String(word) : "\(line) \(word)"
            if line.isEmpty || longer.count + ending.count <= width - (lines.isEmpty ? 0 : indent) {
                line = longer
            } else {
                lines.append((lines.isEmpty ? "" : margin) + line + ending)
                line = String(word)
            }
        }
        return lines + [(lines.isEmpty ? "" : margin) + line]
    }
}
