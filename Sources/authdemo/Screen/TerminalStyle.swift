internal import Glibc

/// What the standard output can show.
struct TerminalStyle: Sendable {
    enum Colour: String, Sendable {
        case green = "32"
        case yellow = "33"
        case red = "1;31"
        case cyan = "36"
        case bold = "1"
        case faint = "2"
    }

    /// Whether text may be coloured.
    var isColoured: Bool
    /// Whether the cursor can be moved about.
    var canDraw: Bool
    var columns: Int
    var rows: Int

    /// A terminal that tells no size has the size terminals have had since the VT100.
    private static let usualSize = (columns: 80, rows: 24)

    /// As the standard output is now: colour on a terminal only, and not with `NO_COLOR` (no-color.org).
    static var standardOutput: TerminalStyle {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let isCapable = isTerminal && !["", "dumb"].contains(variable("TERM"))
        var size = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return TerminalStyle(
            isColoured: isCapable && variable("NO_COLOR").isEmpty,
            canDraw: isCapable,
            columns: isKnown ? Int(size.ws_col) : usualSize.columns,
            rows: isKnown ? Int(size.ws_row) : usualSize.rows
        )
    }

    func paint(_ text: String, _ colour: Colour?) -> String {
        guard isColoured, let colour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    private static func variable(_ name: String) -> String {
        guard let value = unsafe getenv(name) else { return "" }
        return unsafe String(cString: value)
    }
}
