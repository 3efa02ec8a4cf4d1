internal import Terminal
internal import TextEncodings

/// The output of `authctl history`: a plot, followed by the events.
struct HistoryView {
    /// How many entries are shown, so that they fit on a screen together with the plot.
    private static let entriesMax = 18

    let account: String
    let history: AccountHistory

    /// The lines, each with a newline.
    func render(_ style: TerminalStyle) -> String {
        let entries = history.entries
        let hidden = entries.count - Self.entriesMax
        var lines = plot(style)
        if hidden > 0 { lines.append(HistoryText.hidden(hidden)) }
        lines += entries.suffix(Self.entriesMax).flatMap { entry in
            WrappedText.lines(PlainText.line(text(entry)), width: style.width, indent: Self.stampWidth)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let stampWidth = 21

    /// The plot with 24 characters per line, so that each column is a time of day.
    private func plot(_ style: TerminalStyle) -> [String] {
        let hours = history.hours
        var lines = [
            HistoryText.legend(account: PlainText.line(account), hours: hours.count, character: Self.character)
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
        let times = entry.count == 1 ? "" : HistoryText.times(entry.count, since: LocalTime.stamp(entry.firstUSec))
        return "\(LocalTime.stamp(entry.lastUSec))  \(HistoryText.words(for: entry.event))\(times)\(cause)"
    }
}
