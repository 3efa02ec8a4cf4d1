internal import Glibc

/// What a standard stream can show.
package struct TerminalStyle: Sendable {
    package enum Colour: String, CaseIterable, Sendable {
        case green = "32"
        case yellow = "33"
        case red = "1;31"
        case cyan = "36"
        case bold = "1"
        case faint = "2"
    }

    /// Whether text may be colored.
    package var isColoured: Bool
    /// Whether the cursor can be moved.
    package var canDraw: Bool
    /// The columns of the terminal; nil if it is not a terminal, or does not say. Then nothing is cut.
    package var width: Int?
    /// The rows of the terminal; nil as for `width`.
    package var height: Int?
    /// The character set, which decides how cut-off text is marked.
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

    /// The style of the stream now. Color and size exist only on a terminal; `NO_COLOR` (no-color.org) and dumb
    /// terminals have no color.
    private init(of descriptor: Int32) {
        self.init(charset: .current)
        guard isatty(descriptor) == 1 else { return }
        canDraw = !["", "dumb"].contains(environmentValue("TERM") ?? "")
        isColoured = canDraw && environmentValue("NO_COLOR") == nil
        guard let size = Self.size(of: descriptor) else { return }
        (width, height) = (size.columns, size.rows)
    }

    /// The size of the terminal, each part nil if the terminal does not know it; nil if `descriptor` is not a terminal.
    package static func size(of descriptor: Int32) -> (rows: Int?, columns: Int?)? {
        // A `winsize`, whose type belongs to one of two modules, whichever the compiler loads first.
        var size: [UInt16] = [0, 0, 0, 0]
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        return (size[0] > 0 ? Int(size[0]) : nil, size[1] > 0 ? Int(size[1]) : nil)
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
        return Self.begin(colour) + text + Self.end
    }

    /// All control sequences of `paint`.
    static let marks = Colour.allCases.map(begin) + [end]

    private static func begin(_ colour: Colour) -> String { "\u{1B}[\(colour.rawValue)m" }

    private static let end = "\u{1B}[0m"
}

/// The characters that the user's locale can show, as far as we need to know.
package enum Charset: Sendable {
    case utf8
    /// Only ASCII is safe.
    case ascii

    package static let current = Charset(environment: environmentValue)

    /// Reads the locale.
    ///
    /// - Parameter environment: looks up a variable; nil if it is not set or is empty.
    package init(environment: (String) -> String?) {
        // locale(7): the first variable that is set counts. If none is set, this is a service or a container, whose
        // readers use UTF-8.
        guard let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first else {
            self = .utf8
            return
        }
        let name = locale.lowercased()
        self = name.contains("utf-8") || name.contains("utf8") ? .utf8 : .ascii
    }

    /// The mark for cut-off text.
    package var ellipsis: String {
        switch self {
        case .utf8: "…"
        case .ascii: "..."
        }
    }

    /// The text as the locale can show it. Other characters become "?".
    package func rendered(_ text: String) -> String {
        switch self {
        case .utf8: return text
        case .ascii:
            guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
            return text.reduce(into: "") { $0 += $1.isASCII ? String($1) : $1 == "…" ? ellipsis : "?" }
        }
    }
}
