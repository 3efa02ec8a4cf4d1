/// The penalty points for patterns in a symbol that could mislead a reader (ISO/IEC 18004 §7.8.3).
extension ModuleGrid {
    /// The sum of the four rules.
    var penalty: Int {
        let indices = 0..<size
        let rows = indices.map { row in indices.map { self[row, $0] } }
        let columns = indices.map { column in indices.map { self[$0, column] } }
        return (rows + columns).reduce(0) { $0 + Self.runs(in: $1) + Self.falseFinders(in: $1) }
            + Self.blocks(in: rows) + Self.imbalance(of: rows)
    }

    /// N1: five or more modules of one color in a line: 3 points, and one for each further module.
    private static func runs(in line: [Bool]) -> Int {
        var points = 0
        var length = 0
        var colour: Bool?
        for module in line {
            length = module == colour ? length + 1 : 1
            colour = module
            points += length == 5 ? 3 : length > 5 ? 1 : 0
        }
        return points
    }

    /// N2: squares of two by two modules of one color: 3 points each.
    private static func blocks(in rows: [[Bool]]) -> Int {
        zip(rows, rows.dropFirst()).reduce(0) { points, pair in
            let (upper, lower) = pair
            return points
                + 3
                * upper.indices.dropLast().count { column in
                    upper[column] == upper[column + 1] && upper[column] == lower[column]
                        && upper[column] == lower[column + 1]
                }
        }
    }

    private static let finder = [true, false, true, true, true, false, true]

    /// N3: a pattern like a finder, 1:1:3:1:1, with four light modules on one side: 40 points. The quiet zone counts as
    /// light.
    private static func falseFinders(in line: [Bool]) -> Int {
        let quiet = Array(repeating: false, count: 4)
        let line = quiet + line + quiet
        return 40
            * (4...line.count - 4 - finder.count).reduce(0) { count, start in
                guard line[start..<start + finder.count].elementsEqual(finder) else { return count }
                let isLightBefore = !line[start - 4..<start].contains(true)
                let isLightAfter = !line[start + finder.count..<start + finder.count + 4].contains(true)
                return count + (isLightBefore ? 1 : 0) + (isLightAfter ? 1 : 0)
            }
    }

    /// N4: 10 points for each full 5 % by which the share of dark modules differs from one half.
    private static func imbalance(of rows: [[Bool]]) -> Int {
        let total = rows.count * rows.count
        let dark = rows.reduce(0) { $0 + $1.count { $0 } }
        return abs(dark * 20 - total * 10) / total * 10
    }
}
