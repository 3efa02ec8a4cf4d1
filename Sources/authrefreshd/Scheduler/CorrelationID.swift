/// Names one attempt in journals, and to servers that take such a name.
enum CorrelationID {
    /// A new one, drawn at random: 16 hexadecimal digits.
    static func new() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
