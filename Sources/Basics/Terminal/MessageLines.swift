/// The lines of `authctl: KIND: message` on standard error.
package enum MessageLines {
    /// By how many columns the lines after the first are indented.
    private static let indent = 2

    /// The message, wrapped for a person at a terminal; ends with a newline.
    ///
    /// - Parameters:
    ///   - kind: `error`, `hint`, `warning` or `note`.
    ///   - called: the name of `authctl` in the message's commands.
    package static func text(_ kind: String, _ message: Hint, by called: InvokedAs, _ style: TerminalStyle) -> String {
        let line = "authctl: \(kind): \(message)" as Hint
        return WrappedText.message(line, by: called, charset: style.charset, width: style.width, indent: indent)
            .joined(separator: "\n") + "\n"
    }
}
