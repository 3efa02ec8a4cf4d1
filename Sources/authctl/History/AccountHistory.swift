/// How an account fared in an hour, as one character tells it. The later, the more it concerns the person.
enum HourState: String, CaseIterable, Comparable, Sendable {
    /// The journal does not tell: the daemon did not run, or there is nothing so old.
    case unknown
    case signedOut = "signed-out"
    case fresh
    case retrying
    case needsYou = "needs-you"

    static func < (lhs: HourState, rhs: HourState) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int {
        switch self {
        case .unknown: 0
        case .signedOut: 1
        case .fresh: 2
        case .retrying: 3
        case .needsYou: 4
        }
    }
}

/// What an account's lines in the journal add up to.
struct AccountHistory {
    static let hour: Int64 = 3_600_000_000

    /// In the order of their times.
    let lines: [JournalLine]
    /// µs since 1970: the end of the last hour.
    let nowUSec: Int64
    let hourCount: Int

    /// When the first of the hours begins, µs since 1970.
    var startUSec: Int64 { nowUSec - Int64(hourCount) * Self.hour }

    /// The worst state of each hour, the earliest first; the last one ends now.
    var hours: [HourState] {
        var hours = [HourState](repeating: .unknown, count: hourCount)
        var state = HourState.unknown
        for (index, line) in lines.enumerated() {
            state = Self.state(after: line, in: state)
            let next = index + 1 < lines.count ? lines[index + 1].atUSec : nowUSec
            // A token that nobody refreshed tells nothing beyond its end.
            let end = state == .fresh ? min(next, line.expiresAtUSec ?? next) : next
            mark(state, from: line.atUSec, to: end, in: &hours)
            if state == .fresh, end < next { state = .unknown }
        }
        return hours
    }

    private func mark(_ state: HourState, from begin: Int64, to end: Int64, in hours: inout [HourState]) {
        let last = min(end, nowUSec) - startUSec
        guard last >= 0, begin <= nowUSec else { return }
        let first = max(0, begin - startUSec) / Self.hour
        for hour in first...max(first, last / Self.hour) where hour < Int64(hours.count) {
            hours[Int(hour)] = max(hours[Int(hour)], state)
        }
    }

    private static func state(after line: JournalLine, in state: HourState) -> HourState {
        switch line.event {
        case "token-refreshed", "signed-in": .fresh
        // While somebody must act the daemon may try on, and says why somebody must.
        case "refresh-failed": line.reason == nil ? .retrying : .needsYou
        case "interaction-required", "misconfigured": .needsYou
        case "signed-out", "account-parked", "account-removed": .signedOut
        // It has its grant back; the refresh that follows tells what that is worth.
        case "account-resumed": .unknown
        default: state
        }
    }

    /// Lines of the same kind in a row, as one.
    struct Entry: Equatable {
        let event: String
        /// µs since 1970.
        let firstUSec: Int64
        var lastUSec: Int64
        var count = 1
        /// Of the last.
        var cause: String?
    }

    var entries: [Entry] {
        lines.reduce(into: []) { entries, line in
            let cause = Self.cause(of: line)
            if let last = entries.last, last.event == line.event, Self.repeats.contains(line.event) {
                entries[entries.count - 1].lastUSec = line.atUSec
                entries[entries.count - 1].count += 1
                entries[entries.count - 1].cause = cause
            } else {
                entries.append(
                    Entry(event: line.event, firstUSec: line.atUSec, lastUSec: line.atUSec, cause: cause)
                )
            }
        }
    }

    /// What comes again and again by itself.
    private static let repeats: Set = [
        "token-refreshed", "refresh-failed", "token-set-refreshed", "token-set-failed", "misconfigured",
    ]

    /// What a line says of why; nil if nothing.
    static func cause(of line: JournalLine) -> String? {
        let parts = [line.error, line.detail].compactMap(\.self)
        let words = parts.isEmpty ? nil : parts.joined(separator: "; ")
        // The reason of an interaction is a word of the interface's; that of a sign-in is told as it is.
        guard line.event == "interaction-required" else { return words ?? line.reason }
        return Wording.reason(line.reason) + (words.map { " (\($0))" } ?? "")
    }
}
