/// The lines of `authctl: KIND: message` on standard error.
package enum MessageLines {
    /// By how many columns the lines after the first are indented.
    private static let indent = 2

    /// The message, wrapped for a person at a terminal; ends with a newline.
    ///
    /// - Parameters:
    ///   - kind: `error`, `hint`, `warning` or `note`.
    ///   - message: plain text on one line.
    package static func text(_ kind: String, _ message: String, _ style: TerminalStyle) -> String {
        let line = style.charset.rendered("authctl: \(kind): \(message)")
        return WrappedText.message(line, width: style.width, indent: indent).joined(separator: "\n") + "\n"
    }
}
