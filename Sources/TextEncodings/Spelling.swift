/// Guesses what a mistyped word was meant to be.
package enum Spelling {
    /// A longer word is not a mistyped name and may be a secret, so it is not compared.
    private static let longest = 64

    /// The candidate nearest to `word`; nil if none is near.
    ///
    /// A candidate is near if it differs in at most two letters (one, for a word of three letters or fewer), or if it
    /// is longer and has the letters of `word` in their order, like `header` for `hdr`. Upper and lower case count as
    /// the same.
    package static func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
        guard !word.isEmpty, word.count <= longest else { return nil }
        let word = word.lowercased()
        let slips = word.count <= 3 ? 1 : 2
        var best: (name: String, distance: Int)?
        var short: [String] = []
        for name in candidates {
            let candidate = name.lowercased()
            if isShort(word, for: candidate) { short.append(name) }
            guard abs(candidate.count - word.count) <= slips else { continue }
            let distance = distance(from: word, to: candidate)
            if distance <= slips, best.map({ distance < $0.distance }) ?? true { best = (name, distance) }
        }
        return best?.name ?? (short.count == 1 ? short[0] : nil)
    }

    /// How many letters must be added, removed, replaced or swapped with the next one.
    package static func distance(from first: String, to second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        // The last two rows of a table with the distances between all prefixes.
        var (before, row) = ([Int](), Array(0...second.count))
        for line in first.indices {
            var next = [line + 1]
            for column in second.indices {
                let isSame = first[line] == second[column]
                var least = min(row[column] + (isSame ? 0 : 1), row[column + 1] + 1, next[column] + 1)
                if line > 0, column > 0, first[line] == second[column - 1], first[line - 1] == second[column] {
                    least = min(least, before[column - 1] + 1)
                }
                next.append(least)
            }
            (before, row) = (row, next)
        }
        return row[second.count]
    }

    /// Whether `word` is `name` with letters left out after the first.
    private static func isShort(_ word: String, for name: String) -> Bool {
        guard word.count >= 2, word.count < name.count, word.first == name.first else { return false }
        var rest = name[...]
        for letter in word {
            guard let place = rest.firstIndex(of: letter) else { return false }
            rest = rest[rest.index(after: place)...]
        }
        return true
    }
}
