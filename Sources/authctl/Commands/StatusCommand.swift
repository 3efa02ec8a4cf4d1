internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl status`.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of accounts, and what you have to do.",
        discussion: """
            Examples:

              \(InvokedAs.here) status
              \(InvokedAs.here) status work || \(InvokedAs.here) account show work
              \(InvokedAs.here) status --watch
              \(InvokedAs.here) status --json

            States: fresh, refreshing, retrying, interaction-required, refresh-token-expiring, signed-out, \
            misconfigured.

            --watch keeps the table on the screen and up to date, until 'q' or Ctrl-C. With --json it needs no \
            terminal, and prints the whole answer as one line, at first and after each change.

            Exit status: without names, 0 once the accounts are shown, whatever their state. With names, that of \
            the worst: 3 interaction-required, 78 misconfigured, 5 signed-out, 75 retrying without a valid token, \
            otherwise 0. With --watch: 0 after 'q', 130 after Ctrl-C, 69 if the daemon stops and does not come back \
            within 10 s.
            """
    )

    @Argument(help: "The accounts to show. Default: all.", completion: DaemonCompletion.accounts)
    var accounts: [String] = []

    @Flag(help: "Keep the table on the screen, and up to date.")
    var watch = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        switch (watch, output.json) {
        case (false, _): try showOnce()
        case (true, false): try LiveStatus(names: accounts, connection: connection).run()
        case (true, true): try printChanges()
        }
    }

    private func showOnce() throws(Report) {
        var daemon = try connection.connect()
        let statuses = try daemon.allStatuses(accounts: accounts)
        let time = LocalTime.now
        var view = StatusView(accounts: statuses, time: time).render(.standardOutput)
        if !accounts.isEmpty { view += statuses.compactMap { Self.tokenFile(of: $0, time) }.joined() }
        if accounts.isEmpty || output.json {
            let info = try daemon.ask(GetInfo.Parameters())
            let answer: Answer = ["accounts": statuses, "daemon": info]
            try output.print(answer, or: view + StatusView.condition(of: info))
        } else {
            try StandardOutput.show(view)
        }
        if statuses.isEmpty { StandardError.note(StatusView.firstAccount) }
        if statuses.contains(where: \.isWithoutAnswer), let proxy = UnusedProxy.found(&daemon) {
            for hint in proxy.hints { StandardError.note(hint) }
        }
        guard !accounts.isEmpty else { return }
        let worst = statuses.reduce(ExitStatus.success) { .worst($0, $1.exitStatus(at: time.nowUSec)) }
        guard worst == .success else { throw .reported(worst) }
    }

    /// Where the account's token file is and when it was written, as a line with a newline; nil if it has none.
    private static func tokenFile(of status: AccountStatus, _ time: LocalTime) -> String? {
        guard let file = status.tokenFile else { return nil }
        let written = file.writtenAtUSec.map { "written \(time.both($0))" } ?? "not there now"
        return PlainText.line("\(status.account): token file \(file.path), \(written)") + "\n"
    }

    private func printChanges() throws(Report) {
        var feed = try StatusFeed.open(names: accounts, connection: connection)
        while true {
            guard let info = feed.info else { throw .unreadableReply }
            try output.printLine(["accounts": feed.accounts, "daemon": info] as Answer, or: "")
            try feed.waitForChange()
        }
    }
}

/// `authctl watch`.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow accounts: their present state, then every change as it happens.",
        discussion: """
            Examples:

              \(InvokedAs.here) watch
              \(InvokedAs.here) watch work --json | jq --unbuffered -r .event

            Prints a line for each change: local time, account, event, state. --json prints a reply of 'Subscribe' \
            on each line, as '\(InvokedAs.here) interface' describes it; "ready" ends the present state. '\(InvokedAs.here) status \
            --watch' shows a table instead.

            It runs until you interrupt it with Ctrl-C; the shell then shows exit status 130.

            If the daemon restarts, it continues, and begins with the present state again.

            Exit status: 69 if the daemon stops and does not come back within 10 s, 75 if this program was too slow \
            to keep up.
            """
    )

    @Argument(help: "The accounts to follow. Default: all.", completion: DaemonCompletion.accounts)
    var accounts: [String] = []

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var changes = try FollowedChanges.open(names: accounts, connection: connection)
        var isComplete = false
        var wasRestarted = false
        while true {
            switch try changes.take() {
            case .change(let change):
                if wasRestarted { StandardError.note("the daemon was restarted; the present state follows") }
                wasRestarted = false
                isComplete = isComplete || change.isReady
                try output.printLine(change, or: change.text(.standardOutput))
            case .nothing: changes.wait()
            case .daemonEnded:
                wasRestarted = wasRestarted || isComplete
                isComplete = false
            }
        }
    }
}
