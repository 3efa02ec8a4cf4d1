/// The masks, which break up areas and patterns that would mislead a reader (ISO/IEC 18004 §7.8).
extension ModuleGrid {
    /// Table 10, by the masks' numbers: which data modules are inverted.
    private static let maskConditions: [@Sendable (_ row: Int, _ column: Int) -> Bool] = [
        { ($0 + $1).isMultiple(of: 2) },
        { row, _ in row.isMultiple(of: 2) },
        { _, column in column.isMultiple(of: 3) },
        { ($0 + $1).isMultiple(of: 3) },
        { ($0 / 2 + $1 / 3).isMultiple(of: 2) },
        { $0 * $1 % 2 + $0 * $1 % 3 == 0 },
        { ($0 * $1 % 2 + $0 * $1 % 3).isMultiple(of: 2) },
        { (($0 + $1) % 2 + $0 * $1 % 3).isMultiple(of: 2) },
    ]

    static let maskNumbers = maskConditions.indices

    /// The symbol with the mask that has the lowest penalty.
    func masked(_ correction: Correction) -> ModuleGrid {
        var best = masked(by: 0, correction)
        var least = best.penalty
        for number in Self.maskNumbers.dropFirst() {
            let candidate = masked(by: number, correction)
            let penalty = candidate.penalty
            if penalty < least { (best, least) = (candidate, penalty) }
        }
        return best
    }

    /// The symbol with one mask, and the format information for it.
    func masked(by number: Int, _ correction: Correction) -> ModuleGrid {
        var masked = self
        masked.invert(where: Self.maskConditions[number])
        masked.drawFormat(Self.format(number, correction))
        return masked
    }

    /// The format information: level and mask, protected by a (15, 5) BCH code. It is itself masked, so that it is
    /// never all light (annex C).
    static func format(_ number: Int, _ correction: Correction) -> UInt32 {
        let value = correction.formatBits << 3 | UInt32(number)
        return (value << 10 | QRVersion.remainder(of: value, degree: 10, generator: 0x537)) ^ 0x5412
    }
}
