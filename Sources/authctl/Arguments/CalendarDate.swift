internal import ArgumentParser
internal import TextEncodings

/// A day as ISO 8601 writes it, `2027-05-31`, or an instant (RFC 3339).
struct CalendarDate: ExpressibleByArgument, Hashable, Sendable {
    /// µs since 1970. A day begins at midnight UTC.
    let startsAtUSec: Int64

    init?(argument text: String) {
        guard let seconds = HTTPDate.parseISO8601(text.utf8.count == 10 ? text + "T00:00:00Z" : text)
        else { return nil }
        startsAtUSec = Int64(seconds) * 1_000_000
    }
}
