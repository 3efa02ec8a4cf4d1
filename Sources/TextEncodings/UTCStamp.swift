/// Formats instants as RFC 3339 in UTC, for programs in any time zone.
package enum UTCStamp {
    private static let microseconds: Int64 = 1_000_000
    private static let day: Int64 = 86_400
    /// The last second of the year 9999, because RFC 3339 §1 has years of four digits.
    private static let last: Int64 = 253_402_300_799

    /// `2026-11-22T14:02:31Z`, with a fraction if there is one: `2026-11-22T14:02:31.040000Z`.
    ///
    /// - Parameter instant: µs since 1970.
    /// - Returns: nil before 1970 and after the year 9999, where the instants are that stand for "never".
    package static func text(_ instant: Int64) -> String? {
        let seconds = instant / microseconds
        guard instant >= 0, seconds <= last else { return nil }
        let date = HTTPDate.civilDate(daysSince1970: Int(seconds / day))
        let rest = Int(seconds % day)
        let fraction = instant % microseconds
        var text = padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2)
        text += "T" + padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2)
        if fraction > 0 { text += "." + padded(Int(fraction), 6) }
        return text + "Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// Adds a second form of each instant to JSON.
package enum StampedJSON {
    /// The text with a member such as `"expiresAt":"2026-11-22T14:02:31Z"` before each
    /// `"expiresAtUSec":1795356151000000`; if that is on a line of its own, the new member is, too.
    package static func text(_ json: String) -> String {
        let bytes = Array(json.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 8)
        var place = 0
        while place < bytes.count {
            guard bytes[place] == quote else {
                result.append(bytes[place])
                place += 1
                continue
            }
            let end = endOfString(bytes, from: place)
            if let stamp = stamp(bytes, place..<end) {
                let indent = result.reversed().prefix { $0 == newline || $0 == blank }.reversed()
                result += stamp
                result += indent
            }
            result += bytes[place..<end]
            place = end
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let blank = UInt8(ascii: " ")
    private static let newline = UInt8(ascii: "\n")
    private static let suffix = Array("USec\"".utf8)

    /// The index after the closing quote.
    private static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
        var place = start + 1
        while place < bytes.count, bytes[place] != quote {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, bytes.count)
    }

    /// The member that goes before the one whose name is in `range`, with its comma; nil if that member is not an
    /// instant.
    private static func stamp(_ bytes: [UInt8], _ range: Range<Int>) -> [UInt8]? {
        guard bytes[range].count > suffix.count + 1, bytes[range].suffix(suffix.count).elementsEqual(suffix) else {
            return nil
        }
        let between = bytes[range.upperBound...].prefix { $0 == blank || $0 == UInt8(ascii: ":") }
        guard between.contains(UInt8(ascii: ":")) else { return nil }
        let digits = bytes[between.endIndex...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let instant = Int64(String(decoding: digits, as: UTF8.self)), let text = UTCStamp.text(instant) else {
            return nil
        }
        return bytes[range].dropLast(suffix.count) + [quote] + between + Array("\"\(text)\",".utf8)
    }
}
