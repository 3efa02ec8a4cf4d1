/// The form of every text that a person meets: one plain line.
package enum MessageForm {
    /// What is wrong with a message or a hint; empty if nothing is.
    package static func flaws(of text: String) -> [String] {
        // Everybody says "there is no file".
        let plain = text.replacing("here is no ", with: "").replacing("here are no ", with: "")
        var flaws = riddles.filter(plain.contains)
        if text.isEmpty { flaws.append("empty") }
        if text.hasSuffix(".") { flaws.append("full stop") }
        if text.hasSuffix("!") { flaws.append("exclamation mark") }
        if text.contains("\n") { flaws.append("several lines") }
        if text.contains("  ") { flaws.append("two spaces") }
        // `tooManyConnections(limit: 512)`, `Optional(5)`, `1.0 seconds`.
        if text.contains(/\b[a-z]+[A-Za-z]*\([a-z]+[A-Za-z]*: |Optional\(|\.0 seconds|\bSwift\./) {
            flaws.append("a value of Swift")
        }
        return flaws.map { "\($0): \(text)" }
    }

    /// What is wrong with a message; empty if nothing is. It begins in lower case or with what it is about.
    ///
    /// - Parameter names: the names that a message may begin with: `Google`, `HTTPS_PROXY`.
    package static func flaws(ofMessage text: String, names: [String] = []) -> [String] {
        let isName = names.contains(where: text.hasPrefix)
        let begins = text.first.map { $0.isLowercase || $0.isNumber || $0 == "'" } ?? false
        return flaws(of: text) + (begins || isName ? [] : ["not lower case: \(text)"])
    }

    /// What is wrong with a page for a browser; empty if nothing is. The title is a heading, the rest are sentences, and
    /// a colon leads to the command.
    package static func flaws(ofPage title: String, _ text: String, advice: String?, command: String?) -> [String] {
        var flaws = Self.flaws(of: title)
        if title.first?.isUppercase != true { flaws.append("not upper case: \(title)") }
        for sentences in [text, advice].compactMap(\.self) {
            let end: Character = sentences == advice && command != nil ? ":" : "."
            if sentences.last != end { flaws.append("does not end with '\(end)': \(sentences)") }
            if sentences.first?.isUppercase != true { flaws.append("not upper case: \(sentences)") }
            flaws += Self.flaws(of: String(sentences.dropLast()))
        }
        if command != nil, advice == nil { flaws.append("a command without advice: \(title)") }
        if let command, !command.hasPrefix("authctl ") { flaws.append("not a command: \(command)") }
        return flaws
    }

    /// Not these: each has a plain word that everybody uses.
    private static let riddles = [
        "comes to rest", "is none", "are none", "is had", "be had", "it is tried", "goes on", " holds ", "anew",
        " is no ", "are no ", "mend", "another one than", "is taken", "no longer taken", "all the same", "seldom",
    ]
}
