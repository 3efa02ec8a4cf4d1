internal import Glibc
internal import StrictJSON
internal import Terminal

/// Writes the answer to standard output, and everything else to standard error.
enum Messages {
    /// Writes the answer.
    ///
    /// - Throws: `cannotWriteOutput`.
    static func answer(_ text: String) throws(ImportError) {
        guard write(text, to: STDOUT_FILENO) else { throw .cannotWriteOutput }
    }

    static func write(_ text: String) {
        _ = write(text, to: STDERR_FILENO)
    }

    static func warn(_ message: String, isJSON: Bool) {
        say("warning", message, isJSON)
    }

    static func note(_ message: String, isJSON: Bool) {
        say("note", message, isJSON)
    }

    private static func say(_ kind: String, _ message: String, _ isJSON: Bool) {
        let line = PlainText.line(message)
        write(isJSON ? JSONText.object([(kind, JSONText.quote(line))]) + "\n" : "authctl: \(kind): \(line)\n")
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
