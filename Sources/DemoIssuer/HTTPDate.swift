/// The date format of HTTP headers, IMF-fixdate (RFC 9110 §5.6.7).
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `time` is counted from the Unix epoch; parts of a second are dropped.
    package static func format(_ time: Duration) -> String {
        let seconds = time.wholeSeconds
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let ofDay = seconds - days * 86_400
        let date = civilDate(daysSinceEpoch: days)
        let weekday = weekdays[((days % 7) + 7) % 7]  // 1970-01-01 was a Thursday.
        let clock = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map(twoDigits).joined(separator: ":")
        return "\(weekday), \(twoDigits(date.day)) \(months[date.month - 1]) \(date.year) \(clock) GMT"
    }

    // Counts in 400-year eras of years that begin in March, so that the leap day is a year's last.
    private static func civilDate(daysSinceEpoch: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = daysSinceEpoch + 719_468  // days from 0000-03-01 to 1970-01-01
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        return (
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
            month: month,
            day: dayOfYear - (153 * fromMarch + 2) / 5 + 1
        )
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}

extension Duration {
    /// Rounded towards zero.
    var wholeSeconds: Int { Int(components.seconds) }

    /// Rounded towards zero.
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
