/// A duration as users write it: `60s`, `5m`, `1h`, `90d`, or a number of seconds.
struct LengthOfTime: Hashable, Sendable {
    let seconds: Int64

    /// Returns nil if the text is not a whole number with at most one unit, or if it does not fit in microseconds.
    init?(_ text: String) {
        var digits = text[...]
        var unit: Int64 = 1
        switch text.last {
        case "s": digits = digits.dropLast()
        case "m": (digits, unit) = (digits.dropLast(), 60)
        case "h": (digits, unit) = (digits.dropLast(), 3600)
        case "d": (digits, unit) = (digits.dropLast(), 86400)
        default: break
        }
        // Int64(_:) alone would accept a sign.
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Int64(digits)
        else { return nil }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, seconds <= Int64.max / 1_000_000 else { return nil }
        self.seconds = seconds
    }
}
