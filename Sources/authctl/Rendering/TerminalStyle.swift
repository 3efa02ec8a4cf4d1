internal import Glibc

/// What the standard output can show.
struct TerminalStyle: Sendable {
    enum Colour: String, Sendable {
        case green = "32"
        case yellow = "33"
        case red = "1;31"
        case cyan = "36"
        case faint = "2"
    }

    /// Whether text may be coloured.
    var isColoured = false
    /// Columns of the terminal. Nil: not a terminal, nothing is cut.
    var width: Int?
    /// What stands for text that was cut off depends on it.
    var charset = Charset.utf8

    /// Colour and width on a terminal only; no colour with `NO_COLOR` (no-color.org) or a dumb terminal.
    static var standardOutput: TerminalStyle {
        guard StandardOutput.isTerminal else { return TerminalStyle(charset: .current) }
        var size = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return TerminalStyle(
            isColoured: !isSet("NO_COLOR") && !isDumb,
            width: isKnown ? Int(size.ws_col) : nil,
            charset: .current
        )
    }

    func paint(_ text: String, _ colour: Colour?) -> String {
        guard isColoured, let colour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    private static func isSet(_ name: String) -> Bool {
        guard let value = unsafe getenv(name) else { return false }
        return unsafe value.pointee != 0
    }

    static var isDumb: Bool {
        guard let terminal = unsafe getenv("TERM") else { return true }
        return unsafe String(cString: terminal) == "dumb"
    }
}
