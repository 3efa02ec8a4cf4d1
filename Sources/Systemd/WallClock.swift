internal import CSystemd
internal import Glibc

/// The clock on the wall; it can be stepped either way (`ClockWatch` tells).
package enum WallClock {
    /// µs since 1970-01-01 00:00 UTC.
    package static func now() -> Int64 {
        microseconds(of: CLOCK_REALTIME)
    }
}

/// The time of `clock` in µs.
func microseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    guard unsafe clock_gettime(clock, &time) == 0 else {
        // Linux ≥ 2.6.39 has every clock that this module asks for.
        preconditionFailure("clock_gettime does not know clock \(clock)")
    }
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}
