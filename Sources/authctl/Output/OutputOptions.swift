internal import ArgumentParser

/// The option of every command that has an answer for programs too.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON for programs; errors too, on standard error.")
    var json = false

    /// Prints the answer of a command that has one.
    ///
    /// - Parameter text: lines for people, each with its newline.
    func print(_ object: some Encodable, or text: @autoclosure () -> String) throws(AuthctlError) {
        if json {
            try StandardOutput.write(WireText.encodeIndented(object) + "\n")
        } else {
            try StandardOutput.show(text())
        }
    }

    /// Prints one of the answers of a command that gives several as time passes: each is one line.
    func printLine(_ object: some Encodable, or text: @autoclosure () -> String) throws(AuthctlError) {
        // Each is one write: an interrupt never leaves half of a line.
        if json {
            try StandardOutput.write(WireText.encode(object) + "\n")
        } else {
            try StandardOutput.show(text())
        }
    }
}
