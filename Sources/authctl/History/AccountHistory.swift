internal import AuthRefreshInterface

/// The state of an account in an hour, for one character of the plot. Later cases concern the person more.
enum HourState: String, CaseIterable, Comparable, Sendable {
    /// The journal does not say: the daemon did not run, or there are no entries that old.
    case unknown
    case signedOut = "signed-out"
    case fresh
    case retrying
    case needsYou = "needs-you"

    static func < (lhs: HourState, rhs: HourState) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The history of an account from its journal lines.
struct AccountHistory {
    static let hour: Int64 = 3_600_000_000

    /// The lines, ordered by time.
    let lines: [JournalLine]
    /// The end of the last hour, in µs since 1970.
    let nowUSec: Int64
    let hourCount: Int

    /// The start of the first hour, in µs since 1970.
    var startUSec: Int64 { nowUSec - Int64(hourCount) * Self.hour }

    /// The worst state of each hour, the earliest first. The last hour ends now.
    var hours: [HourState] {
        var hours = [HourState](repeating: .unknown, count: hourCount)
        var state = HourState.unknown
        for (index, line) in lines.enumerated() {
            state = Self.state(after: line, in: state)
            let next = index + 1 < lines.count ? lines[index + 1].atUSec : nowUSec
            // After a token has expired without a refresh, the state is unknown.
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
        switch line.news {
        case .tokenRefreshed, .signedIn: .fresh
        // While somebody is needed, the daemon may still try, and states the reason each time.
        case .refreshFailed: line.reason == nil ? .retrying : .needsYou
        case .interactionRequired, .misconfigured: .needsYou
        case .signedOut, .accountParked, .accountRemoved: .signedOut
        // The account uses its grant here again. Only the next refresh shows whether the grant still works.
        case .accountResumed: .unknown
        case .accountAdded, .accountUpdated, .accountRenamed, .grantImported, .refreshStarted, .tokenSetRefreshed,
            .tokenSetFailed, .refreshTokenExpiring, .signOutNear, .signInStarted, .signInFailed, .clientSecretEnding,
            nil:
            state
        }
    }

    /// Consecutive lines of the same kind, as one entry.
    struct Entry: Equatable {
        let event: String
        /// The time of the first line, in µs since 1970.
        let firstUSec: Int64
        var lastUSec: Int64
        var count = 1
        /// The cause in the last line.
        var cause: String?
    }

    var entries: [Entry] {
        lines.reduce(into: []) { entries, line in
            let cause = Self.cause(of: line)
            if let last = entries.last, last.event == line.event, let news = line.news, Self.repeats.contains(news) {
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

    /// The news that repeats by itself.
    private static let repeats: Set<AccountNews> = [
        .tokenRefreshed, .refreshFailed, .tokenSetRefreshed, .tokenSetFailed, .misconfigured,
    ]

    /// The cause in a line; nil if there is none.
    static func cause(of line: JournalLine) -> String? {
        let parts = [line.error, line.detail].compactMap(\.self)
        let words = parts.isEmpty ? nil : parts.joined(separator: "; ")
        // For an interaction, the reason is an interface constant; for a sign-in, it is shown as it is.
        guard line.news == .interactionRequired else { return words ?? line.reason }
        return Wording.reason(line.reason) + (words.map { " (\($0))" } ?? "")
    }
}
