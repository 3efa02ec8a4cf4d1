/// Notices that the machine slept, without a bus: only the boot-time clock runs in a suspend, so its lead over the
/// monotonic clock grows by every sleep and by nothing else.
package struct SuspendDrift: Hashable, Sendable {
    /// The least sleep that counts, in µs.
    ///
    /// The two clocks are read one after the other, and a busy machine may stop the process between: tens of ms. No real
    /// suspend is shorter than a second, and one that was would leave every deadline where it was.
    package static let threshold: Int64 = 1_000_000

    private var drift: Int64

    /// Sleeps count from `reading` on.
    package init(since reading: ClockReading = .now()) {
        drift = reading.drift
    }

    /// Whether the machine slept between the last reading and this one; a sleep is told once.
    package mutating func hasSlept(at reading: ClockReading = .now()) -> Bool {
        defer { drift = reading.drift }
        return reading.drift - drift >= Self.threshold
    }
}
