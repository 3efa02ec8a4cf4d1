/// How much of a symbol may be unreadable (ISO/IEC 18004 §6.5). The higher levels are for print and not supported.
package enum Correction: Sendable {
    /// L: about 7 % of the codewords.
    case low
    /// M: about 15 % of the codewords.
    case medium

    /// The two bits for the format information (table 12).
    var formatBits: UInt32 {
        switch self {
        case .low: 0b01
        case .medium: 0b00
        }
    }
}
