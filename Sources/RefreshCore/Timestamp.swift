/// An instant of wall-clock time, in microseconds since 1970-01-01 00:00 UTC.
///
/// Microseconds, as systemd counts them, fit 292,000 years into 64 bits and survive SQLite and JSON unrounded.
package struct Timestamp: Hashable, Comparable, Sendable {
    package var microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    package static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
        lhs.microseconds < rhs.microseconds
    }

    /// The instant `duration` later; stops at the ends of time instead of trapping.
    package static func + (lhs: Timestamp, rhs: Duration) -> Timestamp {
        Timestamp(microseconds: lhs.microseconds.addingClamped(rhs.microseconds))
    }

    package static func - (lhs: Timestamp, rhs: Duration) -> Timestamp {
        lhs + (.zero - rhs)
    }

    /// The time from `rhs` to `lhs`; negative if `rhs` is the later one.
    package static func - (lhs: Timestamp, rhs: Timestamp) -> Duration {
        .microseconds(lhs.microseconds.subtractingClamped(rhs.microseconds))
    }
}

extension Duration {
    /// Whole microseconds, rounded towards zero, clamped to what 64 bits hold.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return product.addingClamped(attoseconds / 1_000_000_000_000)
    }

    /// This duration times `factor`, for the fractions that the refresh rule is written in.
    package func scaled(by factor: Double) -> Duration {
        let scaled = Double(microseconds) * factor
        // 2⁶² µs is 146,000 years: nothing here is longer, and the conversion cannot trap.
        return .microseconds(Int64(max(-0x1p62, min(0x1p62, scaled))))
    }
}

extension Int64 {
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
