internal import ArgumentParser
internal import AuthRefreshInterface
internal import Glibc
internal import Terminal
internal import TextEncodings

/// `authctl history`.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show how an account has fared: refreshes, outages, sign-ins.",
        discussion: """
            Prints one character for each of the last hours, then the events, the newest at the end. Repeated events \
            share one line. The source is your journal (journalctl --user -u authrefreshd), which drops old entries \
            when its space is used up. An hour without journal entries is blank.

            An hour shows the worst that it has seen: a refresh that failed and succeeded a minute later makes it 'retrying'.

            Exit status: 4 no such account, 69 if the journal cannot be read.

            Examples:

              authctl history work
              authctl history work --hours 168
              authctl history work --json
            """
    )

    @Argument(help: "The account; the only one need not be named on a terminal.", completion: DaemonCompletion.accounts)
    var account: String?

    @Option(help: ArgumentHelp("How many hours to look back, 1 to 720.", valueName: "number"))
    var hours = 48

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard (1...720).contains(hours) else { throw ValidationError(.hoursOutOfRange) }
    }

    func run() throws(AuthctlError) {
        let name = try OnlyAccount.resolve(account, connection)
        guard Refusal.isPossibleName(name) else {
            let parameters = WireText.encode(NoSuchAccountError(account: name))
            throw .refused(Refusal(name: NoSuchAccountError.name, parameters: parameters))
        }
        let now = LocalTime.now.nowUSec
        let since = now - Int64(hours) * AccountHistory.hour
        let journal = try AccountJournal.read(of: name, sinceUSec: since)
        // The journal knows accounts that are gone. Of one that it does not know, the daemon may.
        if journal.lines.isEmpty {
            var daemon = try connection.connect()
            _ = try daemon.allStatuses(accounts: [name])
            for note in Self.notes(onNothingAbout: name, hours: hours) { StandardError.note(note) }
        }
        let history = AccountHistory(lines: journal.lines, nowUSec: now, hourCount: hours)
        try output.print(
            HistoryAnswer(account: name, history),
            or: HistoryView(account: name, history: history).render(.standardOutput)
        )
    }

    /// What is said if the journal has nothing about an account that exists.
    ///
    /// - Parameter journald: the socket at which journald takes messages, where it runs.
    static func notes(
        onNothingAbout account: String,
        hours: Int,
        journald: String = "/run/systemd/journal/socket"
    ) -> [String] {
        let time = hours == 1 ? "the last hour" : "the last \(hours) hours"
        let empty =
            "your journal has no entry about '\(account)' for \(time); 'authctl status \(account)' says where it stands"
        guard unsafe access(journald, F_OK) != 0 else { return [empty] }
        return [empty, "journald does not run on this machine: the daemon writes to its standard error instead"]
    }
}

/// What `authctl history` prints with `--json`.
struct HistoryAnswer: Encodable {
    struct Hour: Encodable {
        let fromUSec: Int64
        let state: String
    }

    struct Event: Encodable {
        let atUSec: Int64
        let event: String
        let cause: String?
        let correlationId: String?
        let expiresAtUSec: Int64?
    }

    let account: String
    let hours: [Hour]
    let events: [Event]

    init(account: String, _ history: AccountHistory) {
        self.account = account
        let start = history.startUSec
        hours = history.hours.enumerated().map {
            Hour(fromUSec: start + Int64($0.offset) * AccountHistory.hour, state: $0.element.rawValue)
        }
        events = history.lines.map {
            Event(
                atUSec: $0.atUSec,
                event: $0.event,
                cause: AccountHistory.cause(of: $0),
                correlationId: $0.correlationID,
                expiresAtUSec: $0.expiresAtUSec
            )
        }
    }
}
