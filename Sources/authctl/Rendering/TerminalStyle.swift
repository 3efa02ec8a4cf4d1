internal import AuthRefreshInterface
internal import Glibc

/// What a standard stream can show.
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

    static var standardOutput: TerminalStyle { TerminalStyle(of: STDOUT_FILENO) }

    static var standardError: TerminalStyle { TerminalStyle(of: STDERR_FILENO) }

    func paint(_ text: String, _ colour: Colour?) -> String {
        guard isColoured, let colour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    fileprivate static func isSet(_ name: String) -> Bool {
        guard let value = unsafe getenv(name) else { return false }
        return unsafe value.pointee != 0
    }

    static var isDumb: Bool {
        guard let terminal = unsafe getenv("TERM") else { return true }
        return unsafe String(cString: terminal) == "dumb"
    }
}

extension TerminalStyle {
    /// Colour and width on a terminal only; no colour with `NO_COLOR` (no-color.org) or a dumb terminal.
    fileprivate init(of descriptor: Int32) {
        guard isatty(descriptor) == 1 else {
            self.init(charset: .current)
            return
        }
        var size = winsize()
        let isKnown = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        self.init(
            isColoured: !Self.isSet("NO_COLOR") && !Self.isDumb,
            width: isKnown ? Int(size.ws_col) : nil,
            charset: .current
        )
    }
}

/// Makes text from elsewhere safe to print.
enum PlainText {
    /// The text on one line, without characters that steer a terminal.
    ///
    /// An authorization server's `error_description` is written by a stranger: escape sequences, line breaks and
    /// bidirectional overrides in it would let it forge what the user sees.
    static func line(_ text: String) -> String {
        text.replacingSteering(with: "\u{FFFD}")
    }
}

/// The system's words for an error number.
func systemText(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text).lowercasedFirst
}

extension String {
    /// The same text with a small first letter, for use within a sentence.
    var lowercasedFirst: String {
        guard let first else { return self }
        return first.lowercased() + dropFirst()
    }
}
