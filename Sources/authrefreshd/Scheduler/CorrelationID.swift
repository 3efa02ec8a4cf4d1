/// Creates identifiers of attempts, for journals and for servers that accept them.
enum CorrelationID {
    /// A new random identifier: 16 hexadecimal digits.
    static func new() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
