internal import Basics
internal import TextEncodings

/// A list of providers. A person chooses one by number, by name, or by the beginning of its name.
struct ProviderChoice {
    enum Meaning: Equatable {
        case provider(String)
        case issuer(String)
        /// Several providers begin like this.
        case several([String])
        /// Nil: nothing that is known resembles it.
        case unknown(nearest: String?)
    }

    let names: [String]

    func meaning(of answer: String) -> Meaning {
        if answer.contains("://") { return .issuer(answer) }
        if names.contains(answer) { return .provider(answer) }
        if let number = Int(answer) {
            return (1...max(names.count, 1)).contains(number) && !names.isEmpty
                ? .provider(names[number - 1]) : .unknown(nearest: nil)
        }
        let word = answer.lowercased()
        let matches = word.isEmpty ? [] : names.filter { $0.hasPrefix(word) }
        guard let match = matches.first else { return .unknown(nearest: Spelling.nearest(to: word, in: names)) }
        return matches.count == 1 ? .provider(match) : .several(matches)
    }

    /// The numbered names, as many per line as fit, each line with a newline.
    func list(width: Int) -> String {
        let digits = String(names.count).count
        let cells = names.enumerated().map { index, name in
            let number = String(index + 1)
            return String(repeating: " ", count: digits - number.count) + number + " " + PlainText.line(name)
        }
        let cell = (cells.map(\.count).max() ?? 0) + 2
        let columns = max(1, width / cell)
        return stride(from: 0, to: cells.count, by: columns).reduce(into: "") { text, start in
            let row = cells[start..<min(start + columns, cells.count)]
            let padded = row.dropLast().map { $0 + String(repeating: " ", count: cell - $0.count) }
            text += padded.joined() + (row.last ?? "") + "\n"
        }
    }
}
