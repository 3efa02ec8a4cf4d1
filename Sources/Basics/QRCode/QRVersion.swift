/// The size of a symbol, and how its codewords are divided.
struct QRVersion: Sendable {
    /// ISO/IEC 18004 table 9: the correction codewords in each block, and the number of blocks, for both levels.
    ///
    /// Version 13 is the largest whose symbol fits in 80 columns with its quiet zone: 69 + 8 modules.
    private static let table: [(low: (correction: Int, count: Int), medium: (correction: Int, count: Int))] = [
        (low: (7, 1), medium: (10, 1)),
        (low: (10, 1), medium: (16, 1)),
        (low: (15, 1), medium: (26, 1)),
        (low: (20, 1), medium: (18, 2)),
        (low: (26, 1), medium: (24, 2)),
        (low: (18, 2), medium: (16, 4)),
        (low: (20, 2), medium: (18, 4)),
        (low: (24, 2), medium: (22, 4)),
        (low: (30, 2), medium: (22, 5)),
        (low: (18, 4), medium: (26, 5)),
        (low: (20, 4), medium: (30, 5)),
        (low: (24, 4), medium: (22, 8)),
        (low: (26, 4), medium: (22, 9)),
    ]

    static let all = (1...table.count).map(QRVersion.init(number:))

    /// The number of the version: 1, 2, …
    let number: Int

    /// Modules on each side.
    var size: Int { 17 + 4 * number }

    /// The number of blocks, and of correction codewords in each.
    func blocks(_ correction: Correction) -> (correction: Int, count: Int) {
        let row = Self.table[number - 1]
        return switch correction {
        case .low: row.low
        case .medium: row.medium
        }
    }

    /// The number of codewords for data and correction: the modules that are not in function patterns, in whole bytes.
    var codewordCount: Int {
        let finders = 3 * 64
        let format = 2 * 15 + 1
        let timing = 2 * (size - 16)
        let lines = alignmentCentres.count
        // The three patterns in the finders' corners are not drawn. Those on a timing pattern share five modules with
        // it.
        let alignment = lines == 0 ? 0 : 25 * (lines * lines - 3) - 2 * 5 * (lines - 2)
        let version = versionInformation == nil ? 0 : 36
        return (size * size - finders - format - timing - alignment - version) / 8
    }

    func dataCodewordCount(_ correction: Correction) -> Int {
        let blocks = blocks(correction)
        return codewordCount - blocks.correction * blocks.count
    }

    /// The bits of the field with the number of bytes (table 3, byte mode).
    var countBits: Int { number < 10 ? 8 : 16 }

    /// How many bytes fit in addition to the mode and their count.
    func byteCapacity(_ correction: Correction) -> Int {
        (dataCodewordCount(correction) * 8 - 4 - countBits) / 8
    }

    func holds(_ count: Int, _ correction: Correction) -> Bool {
        count <= byteCapacity(correction)
    }

    /// The rows and columns of the centers of alignment patterns (annex E), in ascending order.
    var alignmentCentres: [Int] {
        guard number > 1 else { return [] }
        let count = number / 7 + 2
        // They are spaced evenly from the last one back to row 6, with even distances. The first gap takes the
        // remainder.
        let gaps = count - 1
        let step = ((size - 13 + gaps * 2 - 1) / (gaps * 2)) * 2
        return [6] + (0..<gaps).reversed().map { size - 7 - $0 * step }
    }

    /// The 18 bits of the version information (§7.10); nil for versions below 7.
    var versionInformation: UInt32? {
        guard number >= 7 else { return nil }
        let value = UInt32(number)
        // Annex D: a (18, 6) BCH code by x¹² + x¹¹ + x¹⁰ + x⁹ + x⁸ + x⁵ + x² + 1.
        return value << 12 | Self.remainder(of: value, degree: 12, generator: 0x1F25)
    }

    /// The code that protects the format and version information (annexes C and D): the remainder of `value`·x^degree divided by `generator`, as polynomials over one bit.
    static func remainder(of value: UInt32, degree: Int, generator: UInt32) -> UInt32 {
        (0..<degree).reduce(value) { rest, _ in
            rest << 1 ^ (rest >> (degree - 1) & 1) * generator
        }
    }
}
