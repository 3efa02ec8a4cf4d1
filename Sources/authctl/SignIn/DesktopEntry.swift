internal import AuthRefreshInterface

/// A desktop entry of a browser: an installed application's, or one that the person wrote (Desktop Entry Specification
/// 1.5).
struct DesktopEntry {
    static let suffix = ".desktop"

    /// The name that desktops show.
    let name: String
    /// The program and its arguments; `%s` stands for the address.
    let words: [String]

    /// Finds the entry of a browser.
    ///
    /// - Parameter id: its file's name, with or without the suffix.
    /// - Returns: nil if there is none, or if it does not open web addresses in a window of its own.
    init?(browser id: String, in surroundings: Surroundings) {
        guard LoginBrowser.isName(id) else { return nil }
        let file = id.hasSuffix(Self.suffix) ? id : id + Self.suffix
        // The person's own entry replaces the installed one of the same name.
        let text = Self.folders(in: surroundings).lazy.compactMap { surroundings.text("\($0)/\(file)") }.first
        guard let text else { return nil }
        self.init(text, id: id)
    }

    /// Reads the text of an entry; nil if it is not a browser's.
    init?(_ text: String, id: String) {
        var keys: [Substring: Substring] = [:]
        var isInGroup = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") { isInGroup = line == "[Desktop Entry]" }
            guard isInGroup, let equals = line.firstIndex(of: "=") else { continue }
            let key = line[..<equals].prefix { $0 != " " }
            keys[key] = line[line.index(after: equals)...].drop { $0 == " " }
        }
        let types = keys["MimeType"]?.split(separator: ";") ?? []
        let opensPages = types.contains { $0 == "x-scheme-handler/https" || $0 == "x-scheme-handler/http" }
        guard keys["Type"] == "Application", opensPages, keys["Hidden"] != "true", keys["Terminal"] != "true",
            let words = keys["Exec"].flatMap(Self.words), !words.isEmpty
        else { return nil }
        name = keys["Name"].map(String.init) ?? id
        self.words = words
    }

    /// Splits the value of `Exec`; nil for one that is not allowed.
    private static func words(_ exec: Substring) -> [String]? {
        var (words, word): ([String], String?) = ([], nil)
        var isQuoted = false
        // The escapes of all values come first, those of quoted words after them.
        var rest = unescaped(exec).makeIterator()
        while let character = rest.next() {
            switch character {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case "\\":
                guard let next = rest.next() else { return nil }
                word = (word ?? "") + String(next)
            case " " where !isQuoted:
                if let whole = word { words.append(whole) }
                word = nil
            case "%":
                guard let code = rest.next() else { return nil }
                switch code {
                case "%": word = (word ?? "") + "%"
                case "u", "U", "f", "F": word = (word ?? "") + "%s"
                // Icon, name and place are for desktops; the others are deprecated.
                default: break
                }
            default: word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted else { return nil }
        return words + (word.map { [$0] } ?? [])
    }

    private static func unescaped(_ value: Substring) -> String {
        var (text, rest) = ("", value.makeIterator())
        while let character = rest.next() {
            guard character == "\\" else {
                text.append(character)
                continue
            }
            switch rest.next() {
            case "s", "n", "t", "r": text.append(" ")
            case let other: text.append(other ?? "\\")
            }
        }
        return text
    }

    /// The folders of desktop entries, the person's own first.
    static func folders(in surroundings: Surroundings) -> [String] {
        surroundings.dataFolders.map { "\($0)/applications" }
    }
}
