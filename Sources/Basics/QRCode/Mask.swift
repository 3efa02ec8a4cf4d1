/// Breaks up areas and patterns that would mislead a reader (ISO/IEC 18004 §7.8).
enum Mask {
    /// Table 10, by the masks' numbers: which data modules are inverted.
    private static let conditions: [@Sendable (_ row: Int, _ column: Int) -> Bool] = [
        { ($0 + $1).isMultiple(of: 2) },
        { row, _ in row.isMultiple(of: 2) },
        { _, column in column.isMultiple(of: 3) },
        { ($0 + $1).isMultiple(of: 3) },
        { ($0 / 2 + $1 / 3).isMultiple(of: 2) },
        { $0 * $1 % 2 + $0 * $1 % 3 == 0 },
        { ($0 * $1 % 2 + $0 * $1 % 3).isMultiple(of: 2) },
        { (($0 + $1) % 2 + $0 * $1 % 3).isMultiple(of: 2) },
    ]

    static let numbers = conditions.indices

    /// The symbol with the mask that has the lowest penalty.
    static func best(for grid: ModuleGrid, _ correction: Correction) -> ModuleGrid {
        var best = apply(0, to: grid, correction)
        var least = Penalty.total(of: best)
        for number in numbers.dropFirst() {
            let candidate = apply(number, to: grid, correction)
            let penalty = Penalty.total(of: candidate)
            if penalty < least { (best, least) = (candidate, penalty) }
        }
        return best
    }

    /// The symbol with one mask, and the format information for it.
    static func apply(_ number: Int, to grid: ModuleGrid, _ correction: Correction) -> ModuleGrid {
        var masked = grid
        masked.invert(where: conditions[number])
        masked.drawFormat(format(number, correction))
        return masked
    }

    /// The format information: level and mask, protected by a (15, 5) BCH code. It is itself masked, so that it is
    /// never all light (annex C).
    static func format(_ number: Int, _ correction: Correction) -> UInt32 {
        let value = correction.formatBits << 3 | UInt32(number)
        return (value << 10 | BinaryCode.remainder(of: value, degree: 10, generator: 0x537)) ^ 0x5412
    }
}
