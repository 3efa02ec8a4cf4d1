internal import Glibc

/// Asks on the terminal, and shows what is typed.
enum Question {
    /// Whether somebody is there to be asked, who sees the question.
    static var canBeAsked: Bool { StandardInput.isTerminal && isatty(STDERR_FILENO) == 1 && !StandardError.isJSON }

    /// One line, without white space around it; it may be empty.
    ///
    /// - Throws: `cancelled` if the input has ended.
    static func ask(_ prompt: String) throws(AuthctlError) -> String {
        StandardError.show(prompt)
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while byte != UInt8(ascii: "\n") {
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // The next line of the shell does not begin behind the question.
                StandardError.show("\n")
                throw .cancelled
            }
            bytes.append(byte)
        }
        let isSpace = { (byte: UInt8) in [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n")].contains(byte) }
        let line = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: line, as: UTF8.self)
    }

    /// Whether the person says yes; anything but that is no.
    static func confirm(_ question: String) throws(AuthctlError) -> Bool {
        ["y", "yes"].contains(try ask("\(question) [y/N] ").lowercased())
    }
}
