internal import Basics
internal import Glibc
internal import TextEncodings

/// Writes the answer to standard output, and everything else to standard error.
struct ImportOutput {
    let isJSON: Bool
    /// What commands call authctl.
    let called: InvokedAs

    func answer(_ text: String) throws(ProgramError) {
        guard write(text, to: STDOUT_FILENO) else {
            throw ProgramError(.tryAgainLater, "cannot write to standard output")
        }
    }

    /// Asks a person, who answers on the same line.
    func ask(_ question: String) {
        _ = write(question, to: STDERR_FILENO)
    }

    func tell(_ error: ProgramError) {
        guard !isJSON else {
            _ = write(json(error), to: STDERR_FILENO)
            return
        }
        let hint = error.hint.map { line("hint", $0) } ?? ""
        _ = write(line("error", Hint(error.message)) + hint, to: STDERR_FILENO)
    }

    func warn(_ message: String) {
        say("warning", message)
    }

    /// - Parameter message: lower case, no full stop.
    func note(_ message: String) {
        say("note", message)
    }

    private func say(_ kind: String, _ message: String) {
        let json = JSONText.object([(kind, JSONText.quote(PlainText.line(message)))]) + "\n"
        _ = write(isJSON ? json : line(kind, Hint(message)), to: STDERR_FILENO)
    }

    /// One line for programs.
    private func json(_ error: ProgramError) -> String {
        JSONText.object([
            ("error", JSONText.quote("authctl.Import")),
            ("exitStatus", String(error.status.rawValue)),
            ("hints", "[" + (error.hint.map { JSONText.quote(PlainText.line($0.text(by: called))) } ?? "") + "]"),
            ("message", JSONText.quote(PlainText.line(error.message))),
        ]) + "\n"
    }

    private func line(_ kind: String, _ message: Hint) -> String {
        WrappedText.report(kind, message, by: called, .standardError)
    }

    private func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array((isJSON ? PlainText.json(text) : Charset.current.rendered(PlainText.lines(text))).utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
