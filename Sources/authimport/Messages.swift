internal import CommandLineProgram
internal import Glibc
internal import MovingIn
internal import StrictJSON
internal import Terminal

/// Writes the answer to standard output, and everything else to standard error.
struct Messages {
    let isJSON: Bool
    /// What the texts call authctl.
    let called: CalledName

    /// Writes the answer.
    ///
    /// - Throws: `cannotWriteOutput`.
    func answer(_ text: String) throws(ImportError) {
        guard write(text, to: STDOUT_FILENO) else { throw .cannotWriteOutput }
    }

    /// Asks a person, who answers on the same line.
    func ask(_ question: ImportText) {
        _ = write(question.text, to: STDERR_FILENO)
    }

    func tell(_ error: ImportError) {
        _ = write(isJSON ? error.json : error.text, to: STDERR_FILENO)
    }

    func warn(_ problem: MovingInError) {
        say("warning", problem.message)
    }

    func note(_ note: ImportText) {
        say("note", note.text)
    }

    private func say(_ kind: String, _ message: String) {
        let line = PlainText.line(message)
        let text = isJSON ? JSONText.object([(kind, JSONText.quote(line))]) + "\n" : "authctl: \(kind): \(line)\n"
        _ = write(text, to: STDERR_FILENO)
    }

    private func write(_ text: String, to descriptor: Int32) -> Bool {
        let text = called.inText(text)
        var rest = Array((isJSON ? text : Charset.current.rendered(text)).utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
