/// What a failure looks like to the user: one error line, then what to do about it.
struct Report: Hashable, Sendable {
    let status: ExitStatus
    /// Lower case, no full stop. Empty: everything has been said already.
    let message: String
    /// Each is a command or a sentence that helps.
    var hints: [String] = []

    /// The same, after what was done all the same.
    func following(_ done: String) -> Report {
        Report(status: status, message: "\(done), but \(message)", hints: hints)
    }

    /// The lines for standard error, each with its newline.
    var text: String {
        guard !message.isEmpty else { return "" }
        var lines = "authctl: error: \(PlainText.line(message))\n"
        for hint in hints where !hint.isEmpty {
            lines += "authctl: hint: \(PlainText.line(hint))\n"
        }
        return lines
    }
}
