internal import AuthRefreshInterface

/// Makes text from elsewhere safe to print, and fits it.
enum PlainText {
    /// The text on one line, without characters that steer a terminal: a server's `error_description` is a stranger's.
    static func line(_ text: String) -> String {
        text.replacingSteering(with: "\u{FFFD}")
    }

    static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
    }

    static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// The text in lines of at most `width`, broken between words; a word that is longer is cut.
    static func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var current = ""
        for word in text.split(separator: " ") {
            if !current.isEmpty, current.count + 1 + word.count > width {
                lines.append(current)
                current = ""
            }
            current += current.isEmpty ? cut(String(word), to: width) : " \(word)"
        }
        return lines + (current.isEmpty ? [] : [current])
    }
}
