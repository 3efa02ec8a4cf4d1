internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// The output of `authctl history`: a plot, followed by the events.
extension AccountHistory {
    /// How many entries are shown, so that they fit on a screen together with the plot.
    private static let entriesMax = 18
    /// With fewer columns, there is no room for a column of times, or for a day of the plot.
    private static let leastWidthForColumns = 60

    /// The lines, each with a newline.
    func text(of account: String, _ style: TerminalStyle) -> String {
        let entries = entries
        let hidden = entries.count - Self.entriesMax
        var lines = plot(of: account, style)
        if hidden > 0 { lines.append("(\(hidden) earlier \(hidden == 1 ? "entry" : "entries"); --json shows all)") }
        lines += entries.suffix(Self.entriesMax).flatMap { line(for: $0, style) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The time of an entry, and its words beside it; on a narrow terminal, the words go on below the time.
    private func line(for entry: Entry, _ style: TerminalStyle) -> [String] {
        let stamp = LocalTime.stamp(entry.lastUSec) + "  "
        let words = PlainText.line(text(entry))
        guard let width = style.width, TerminalWidth.of(stamp + words) > width else { return [stamp + words] }
        guard width >= Self.leastWidthForColumns else {
            return WrappedText.lines(stamp + words, width: width, indent: 2)
        }
        let margin = String(repeating: " ", count: stamp.count)
        let lines = WrappedText.lines(words, width: width - stamp.count)
        return lines.enumerated().map { ($0.offset == 0 ? stamp : margin) + $0.element }
    }

    /// The plot with 24 characters per line, so that each column is a time of day; with half of them on a narrow
    /// terminal.
    private func plot(of account: String, _ style: TerminalStyle) -> [String] {
        let hours = hours
        let length = style.width.map { $0 >= Self.leastWidthForColumns } ?? true ? 24 : 12
        var lines = WrappedText.lines(Self.legend(of: account, hours.count), width: style.width) + [""]
        for start in stride(from: 0, to: hours.count, by: length) {
            let row = hours[start..<min(start + length, hours.count)]
            let begin = LocalTime.stamp(startUSec + Int64(start) * Self.hour).dropLast(3)
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

    /// What each character of the plot means.
    private static func legend(of account: String, _ count: Int) -> String {
        let hours = count == 1 ? "the last hour" : "each of the last \(count) hours"
        let states: [(HourState, String)] = [
            (.fresh, "fresh"), (.retrying, "retrying"), (.needsYou, "needs you"), (.signedOut, "signed out"),
        ]
        return "\(PlainText.line(account)), a character for \(hours): "
            + states.map { "\(character($0)) \($1)" }.joined(separator: ", ")
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

    private func text(_ entry: Entry) -> String {
        let cause = entry.cause.map { ": \($0)" } ?? ""
        let times = entry.count == 1 ? "" : " \(entry.count) times since \(LocalTime.stamp(entry.firstUSec))"
        return "\(Self.words(for: entry.event))\(times)\(cause)"
    }

    /// The words for an `AccountNews`. One that is not in the list is shown by its name.
    static func words(for event: String) -> String {
        AccountNews(rawValue: event).flatMap { newsWords[$0] } ?? event.replacing("-", with: " ")
    }

    private static let newsWords: [AccountNews: String] = [
        .tokenRefreshed: "refreshed",
        .tokenSetRefreshed: "got a token for other scopes",
        .tokenSetFailed: "got no token for other scopes",
        .interactionRequired: "needs you",
        .refreshTokenExpiring: "the refresh token expires soon",
        .signOutNear: "signs out by itself soon",
        .clientSecretEnding: "the client secret expires soon",
        .grantImported: "a grant was imported",
        .signInStarted: "sign-in started",
        .signInFailed: "sign-in failed",
    ]
}
