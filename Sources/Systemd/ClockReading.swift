internal import Glibc

/// The two clocks that count from boot, read together.
package struct ClockReading: Hashable, Sendable {
    /// µs since boot, time asleep included (CLOCK_BOOTTIME).
    package var boot: Int64
    /// µs since boot, time asleep left out (CLOCK_MONOTONIC).
    package var monotonic: Int64

    package init(boot: Int64, monotonic: Int64) {
        self.boot = boot
        self.monotonic = monotonic
    }

    package static func now() -> ClockReading {
        ClockReading(boot: BootClock.now(), monotonic: microseconds(of: CLOCK_MONOTONIC))
    }

    /// µs that the machine has slept since boot.
    package var drift: Int64 { boot - monotonic }
}
