internal import CommandLineProgram
internal import Glibc

/// What a standard stream can show.
package struct TerminalStyle: Sendable {
    package enum Colour: String, Sendable {
        case green = "32"
        case yellow = "33"
        case red = "1;31"
        case cyan = "36"
        case bold = "1"
        case faint = "2"
    }

    /// Whether text may be coloured.
    package var isColoured: Bool
    /// Whether the cursor can be moved about.
    package var canDraw: Bool
    /// Columns of the terminal. Nil: not a terminal, or one that does not tell; nothing is cut.
    package var width: Int?
    /// Its rows. Nil: as above.
    package var height: Int?
    /// What stands for text that was cut off depends on it.
    package var charset: Charset

    package init(
        isColoured: Bool = false,
        canDraw: Bool = false,
        width: Int? = nil,
        height: Int? = nil,
        charset: Charset = .utf8
    ) {
        self.isColoured = isColoured
        self.canDraw = canDraw
        self.width = width
        self.height = height
        self.charset = charset
    }

    package static var standardOutput: TerminalStyle { TerminalStyle(of: STDOUT_FILENO) }

    package static var standardError: TerminalStyle { TerminalStyle(of: STDERR_FILENO) }

    /// As the stream is now: colour and size on a terminal only, no colour with `NO_COLOR` (no-color.org) or a dumb terminal.
    private init(of descriptor: Int32) {
        self.init(charset: .current)
        guard isatty(descriptor) == 1 else { return }
        canDraw = !["", "dumb"].contains(environmentValue("TERM") ?? "")
        isColoured = canDraw && environmentValue("NO_COLOR") == nil
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return }
        width = size.ws_col > 0 ? Int(size.ws_col) : nil
        height = size.ws_row > 0 ? Int(size.ws_row) : nil
    }

    /// How many lines the terminal needs for the text, which ends with a newline.
    package func lineCount(of text: String) -> Int {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().reduce(0) { count, line in
            guard let width else { return count + 1 }
            return count + max(1, (TerminalWidth.of(String(line)) + width - 1) / width)
        }
    }

    package func paint(_ text: String, _ colour: Colour?) -> String {
        guard isColoured, let colour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }
}

/// What characters the user's locale has, as far as it matters here.
package enum Charset: Sendable {
    case utf8
    /// Only ASCII is safe.
    case ascii

    package static let current = Charset(environment: environmentValue)

    /// - Parameter environment: looks up a variable; nil if it is not set, or empty.
    package init(environment: (String) -> String?) {
        // locale(7): the first that is set decides. None set is a service or a container, whose readers take UTF-8.
        guard let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first else {
            self = .utf8
            return
        }
        let name = locale.lowercased()
        self = name.contains("utf-8") || name.contains("utf8") ? .utf8 : .ascii
    }

    /// What stands for text that was cut off.
    package var ellipsis: String {
        switch self {
        case .utf8: "…"
        case .ascii: "..."
        }
    }

    /// The text as the locale can show it; what it lacks becomes "?".
    package func rendered(_ text: String) -> String {
        switch self {
        case .utf8: return text
        case .ascii:
            guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
            return text.reduce(into: "") { $0 += $1.isASCII ? String($1) : $1 == "…" ? ellipsis : "?" }
        }
    }
}
