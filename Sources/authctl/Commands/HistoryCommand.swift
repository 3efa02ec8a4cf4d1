internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import Glibc
internal import TextEncodings

/// `authctl history`.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what happened to an account: refreshes, outages, sign-ins.",
        discussion: """
            Examples:

              \(InvokedAs.here) history work
              \(InvokedAs.here) history work --hours 168
              \(InvokedAs.here) history work --json

            Prints one character for each of the last hours, then the events, the newest at the end. Repeated \
            events share one line. The source is your journal (journalctl --user -u authrefreshd), which drops old \
            entries when its space is used up. An hour without journal entries is blank. Where journald does not \
            run, the history is empty, and a note says why.

            Each hour shows its worst state: a refresh that failed and succeeded a minute later makes the hour \
            'retrying'.

            Exit status: 4 no such account, 69 if the journal cannot be read.
            """
    )

    @Argument(
        help: "The account. On a terminal it can be left out if there is only one.",
        completion: DaemonCompletion.accounts
    )
    var account: String?

    @Option(help: .value("number", "How many hours to look back, 1 to 720."))
    var hours = 48

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard (1...720).contains(hours) else { throw ValidationError("'--hours' must be from 1 to 720") }
    }

    func run() throws(Report) {
        let name = try connection.account(named: account)
        guard ErrorReply.isPossibleName(name) else {
            throw ErrorReply(NoSuchAccountError(account: name)).report
        }
        let now = LocalTime.now.nowUSec
        let since = now - Int64(hours) * AccountHistory.hour
        let lines = try JournalLine.read(of: name, sinceUSec: since)
        // The journal also has accounts that were removed. If it does not have this one, ask the daemon.
        if lines.isEmpty {
            var daemon = try connection.connect()
            _ = try daemon.allStatuses(accounts: [name])
            for note in Self.notes(onNothingAbout: name, hours: hours) { StandardError.note(note) }
        }
        let history = AccountHistory(lines: lines, nowUSec: now, hourCount: hours)
        let answer: Answer = ["account": name, "hours": Self.hours(of: history), "events": Self.events(of: history)]
        try output.print(answer, or: history.text(of: name, .standardOutput))
    }

    private static func hours(of history: AccountHistory) -> [Answer] {
        history.hours.enumerated().map { number, state in
            ["fromUSec": history.startUSec + Int64(number) * AccountHistory.hour, "state": state.rawValue]
        }
    }

    private static func events(of history: AccountHistory) -> [Answer] {
        history.lines.map { line in
            [
                "atUSec": line.atUSec, "event": line.event, "cause": AccountHistory.cause(of: line),
                "correlationId": line.correlationID, "expiresAtUSec": line.expiresAtUSec,
            ]
        }
    }

    /// The notes if the journal has nothing about an account that exists.
    ///
    /// - Parameter journald: the socket at which journald takes messages, where it runs.
    static func notes(
        onNothingAbout account: String,
        hours: Int,
        journald: String = "/run/systemd/journal/socket"
    ) -> [Hint] {
        let empty: Hint =
            "your journal has no entry about '\(account)' for the last \(hours == 1 ? "hour" : "\(hours) hours");"
            + " for its state: \(Command("status", account))"
        guard unsafe access(journald, F_OK) != 0 else { return [empty] }
        return [empty, "journald does not run on this machine; the daemon writes to its standard error instead"]
    }
}
