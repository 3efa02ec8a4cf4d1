internal import Glibc

/// Describes instants in words. All instants are µs since 1970.
enum WallClock {
    private static let microseconds: Int64 = 1_000_000

    static var nowUSec: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * microseconds + Int64(time.tv_nsec) / 1000
    }

    /// `14:02:31`, in the machine's time zone.
    static func stamp(_ instant: Int64) -> String {
        var seconds = time_t(instant / microseconds)
        var parts = unsafe tm()
        unsafe localtime_r(&seconds, &parts)
        return unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec]
            .map { ($0 < 10 ? "0" : "") + String($0) }
            .joined(separator: ":")
    }

    /// `in 14 s`, `in 3 min`, `now` or `5 s ago`. Fractions are dropped, so that no token seems to live longer than it
    /// does.
    static func countdown(to instant: Int64, from now: Int64) -> String {
        let seconds = (instant - now) / microseconds
        switch seconds {
        case 0: return "now"
        case 1...: return "in \(length(seconds))"
        default: return "\(length(-seconds)) ago"
        }
    }

    private static func length(_ seconds: Int64) -> String {
        seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
    }
}
