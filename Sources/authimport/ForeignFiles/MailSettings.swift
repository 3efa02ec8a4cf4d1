/// Commands in the settings files of mail programs.
enum MailSettings {
    /// The lines without comments.
    static func lines(_ settings: [UInt8]) -> [Substring] {
        String(decoding: settings, as: UTF8.self).split(whereSeparator: \.isNewline)
            .filter { $0.first { !$0.isWhitespace && $0 != "\u{FEFF}" } != "#" }
    }

    /// The files that mutt's `source` names, without commands (`source "gpg -d … |"`).
    ///
    /// - Parameter folder: where relative paths begin, with a slash.
    static func sourced(by settings: [UInt8], home: String, folder: String) -> [String] {
        lines(settings).compactMap { line in
            let words = words(line)
            guard words.count == 2, words[0] == "source", !words[1].hasSuffix("|") else { return nil }
            let path = MuttOAuth2Token.expand(words[1], home)
            return path.hasPrefix("/") ? path : folder + path
        }
    }

    /// A program with its arguments in one line; nil if the line does not run it.
    ///
    /// The command may be in quotes, and its arguments in other quotes inside.
    static func command(_ name: String, in line: Substring) -> (program: String, arguments: [String])? {
        guard let found = line.firstRange(of: name) else { return nil }
        let isStart = { (character: Character) in character.isWhitespace || "\"'`=|(".contains(character) }
        let start = line[..<found.lowerBound].lastIndex(where: isStart).map(line.index(after:)) ?? line.startIndex
        guard line[found.upperBound...].first.map({ $0.isWhitespace || "\"'`".contains($0) }) == true else {
            return nil
        }
        let around = openQuote(line[..<start])
        // The program's own name may be in quotes, perhaps inside the command's.
        let (before, after) = (line[..<start].last, line[found.upperBound...].prefix(2))
        let isQuoted =
            before.map { "\"'".contains($0) } == true && after.first == before
            && after.last?.isWhitespace == true
        let rest = line[found.upperBound...].dropFirst(isQuoted ? 1 : 0)
        return (String(line[start..<found.upperBound]), words(rest, until: isQuoted && before == around ? nil : around))
    }

    /// The words of a command, without the quotes around them. It ends with the quote that surrounds it, or where the
    /// shell's next command begins.
    static func words(_ text: Substring, until end: Character? = nil) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = text
        while var character = rest.popFirst() {
            let isEscaped = character == "\\" && rest.first.map { "\"'\\`".contains($0) } == true
            if isEscaped { character = rest.removeFirst() }
            if character == end, !isEscaped { break }
            if quote == nil, !isEscaped, "|;&`".contains(character) { break }
            if "\"'".contains(character), quote == nil || quote == character {
                quote = quote == nil ? character : nil
                word = word ?? ""
            } else if character.isWhitespace, quote == nil {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    /// The quote that is open at the end of a text.
    private static func openQuote(_ text: Substring) -> Character? {
        var open: Character?
        for character in text where "\"'`".contains(character) {
            if open == nil { open = character } else if open == character { open = nil }
        }
        return open
    }
}
