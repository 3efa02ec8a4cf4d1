internal import Basics
internal import TextEncodings

extension Report {
    /// The report on one line, for programs that show only one.
    var line: String {
        ([message] + hints.map { $0.text(by: .here) }).map { PlainText.line($0) }.joined(separator: "; ")
    }

    /// The lines for standard error, each with a newline; empty if everything was reported already.
    func text(_ style: TerminalStyle) -> String {
        guard !message.isEmpty else { return "" }
        let lines = [("error", Hint(message))] + hints.map { ("hint", $0) }
        return lines.map { kind, line in WrappedText.report(kind, line, by: .here, style) }.joined()
    }

    /// The failure as one line for programs, with a newline; empty if everything was reported already.
    var json: String {
        guard !message.isEmpty else { return "" }
        let hints = hints.map { JSONText.quote(PlainText.line($0.text(by: .here))) }
        return JSONText.object([
            ("error", JSONText.quote(name)),
            ("exitStatus", String(status.rawValue)),
            ("hints", "[\(hints.joined(separator: ","))]"),
            ("message", JSONText.quote(PlainText.line(message))),
            ("parameters", parameters.map(StampedJSON.text)),
        ]) + "\n"
    }
}
