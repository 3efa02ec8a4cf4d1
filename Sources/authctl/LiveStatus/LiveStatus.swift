internal import AuthRefreshInterface
internal import Glibc
internal import Terminal
internal import TextEncodings

/// `authctl status --watch`: the table of `authctl status`, kept true in place until the user has seen enough.
///
/// The daemon tells what changes. The words that age ("in 42 min") are drawn anew when they do, from what is known here.
struct LiveStatus {
    /// How the user ended it.
    private enum Ending {
        case quit
        case signal(Int32)
    }

    /// What a wait ended with.
    private enum WaitResult {
        /// The time was over, or there is something to read.
        case nothing
        /// The terminal has another size, or is ours again.
        case redraw
        case ending(Ending)
    }

    /// µs between two drawings: a thousand changes a second are not a thousand screens.
    private static let pace: Int64 = 100_000
    /// µs. The wall clock may be stepped, and nobody tells: words are looked over at least this often.
    private static let longestWait: Int64 = 60_000_000
    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    let names: [String]
    let connection: ConnectionOptions

    /// Draws until `q` is typed. A signal that ends programs ends this one too, with the terminal as it was.
    func run() throws(AuthctlError) {
        try TerminalScreen.check()
        var feed = try StatusFeed.open(names: names, connection: connection)
        guard case .signal(let number) = try draw(&feed) else { return }
        CaughtSignals.passOn(number)
    }

    private func draw(_ feed: inout StatusFeed) throws(AuthctlError) -> Ending {
        var screen = try TerminalScreen()
        var position = ScrollPosition()
        let signals = CaughtSignals(Self.ending + [SIGTSTP, SIGWINCH])
        while true {
            let time = LocalTime.now
            let accounts = feed.accounts
            let page = view(accounts, feed.info, time).screen(.standardOutput)
                .page(height: TerminalScreen.room, offset: position.offset)
            position.settle(on: page)
            screen.takeEachKey(page.hidden != nil)
            try screen.draw(page.lines, footer: footer(page, isAnswered: feed.isAnswered))
            let next = min(time.untilWordsChange(accounts.flatMap(\.shownInstants)), Self.longestWait)
            // Changes are left in the socket for the first moment: they are drawn together.
            var result = try wait(for: screen.keyDescriptors, Self.pace, &screen, &position, signals)
            if case .nothing = result, try !feed.takeChanges() {
                let descriptors = screen.keyDescriptors + feed.pollDescriptors
                result = try wait(for: descriptors, next - Self.pace, &screen, &position, signals)
                try feed.takeChanges()
            }
            if case .ending(let ending) = result { return ending }
        }
    }

    /// Waits for something to happen, and takes what was typed and which signals came.
    private func wait(
        for descriptors: [Int32],
        _ microseconds: Int64,
        _ screen: inout TerminalScreen,
        _ position: inout ScrollPosition,
        _ signals: borrowing CaughtSignals
    ) throws(AuthctlError) -> WaitResult {
        let ready = signals.wait(for: descriptors, microseconds: max(0, microseconds))
        if ready.contains(STDIN_FILENO) {
            // A terminal that hangs up sends SIGHUP, if it can.
            guard let keys = screen.takeKeys() else { return .ending(.signal(SIGHUP)) }
            if keys.isEmpty || keys.contains(where: TerminalScreen.lastKeys.contains) { return .ending(.quit) }
            position.move(by: keys)
        }
        let arrived = signals.take()
        if let number = arrived.first(where: Self.ending.contains) { return .ending(.signal(number)) }
        if arrived.contains(SIGTSTP) {
            screen.close()
            CaughtSignals.passOn(SIGTSTP)
            try screen.open()
        }
        // The terminal shows what was typed, below the table or over it.
        return arrived.isEmpty && !ready.contains(STDIN_FILENO) ? .nothing : .redraw
    }

    private func view(_ accounts: [AccountStatus], _ info: GetInfo.Reply?, _ time: LocalTime) -> StatusView {
        let condition = names.isEmpty ? info.map(DaemonCondition.text) ?? "" : ""
        return StatusView(accounts: accounts, time: time, condition: condition)
    }

    private func footer(_ page: StatusScreen.Page, isAnswered: Bool) -> String {
        let scrolling = page.hidden.map { "; \($0)" } ?? ""
        let trouble = isAnswered ? "" : "; " + StatusWords.notAnswering
        return TerminalStyle.standardOutput.paint(StatusWords.quits + scrolling + trouble, .faint)
    }
}

/// Which part of the accounts and notes is shown.
private struct ScrollPosition {
    private(set) var offset = 0
    private var room = 1
    private var keys = ScrollKeys()

    /// What was asked for becomes what there is.
    mutating func settle(on page: StatusScreen.Page) {
        (offset, room) = (page.offset, page.room)
    }

    mutating func move(by bytes: [UInt8]) {
        for step in keys.steps(in: bytes) {
            switch step {
            case .lines(let count): offset += count
            case .pages(let count): offset += count * max(1, room - 1)
            case .beginning: offset = 0
            // No screen has so many lines.
            case .end: offset = 1 << 30
            }
            offset = max(0, offset)
        }
    }
}

extension AccountStatus {
    /// The instants whose distance is told in words.
    fileprivate var shownInstants: [Int64] {
        [expiresAtUSec, nextAttemptAtUSec, refreshTokenExpiresAtUSec, sinceUSec].compactMap(\.self)
    }
}

/// The terminal as a screen of its own, which is drawn anew in place; what was there before comes back at the end.
///
/// As little as possible is changed, for nobody changes it back after SIGKILL: while everything is in sight, the terminal goes on gathering
/// lines and showing what is typed, so that a shell is as usable as before. Only a `q` ends a line as Enter does.
struct TerminalScreen: ~Copyable {
    /// xterm's private mode of the alternate screen.
    private static let enter = "\u{1B}[?1049h"
    private static let leave = "\u{1B}[?1049l"

    /// The keys that are read as soon as they are typed: `q`, and Ctrl-D where the terminal does not gather lines.
    static let lastKeys = [UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x04]

    /// Nil: nobody types here.
    private var settingsBefore: termios?
    /// Whether each key comes as it is typed, and none is shown.
    private var takesEachKey = false

    /// - Throws: `usage` if standard output is no terminal, or one that cannot move its cursor.
    static func check() throws(AuthctlError) {
        guard TerminalStyle.standardOutput.canDraw else {
            throw .usage(.watchNeedsTerminal)
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
        setKeys()
        try StandardOutput.write(Self.enter)
    }

    /// Has each key come as it is typed, as scrolling needs it; or lines, which leave the terminal as it was.
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
            // termios(3): two characters more that end a line. All else that is typed stays with the terminal until Enter.
            unsafe withUnsafeMutableBytes(of: &settings.c_cc) { characters in
                unsafe characters[Int(VEOL)] = Self.lastKeys[0]
                unsafe characters[Int(VEOL2)] = Self.lastKeys[1]
            }
        }
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Gives the terminal back as it was.
    func close() {
        // A terminal that is gone needs nothing more.
        _ = FileDescriptor.write(Self.leave, to: STDOUT_FILENO)
        if var settings = settingsBefore {
            // What was typed here is no command of the shell's.
            tcflush(STDIN_FILENO, TCIFLUSH)
            unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
    }

    /// Shows the lines, with `footer` below them.
    func draw(_ lines: [String], footer: String) throws(AuthctlError) {
        let drawn = (lines + [footer]).joined(separator: "\u{1B}[K\r\n")
        // From the corner, over what is there: nothing flickers. Lines are cut at the edge instead of wrapped, for as long as this takes.
        try StandardOutput.show("\u{1B}[?7l\u{1B}[H\(drawn)\u{1B}[K\u{1B}[J\u{1B}[?7h")
    }

    /// The keys that were typed, up to one that ends a line; none for Ctrl-D; nil if the terminal has gone.
    mutating func takeKeys() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        guard count >= 0 else { return nil }
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
