internal import Terminal
internal import TextEncodings

/// What `authctl history` prints: a plot, and below it what happened.
struct HistoryView {
    /// Entries that are shown: what fits on a screen with the plot.
    private static let entriesMax = 18

    let account: String
    let history: AccountHistory

    /// The lines, each with its newline.
    func render(_ style: TerminalStyle) -> String {
        let entries = history.entries
        let hidden = entries.count - Self.entriesMax
        var lines = plot(style)
        if hidden > 0 { lines.append("(\(hidden) earlier entries: --json has all)") }
        lines += entries.suffix(Self.entriesMax).flatMap { entry in
            WrappedText.lines(PlainText.line(text(entry)), width: style.width, indent: Self.stampWidth)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let stampWidth = 21

    /// Twenty-four characters a line, so that a column is a time of day.
    private func plot(_ style: TerminalStyle) -> [String] {
        let hours = history.hours
        var lines = [
            "\(PlainText.line(account)), a character for each of the last \(hours.count) hours: "
                + "\(Self.character(.fresh)) fresh  \(Self.character(.retrying)) retrying  "
                + "\(Self.character(.needsYou)) needs you  \(Self.character(.signedOut)) signed out"
        ].flatMap { WrappedText.lines($0, width: style.width) }
        lines.append("")
        for start in stride(from: 0, to: hours.count, by: 24) {
            let row = hours[start..<min(start + 24, hours.count)]
            let begin = LocalTime.stamp(history.startUSec + Int64(start) * AccountHistory.hour).dropLast(3)
            let runs = row.reduce(into: [(state: HourState, count: Int)]()) { runs, state in
                if runs.last?.state == state { runs[runs.count - 1].count += 1 } else { runs.append((state, 1)) }
            }
            let marks = runs.map { run in
                style.paint(String(repeating: Self.character(run.state), count: run.count), Self.colour(run.state))
            }
            lines.append("\(begin)  " + marks.joined())
        }
        return lines + [""]
    }

    private static func character(_ state: HourState) -> Character {
        switch state {
        case .unknown: " "
        case .signedOut: "-"
        case .fresh: "."
        case .retrying: "~"
        case .needsYou: "!"
        }
    }

    private static func colour(_ state: HourState) -> TerminalStyle.Colour? {
        switch state {
        case .unknown: nil
        case .signedOut: .faint
        case .fresh: .green
        case .retrying: .yellow
        case .needsYou: .red
        }
    }

    private func text(_ entry: AccountHistory.Entry) -> String {
        let cause = entry.cause.map { ": \($0)" } ?? ""
        let times = entry.count == 1 ? "" : " \(entry.count) times since \(LocalTime.stamp(entry.firstUSec))"
        return "\(LocalTime.stamp(entry.lastUSec))  \(Self.words(for: entry.event))\(times)\(cause)"
    }

    /// An event that this program does not know is told by its name.
    private static func words(for event: String) -> String {
        switch event {
        case "token-refreshed": "refreshed"
        case "refresh-failed": "refresh failed"
        case "token-set-refreshed": "a token of another scope was obtained"
        case "token-set-failed": "no token of another scope"
        case "interaction-required": "needs you"
        case "misconfigured": "the server rejects the request as invalid"
        case "refresh-token-expiring": "the refresh token expires soon"
        case "sign-out-near": "soon signs out by itself"
        case "client-secret-ending": "the client secret expires soon"
        case "grant-imported": "a grant was imported"
        case "sign-in-started": "sign-in started"
        case "sign-in-failed": "sign-in failed"
        default: event.replacing("-", with: " ")
        }
    }
}
