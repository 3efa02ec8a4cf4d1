internal import AuthRefreshInterface
internal import Basics

/// A scene as lines that fit into the terminal: the table of accounts above, the events below.
struct Picture {
    private static let barWidth = 24
    private static let gap = "  "
    /// The fewest lines of events that make sense. A lower terminal loses its lower lines.
    private static let fewestReports = 3
    /// The most lines of events that are of interest.
    private static let mostReports = 14

    let scene: Scene
    let style: TerminalStyle
    let nowUSec: Int64

    /// If the terminal does not state its size, it gets that of a VT100.
    private var columns: Int { style.width ?? 80 }
    private var rows: Int { style.height ?? 24 }

    /// At most `rows - 1` lines, because the last row is for the cursor.
    var lines: [String] {
        let above = title + [""] + table + [""] + chapter + need + [""]
        let below = advice.isEmpty ? [] : [""] + advice
        let room = rows - 1 - above.count - below.count
        let events = reports(min(Self.mostReports, max(Self.fewestReports, room)))
        return Array((above + events + below).prefix(rows - 1))
    }

    private var title: [String] {
        let name = "authrefreshd"
        let facts = PlainText.cut(scene.facts.joined(separator: " · "), to: columns - name.count - 2)
        return [style.paint(name, .bold) + Self.gap + style.paint(facts, .faint)]
    }

    private var chapter: [String] {
        Self.wrapped(scene.chapter, to: columns).map { style.paint($0, .bold) }
    }

    /// The text of each account that needs a person, with the command that helps.
    private var need: [String] {
        scene.accounts.filter { $0.state == "interaction-required" }.flatMap { status in
            let words = "\(status.account) needs you: \(PlainText.line(Report.serverWords(status)))"
            return Self.wrapped(words, to: columns) + [PlainText.cut("  run: \(status.hint ?? "")", to: columns)]
        }
        .map { style.paint($0, .red) }
    }

    private var advice: [String] {
        // A command wrapped with backslashes can still be copied. One that is cut cannot.
        let command = Self.wrapped(scene.command, to: columns - 4)
        let continued = command.dropLast().map { "  \($0) \\" } + command.suffix(1).map { "  \($0)" }
        return Self.wrapped(scene.advice, to: columns).map { style.paint($0, .faint) } + continued
    }

    /// Lines of at most `width`. A longer word is cut.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
        guard !text.isEmpty else { return [] }
        return WrappedText.lines(text, width: width).map { PlainText.cut($0, to: width) }
    }

    private func reports(_ count: Int) -> [String] {
        let shown = scene.reports.filter { $0.kind != .chapter }.suffix(count)
        let lines = shown.map { report in
            let stamp = WallClock.stamp(report.atUSec)
            let text = PlainText.cut("\(report.mark) \(report.text)", to: columns - stamp.count - 1)
            return style.paint(stamp, .faint) + " " + style.paint(text, report.colour)
        }
        // Always the same number of lines, so that the lines below do not move.
        return lines + Array(repeating: "", count: max(0, count - lines.count))
    }

    private var table: [String] {
        let header = ["ACCOUNT", "STATE", "EXPIRES", "NEXT REFRESH", "GENERATION"]
        let rows = scene.accounts.map(cells)
        let widths = header.indices.map { column in
            // Wide enough for every state and countdown, so that nothing moves over time.
            max(([header] + rows).map { $0[column].count }.max() ?? 0, column == 1 ? "interaction-required".count : 0)
        }
        let used = widths.reduce(0, +) + Self.gap.count * widths.count
        let hasRoomForBar = used + Self.barWidth <= columns
        let first = style.paint(line(header, widths), .faint)
        return [first]
            + zip(scene.accounts, rows).map { status, cells in
                let text = line(cells, widths)
                return style.paint(text, Self.colour(of: status.state)) + (hasRoomForBar ? Self.gap + bar(status) : "")
            }
    }

    private func cells(_ status: AccountStatus) -> [String] {
        let isRefreshing = status.state == "refreshing"
        let next = status.nextAttemptAtUSec.map { WallClock.countdown(to: max($0, nowUSec), from: nowUSec) }
        return [
            status.account, status.state,
            status.expiresAtUSec.map { WallClock.countdown(to: $0, from: nowUSec) } ?? "–",
            isRefreshing ? "now" : next ?? "–", String(status.generation),
        ]
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        let text = zip(cells, widths).map { PlainText.pad($0, to: $1) }.joined(separator: Self.gap)
        return PlainText.cut(text, to: columns)
    }

    /// A bar for the remaining lifetime of the access token.
    private func bar(_ status: AccountStatus) -> String {
        guard let end = status.expiresAtUSec, let start = status.refreshedAtUSec, end > start else { return "" }
        let left = min(1, max(0, Double(end - nowUSec) / Double(end - start)))
        let filled = Int((left * Double(Self.barWidth)).rounded())
        return style.paint(String(repeating: "█", count: filled), Self.colour(of: status.state))
            + style.paint(String(repeating: "░", count: Self.barWidth - filled), .faint)
    }

    private static func colour(of state: String) -> TerminalStyle.Colour? {
        switch state {
        case "fresh": .green
        case "refreshing": .cyan
        case "retrying", "refresh-token-expiring", "signed-out": .yellow
        case "interaction-required", "misconfigured": .red
        default: nil
        }
    }
}
