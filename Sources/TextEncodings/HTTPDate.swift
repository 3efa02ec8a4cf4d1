/// Dates in HTTP headers and token answers, in seconds since 1970.
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let smallMonths = months.map { $0.lowercased() }

    /// Reads the three forms of RFC 9110 §5.6.7: IMF-fixdate, RFC 850 and asctime; nil for anything else.
    package static func parse(_ text: String) -> Int? {
        fixdate(text) ?? anyForm(text)
    }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, which is what servers send; nil for anything else.
    private static func fixdate(_ text: String) -> Int? {
        var text = text
        return text.withUTF8 { bytes in
            let isShaped =
                unsafe bytes.count == 29 && bytes[3] == UInt8(ascii: ",") && bytes[25...].elementsEqual(" GMT".utf8)
            guard isShaped else { return nil }
            let number = { (range: Range<Int>) -> Int? in
                var value = 0
                for index in range {
                    let digit = unsafe bytes[index] &- UInt8(ascii: "0")
                    guard digit < 10 else { return nil }
                    value = value * 10 + Int(digit)
                }
                return value
            }
            // Bit 5 makes an ASCII letter lower case.
            let isMonth = { (name: String) in unsafe zip(name.utf8, bytes[8..<11]).allSatisfy { $0 == $1 | 0x20 } }
            guard let day = number(5..<7), let month = smallMonths.firstIndex(where: isMonth),
                let year = number(12..<16),
                let hour = number(17..<19), let minute = number(20..<22), let second = number(23..<25)
            else { return nil }
            return seconds(year, month + 1, day, hour, minute, second)
        }
    }

    private static func anyForm(_ text: String) -> Int? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map { $0.lowercased() }
        guard words.count >= 5 else { return nil }
        // asctime puts the month before the day and the year last: "Sun Nov  6 08:49:37 1994".
        let isASCTime = smallMonths.contains(words[1])
        let (day, month, yearWord, time) =
            isASCTime ? (words[2], words[1], words[4], words[3]) : (words[1], words[2], words[3], words[4])
        let clock = time.split(separator: ":").map { Int($0) }
        guard let day = Int(day), let month = smallMonths.firstIndex(of: month), var year = Int(yearWord),
            clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2]
        else { return nil }
        // RFC 850 years have two digits. RFC 9110 interprets them around the present. No server here predates 1970.
        if yearWord.count == 2 { year += year < 70 ? 2000 : 1900 }
        return seconds(year, month + 1, day, hour, minute, second)
    }

    /// Reads `2026-11-21T10:00:00Z` and variants with a fraction or an offset (RFC 3339); nil for anything else.
    package static func parseISO8601(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ") else { return nil }
        let number = { (range: Range<Int>) in Int(String(decoding: bytes[range], as: UTF8.self)) }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let instant = seconds(year, month, day, hour, minute, second)
        else { return nil }
        var zone = bytes[19...]
        if zone.first == UInt8(ascii: ".") {
            zone = zone.dropFirst().drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        if zone.elementsEqual("Z".utf8) || zone.elementsEqual("z".utf8) { return instant }
        let isWest = zone.first == UInt8(ascii: "-")
        guard isWest || zone.first == UInt8(ascii: "+") else { return nil }
        let offset = zone.dropFirst().split(separator: UInt8(ascii: ":")).map {
            Int(String(decoding: $0, as: UTF8.self))
        }
        guard offset.count == 2, let hours = offset[0], let minutes = offset[1], (0..<24).contains(hours),
            (0..<60).contains(minutes)
        else { return nil }
        let shift = hours * 3600 + minutes * 60
        return isWest ? instant + shift : instant - shift
    }

    private static func seconds(
        _ year: Int,
        _ month: Int,
        _ day: Int,
        _ hour: Int,
        _ minute: Int,
        _ second: Int
    ) -> Int? {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0..<24).contains(hour),
            // 60: a leap second.
            (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        return daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Days of the proleptic Gregorian calendar. Years are counted from March, so that the leap day is the last day of
    /// a year.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        // 153 days are the five months from March to July. 719,468 days lie between 1 March of year 0 and 1970.
        return marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468
    }

    /// The date as IMF-fixdate (RFC 9110 §5.6.7), the only form that may be sent.
    package static func format(_ seconds: Int) -> String {
        let ofDay = (seconds % 86_400 + 86_400) % 86_400
        let days = (seconds - ofDay) / 86_400
        let date = civilDate(daysSince1970: days)
        // 1970-01-01 was a Thursday.
        let weekday = weekdays[(days % 7 + 7) % 7]
        let clock = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map(twoDigits).joined(separator: ":")
        return "\(weekday), \(twoDigits(date.day)) \(months[date.month - 1]) \(date.year) \(clock) GMT"
    }

    /// The date in the proleptic Gregorian calendar. Counts in 400-year eras of years that begin in March, so that the
    /// leap day is the last day of a year.
    static func civilDate(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468  // days from 0000-03-01 to 1970-01-01
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
