/// Finds what a mistyped word was meant to be.
enum Spelling {
    /// The candidate within two slips of the word, nil if there is none.
    ///
    /// Two: one swapped pair of letters counts as two changes.
    static func nearest(to word: String, in candidates: [String]) -> String? {
        // A long word is no mistyped command, and may be a secret: there is nothing to look for.
        guard word.count <= 20 else { return nil }
        let ranked = candidates.map { (name: $0, distance: distance(from: word, to: $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= 2 else { return nil }
        return best.name
    }

    /// How many letters must be added, dropped or replaced.
    static func distance(from first: String, to second: String) -> Int {
        let second = Array(second)
        var row = Array(0...second.count)
        for (line, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in second.indices {
                let replaced = diagonal + (second[column] == letter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
