internal import Glibc

/// Describes instants in words, relative to one moment. All instants are µs since 1970.
package struct LocalTime: Sendable {
    private static let microseconds: Int64 = 1_000_000

    package let nowUSec: Int64

    package init(nowUSec: Int64) {
        self.nowUSec = nowUSec
    }

    /// Describes instants relative to now.
    package static var now: LocalTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return LocalTime(nowUSec: Int64(time.tv_sec) * microseconds + Int64(time.tv_nsec) / 1000)
    }

    /// `in 42 min`, `3 min ago` or `now`. It never rounds up, so that no token seems to live longer than it does.
    package func relative(_ instant: Int64) -> String {
        let (seconds, isPast) = distance(to: instant)
        guard seconds > 0 else { return "now" }
        let length = Self.length(seconds)
        return isPast ? "\(length) ago" : "in \(length)"
    }

    /// Whole seconds until the instant; 0 if it has passed.
    package func seconds(until instant: Int64) -> Int64 {
        let (seconds, isPast) = distance(to: instant)
        return isPast ? 0 : seconds
    }

    /// `42 s`, `59 min`, `5 h` or `12 days`, in the largest unit that gives at least two.
    package static func length(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86400) days"
        }
    }

    /// µs until the words for one of the instants change; `Int64.max` if there are no instants.
    package func untilWordsChange(_ instants: [Int64]) -> Int64 {
        instants.map(untilWordsChange).min() ?? .max
    }

    private func untilWordsChange(_ instant: Int64) -> Int64 {
        let (seconds, isPast) = distance(to: instant)
        guard seconds < Int64.max / Self.microseconds else { return .max }
        let unit: Int128 =
            switch seconds {
            case ..<120: 1
            case ..<7200: 60
            case ..<172_800: 3600
            default: 86400
            }
        // With 128 bits, because a peer's instant may be any number.
        let (ahead, whole) = (Int128(instant) - Int128(nowUSec), Int128(seconds) / unit)
        let second = Int128(Self.microseconds)
        return Int64(clamping: isPast ? (whole + 1) * unit * second + ahead : ahead - whole * unit * second + 1)
    }

    /// `14:02` today, `2026-11-22 14:02` on another day, in the machine's time zone.
    ///
    /// - Parameter withSeconds: whether to write `14:02:09`.
    package func clock(_ instant: Int64, withSeconds: Bool = false) -> String {
        let day = Self.format(instant, "%Y-%m-%d")
        let time = Self.format(instant, withSeconds ? "%H:%M:%S" : "%H:%M")
        return day == Self.format(nowUSec, "%Y-%m-%d") ? time : "\(day) \(time)"
    }

    /// `14:02 (in 59 min)`.
    package func both(_ instant: Int64) -> String {
        "\(clock(instant)) (\(relative(instant)))"
    }

    /// `2026-11-22 14:02:31`, for log lines.
    package static func stamp(_ instant: Int64) -> String {
        format(instant, "%Y-%m-%d %H:%M:%S")
    }

    private func distance(to instant: Int64) -> (seconds: Int64, isPast: Bool) {
        let (difference, overflow) = instant.subtractingReportingOverflow(nowUSec)
        let seconds = overflow ? Int64.max : Int64((difference / Self.microseconds).magnitude)
        return (seconds, instant < nowUSec)
    }

    /// Formats with strftime(3). Foundation's formatter would load a megabyte of tables. The capacity is enough for all
    /// our formats; the longest has 19 characters for years of four digits.
    private static func format(_ instant: Int64, _ pattern: String) -> String {
        var seconds = time_t(instant / microseconds)
        var fields = unsafe tm()
        guard unsafe localtime_r(&seconds, &fields) != nil else { return "?" }
        return unsafe String(unsafeUninitializedCapacity: 64) { buffer in
            unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
                unsafe strftime(characters.baseAddress, characters.count, pattern, &fields)
            }
        }
    }
}
