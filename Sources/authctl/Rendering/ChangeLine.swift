internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// One line of `authctl watch`: `2026-11-22 14:02:31  work  token-refreshed  fresh until 15:02 (in 60 min)`.
extension Subscribe.Reply {
    /// Widths that keep most lines in columns. Longer names move the rest to the right.
    private static let accountWidth = 16
    private static let eventWidth = 20
    /// With fewer columns for the state, it does not get a column of its own. A terminal with 80 columns has 19.
    private static let leastRoom = 17

    /// The lines, each with a newline; empty for `ready`, which only ends the initial state.
    func text(_ style: TerminalStyle) -> String {
        if accounts.isEmpty {
            return account.map { line(account: $0, "", style) } ?? ""
        }
        // Times are relative to the change, so that a line is the same whenever it is printed.
        let time = LocalTime(nowUSec: atUSec)
        return
            accounts
            .map { line(account: $0.account, StatusSentence(status: $0, time: time).description, style) }
            .joined()
    }

    private func line(account: String, _ sentence: String, _ style: TerminalStyle) -> String {
        let columns = [
            LocalTime.stamp(atUSec),
            PlainText.pad(PlainText.line(account), to: Self.accountWidth),
            sentence.isEmpty
                ? PlainText.line(event) : PlainText.pad(PlainText.line(event), to: Self.eventWidth),
            sentence,
        ]
        let line = columns.filter { !$0.isEmpty }.joined(separator: "  ")
        guard let width = style.width, TerminalWidth.of(line) > width else { return line + "\n" }
        let begin = columns.dropLast().joined(separator: "  ") + "  "
        let room = width - TerminalWidth.of(begin)
        guard room >= Self.leastRoom, !sentence.isEmpty else {
            return WrappedText.lines(line, width: width, indent: 2).joined(separator: "\n") + "\n"
        }
        let margin = "\n" + String(repeating: " ", count: TerminalWidth.of(begin))
        return begin + WrappedText.lines(sentence, width: room).joined(separator: margin) + "\n"
    }
}
