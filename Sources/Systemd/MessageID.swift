/// A 128-bit id that marks all journal entries of one kind; the catalog explains each (`journalctl -x`).
package struct MessageID: Hashable, Sendable, CustomStringConvertible {
    /// The first 16 hexadecimal digits of the text.
    package let high: UInt64
    /// The last 16 hexadecimal digits of the text.
    package let low: UInt64

    package init(_ high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id written as `text`; nil unless that is 32 hexadecimal digits.
    package init?(text: String) {
        let digits = text.utf8
        guard digits.count == 32, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high, low)
    }

    /// 32 lower-case hexadecimal digits, as `MESSAGE_ID=` and the catalog have them.
    package var description: String {
        Self.digits(high) + Self.digits(low)
    }

    private static func digits(_ half: UInt64) -> String {
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
