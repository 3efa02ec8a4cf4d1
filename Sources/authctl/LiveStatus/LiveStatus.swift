internal import AuthRefreshInterface
internal import Glibc

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
        let signals = CaughtSignals(Self.ending + [SIGTSTP, SIGWINCH])
        while true {
            let time = LocalTime.now
            let accounts = feed.accounts
            try screen.draw(text(accounts, feed.info, time), footer: footer(isAnswered: feed.isAnswered))
            let next = min(time.untilWordsChange(accounts.flatMap(\.shownInstants)), Self.longestWait)
            // Changes are left in the socket for the first moment: they are drawn together.
            var result = try wait(for: screen.keyDescriptors, Self.pace, &screen, signals)
            if case .nothing = result, try !feed.takeChanges() {
                let descriptors = screen.keyDescriptors + feed.pollDescriptors
                result = try wait(for: descriptors, next - Self.pace, &screen, signals)
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
        _ signals: borrowing CaughtSignals
    ) throws(AuthctlError) -> WaitResult {
        let ready = signals.wait(for: descriptors, microseconds: max(0, microseconds))
        if ready.contains(STDIN_FILENO) {
            // A terminal that hangs up sends SIGHUP, if it can.
            guard let keys = screen.takeKeys() else { return .ending(.signal(SIGHUP)) }
            // Ctrl-D is no key, but the end of them.
            if keys.isEmpty || keys.contains(where: TerminalScreen.lastKeys.contains) { return .ending(.quit) }
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

    private func text(_ accounts: [AccountStatus], _ info: GetInfo.Reply?, _ time: LocalTime) -> String {
        let condition = names.isEmpty ? info.map(DaemonCondition.text) ?? "" : ""
        return StatusView(accounts: accounts, time: time, condition: condition)
            .render(.standardOutput, height: TerminalScreen.room)
    }

    private func footer(isAnswered: Bool) -> String {
        let text = isAnswered ? "q quits" : "q quits; the daemon does not answer yet, this is what was last known"
        return TerminalStyle.standardOutput.paint(text, .faint)
    }
}

extension AccountStatus {
    /// The instants whose distance is told in words.
    fileprivate var shownInstants: [Int64] {
        [expiresAtUSec, nextAttemptAtUSec, refreshTokenExpiresAtUSec, sinceUSec].compactMap(\.self)
    }
}
