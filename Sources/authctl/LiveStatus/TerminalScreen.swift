internal import Glibc

/// The terminal as a screen of its own, which is drawn anew in place; what was there before comes back at the end.
struct TerminalScreen: ~Copyable {
    /// xterm's private modes: the alternate screen, no cursor, and lines that are cut at the edge instead of wrapped.
    private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Nil: nobody types here.
    private var settingsBefore: termios?

    /// - Throws: `usage` if standard output is no terminal, or one that cannot move its cursor.
    static func check() throws(AuthctlError) {
        guard StandardOutput.isTerminal, !TerminalStyle.isDumb else {
            throw .usage(
                message: "'--watch' needs a terminal that can be drawn on",
                hint: "authctl watch prints a line for each change; --json works everywhere"
            )
        }
    }

    /// Takes the terminal, which `check` has found to be one.
    init() throws(AuthctlError) {
        var settings = termios()
        if unsafe tcgetattr(STDIN_FILENO, &settings) == 0 { settingsBefore = settings }
        try open()
    }

    deinit { close() }

    /// The descriptors on which keys come; none if nobody types here.
    var keyDescriptors: [Int32] { settingsBefore == nil ? [] : [STDIN_FILENO] }

    /// Takes the terminal, also after `close`.
    func open() throws(AuthctlError) {
        if var settings = settingsBefore {
            // Keys come one by one and are not shown; Ctrl-C and Ctrl-Z stay what they are.
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
        try StandardOutput.write(Self.enter)
    }

    /// Gives the terminal back as it was.
    func close() {
        // A terminal that is gone needs nothing more.
        _ = FileDescriptor.write(Self.leave, to: STDOUT_FILENO)
        if var settings = settingsBefore { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
    }

    /// Shows the lines, as many as there is room for, with `footer` below them.
    func draw(_ text: String, footer: String) throws(AuthctlError) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        let room = Self.room
        if lines.count > room {
            let hidden = lines.count - room + 1
            lines = lines.prefix(room - 1) + ["(\(hidden) more lines: name accounts, or make the terminal taller)"]
        }
        let drawn = (lines + [footer]).joined(separator: "\u{1B}[K\r\n")
        // From the corner, over what is there: nothing flickers.
        try StandardOutput.show("\u{1B}[H\(drawn)\u{1B}[K\u{1B}[J")
    }

    /// The keys that were typed; nil if the terminal has gone.
    mutating func takeKeys() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { return count < 0 && errno == EINTR ? [] : nil }
        return Array(bytes[..<count])
    }

    /// How many lines are shown above the footer.
    static var room: Int { max(1, height - 1) }

    private static var height: Int {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }
}
