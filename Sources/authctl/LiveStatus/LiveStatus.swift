internal import AuthRefreshInterface
internal import Basics
internal import Glibc
internal import TextEncodings

/// Runs `authctl status --watch`: it shows the table of `authctl status` and updates it in place until the user quits.
///
/// The daemon reports changes. Relative times ("in 42 min") are redrawn when they change, without asking the daemon.
struct LiveStatus {
    /// The result of a wait.
    private enum WaitResult {
        /// The time is over, or there is something to read.
        case nothing
        /// The terminal's size has changed, or the program has returned to the foreground.
        case redraw
        /// The user quits.
        case quit
        /// A signal ends the program.
        case signal(Int32)
    }

    /// The shortest time between two drawings in µs, so that a thousand changes per second do not cause a thousand
    /// drawings.
    private static let pace: Int64 = 100_000
    /// The longest wait in µs. The wall clock may be stepped without notice, so the words are updated at least this
    /// often.
    private static let longestWait: Int64 = 60_000_000

    let names: [String]
    let connection: ConnectionOptions

    /// Draws until the user types `q`. A signal that ends programs also ends this one, with the terminal restored.
    func run() throws(Report) {
        try TerminalScreen.check()
        var feed = try StatusFeed.open(names: names, connection: connection)
        if let signal = try draw(&feed) { CaughtSignals.passOn(signal) }
    }

    /// - Returns: the signal that ended it; nil if the user quit.
    private func draw(_ feed: inout StatusFeed) throws(Report) -> Int32? {
        var screen = try TerminalScreen()
        var position = ScrollPosition()
        let signals = CaughtSignals(CaughtSignals.ending + [SIGTSTP, SIGWINCH])
        while true {
            let time = LocalTime.now
            let accounts = feed.accounts
            let page = view(accounts, feed.info, time).screen(.standardOutput)
                .page(height: TerminalScreen.room, offset: position.offset)
            position.settle(on: page)
            screen.takeEachKey(page.hidden != nil)
            try screen.draw(page.lines, footer: footer(page, trouble(of: feed)))
            let next = min(time.untilWordsChange(accounts.flatMap(\.shownInstants)), Self.longestWait)
            // Changes wait in the socket for a moment, so that they are drawn together.
            var result = try wait(for: screen.keyDescriptors, Self.pace, &screen, &position, signals)
            if case .nothing = result, try !feed.takeChanges() {
                let descriptors = screen.keyDescriptors + feed.pollDescriptors
                let pause = feed.pauseMilliseconds
                let rest = pause < 0 ? next - Self.pace : min(next - Self.pace, Int64(pause) * 1000)
                result = try wait(for: descriptors, rest, &screen, &position, signals)
                try feed.takeChanges()
            }
            switch result {
            case .nothing, .redraw: break
            case .quit: return nil
            case .signal(let number): return number
            }
        }
    }

    /// Waits for an event, and reads the typed keys and the signals.
    private func wait(
        for descriptors: [Int32],
        _ microseconds: Int64,
        _ screen: inout TerminalScreen,
        _ position: inout ScrollPosition,
        _ signals: borrowing CaughtSignals
    ) throws(Report) -> WaitResult {
        let ready = signals.wait(for: descriptors, microseconds: max(0, microseconds))
        if ready.contains(STDIN_FILENO) {
            // A terminal that hangs up should send SIGHUP.
            guard let keys = screen.takeKeys() else { return .signal(SIGHUP) }
            if keys.isEmpty || keys.contains(where: TerminalScreen.lastKeys.contains) { return .quit }
            position.move(by: keys)
        }
        let arrived = signals.take()
        if let number = arrived.first(where: CaughtSignals.ending.contains) { return .signal(number) }
        if arrived.contains(SIGTSTP) {
            screen.close()
            CaughtSignals.passOn(SIGTSTP)
            try screen.open()
        }
        // The terminal shows what was typed, below the table or over it.
        return arrived.isEmpty && !ready.contains(STDIN_FILENO) ? .nothing : .redraw
    }

    private func view(_ accounts: [AccountStatus], _ info: GetInfo.Reply?, _ time: LocalTime) -> StatusView {
        let condition = names.isEmpty ? info.map(StatusView.condition) ?? "" : ""
        return StatusView(accounts: accounts, time: time, condition: condition)
    }

    /// What is said if the shown state may be old, at length and for a narrow terminal; nil if it is not.
    private func trouble(of feed: borrowing StatusFeed) -> (long: String, brief: String)? {
        if feed.isDaemonMissed { return (DaemonSearch.announcement, "waiting for the daemon") }
        guard !feed.isAnswered else { return nil }
        return ("the daemon does not answer yet, and this is the last known state", "no answer yet")
    }

    private func footer(_ page: StatusScreen.Page, _ trouble: (long: String, brief: String)?) -> String {
        let style = TerminalStyle.standardOutput
        let long = ["q quits", page.hidden, trouble?.long].compactMap(\.self).joined(separator: "; ")
        // Cut at the edge of a narrow terminal, it still says that the state may be old.
        let brief = ["q quits", trouble?.brief, page.hiddenBriefly].compactMap(\.self)
        let hasRoom = style.width.map { TerminalWidth.of(long) <= $0 } ?? true
        return style.paint(hasRoom ? long : brief.joined(separator: "; "), .faint)
    }
}

extension AccountStatus {
    /// The instants whose relative time is shown.
    fileprivate var shownInstants: [Int64] {
        [expiresAtUSec, nextAttemptAtUSec, refreshTokenExpiresAtUSec, sinceUSec].compactMap(\.self)
    }
}

/// The terminal's alternate screen, which is redrawn in place. The earlier content returns at the end.
///
/// It changes as little as possible, because nobody restores the terminal after SIGKILL. While everything fits on the
/// screen, the terminal keeps its line mode and its echo, so that a shell stays usable. The only change is that `q`
/// ends a line, like Enter.
struct TerminalScreen: ~Copyable {
    /// xterm's private mode of the alternate screen.
    private static let enter = "\u{1B}[?1049h"
    private static let leave = "\u{1B}[?1049l"

    /// The keys that are read immediately: `q`, and Ctrl-D if the terminal is not in line mode.
    static let lastKeys = [UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x04]

    /// The settings to restore; nil if standard input is not a terminal.
    private var settingsBefore: termios?
    /// Whether each key is read immediately, without echo.
    private var takesEachKey = false

    /// Checks the terminal.
    ///
    /// - Throws: `usage` if standard output is not a terminal, or if its cursor cannot be moved.
    static func check() throws(Report) {
        guard TerminalStyle.standardOutput.canDraw else {
            throw .usage(
                "'--watch' needs a terminal that can be drawn on",
                hint: "'\(Command("watch"))' prints a line for each change; --json works everywhere"
            )
        }
    }

    /// Takes over the terminal, after `check`.
    init() throws(Report) {
        var settings = termios()
        if unsafe tcgetattr(STDIN_FILENO, &settings) == 0 { settingsBefore = settings }
        try open()
    }

    deinit { close() }

    /// The descriptors for keys; empty if standard input is not a terminal.
    var keyDescriptors: [Int32] { settingsBefore == nil ? [] : [STDIN_FILENO] }

    /// Takes over the terminal, also after `close`.
    func open() throws(Report) {
        setKeys()
        try StandardOutput.write(Self.enter)
    }

    /// Switches between reading each key, which scrolling needs, and reading lines, which leaves the terminal as it
    /// was.
    mutating func takeEachKey(_ isWanted: Bool) {
        guard takesEachKey != isWanted else { return }
        takesEachKey = isWanted
        setKeys()
    }

    private func setKeys() {
        guard var settings = settingsBefore else { return }
        if takesEachKey {
            settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
            TypedLine.waitForEachByte(&settings)
        } else {
            // termios(3): two more characters that end a line. All other input stays in the terminal until Enter.
            unsafe withUnsafeMutableBytes(of: &settings.c_cc) { characters in
                unsafe characters[Int(VEOL)] = Self.lastKeys[0]
                unsafe characters[Int(VEOL2)] = Self.lastKeys[1]
            }
        }
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Restores the terminal.
    func close() {
        // If the terminal is gone, this need not succeed.
        _ = FileDescriptor.write(Self.leave, to: STDOUT_FILENO)
        if var settings = settingsBefore {
            // Input typed here must not become a shell command.
            tcflush(STDIN_FILENO, TCIFLUSH)
            unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
    }

    /// Shows the lines, with `footer` below them.
    func draw(_ lines: [String], footer: String) throws(Report) {
        // Each line is erased before it is drawn: behind a line that fills the row, the cursor stays on its last
        // character, and would erase that.
        // The footer comes after everything below is erased: a table that was longer may stand there.
        let drawn = lines.map { "\u{1B}[K\($0.shown)\r\n" }.joined() + "\u{1B}[J\(footer.shown)"
        // Draw over the old content from the top left corner, and with one write, so that nothing flickers. During the
        // drawing, long lines are cut at the edge and not wrapped.
        try StandardOutput.write("\u{1B}[?7l\u{1B}[H\(drawn)\u{1B}[?7h")
    }

    /// The typed keys, up to one that ends a line; empty for Ctrl-D; nil if the terminal has gone.
    mutating func takeKeys() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return Array(bytes[..<count])
    }

    /// How many lines fit above the footer.
    static var room: Int { max(1, height - 1) }

    private static var height: Int { TerminalStyle.size(of: STDOUT_FILENO)?.rows ?? 24 }
}
