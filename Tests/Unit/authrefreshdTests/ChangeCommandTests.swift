import AccountStorage
import AuthRefreshInterface
import Basics
@testable import RefreshCore
import Systemd
import Testing

@testable import authrefreshd

/// The command that is run after changes: its environment, and how many run at once.
struct ChangeCommandTests {
    private let command = ChangeCommand(words: ["/bin/tell", "$HOME"], timeLimit: .seconds(10))

    private func at(_ seconds: Int64) -> Moment {
        Moment(
            wall: Timestamp(microseconds: 1_000_000_000_000 + seconds * 1_000_000),
            boot: BootTime(bootID: 1, microseconds: seconds * 1_000_000)
        )
    }

    private func change(_ news: AccountNews = .accountAdded, from before: String? = nil, _ number: Int64 = 7) throws
        -> [String: String]
    {
        let account = Account(
            id: AccountID(number),
            name: try #require(AccountName("work")),
            issuer: try Issuer(url: "https://login.example.com"),
            registration: ClientRegistration(clientID: "app")
        )
        let snapshot = AccountSnapshot(account: account, state: RefreshState(), at: at(0))
        return ChangeCommand.environment(of: news, snapshot, previousName: before)
    }

    @Test func `the command gets the change only by its environment, without a token`() throws {
        let unit = command.unit(for: try change(.accountRenamed, from: "old"), of: AccountID(7))
        #expect(unit.name == "authrefresh-on-change-7.service")
        #expect(unit.command == ["/bin/tell", "$HOME"] && unit.timeLimitUSec == 10_000_000)
        #expect(
            unit.environment == [
                "AUTHREFRESH_ACCOUNT": "work", "AUTHREFRESH_EVENT": "account-renamed",
                "AUTHREFRESH_STATE": "signed-out",
                "AUTHREFRESH_ISSUER": "https://login.example.com", "AUTHREFRESH_PREVIOUS_NAME": "old",
            ]
        )
        #expect(try change(.accountRemoved)["AUTHREFRESH_STATE"] == "removed")
        #expect(ChangeCommand.account(of: unit.name) == AccountID(7))
        #expect(ChangeCommand.account(of: "authrefreshd.service") == nil)
    }

    @Test func `the start of a refresh is reported only if configured`() {
        #expect(!command.isWanted(.refreshStarted) && command.isWanted(.tokenRefreshed))
        var chosen = command
        chosen.events = [.refreshStarted]
        #expect(chosen.isWanted(.refreshStarted) && !chosen.isWanted(.tokenRefreshed))
    }

    @Test func `one command per account runs at a time, and then one for the newest change`() throws {
        var commands = ChangeCommands()
        let account = AccountID(7)
        let isTaken = commands.add(try change(.accountAdded), of: account)
        #expect(isTaken)
        let first = commands.next(command, at: at(0))
        #expect(first.map { $0.environment["AUTHREFRESH_EVENT"] } == ["account-added"])
        _ = commands.add(try change(.accountUpdated), of: account)
        _ = commands.add(try change(.accountRemoved), of: account)
        let early = commands.next(command, at: at(1))
        #expect(early.isEmpty)
        commands.ended(account)
        let second = commands.next(command, at: at(2))
        #expect(second.map { $0.environment["AUTHREFRESH_EVENT"] } == ["account-removed"])
        commands.ended(account)
        let none = commands.next(command, at: at(3))
        #expect(none.isEmpty)
    }

    @Test func `a change that finds another daemon's command running waits for its end`() throws {
        var commands = ChangeCommands()
        let account = AccountID(7)
        _ = commands.add(try change(), of: account)
        let tried = commands.next(command, at: at(0))
        #expect(tried.count == 1)
        commands.existed(account)
        let early = commands.next(command, at: at(1))
        #expect(early.isEmpty)
        commands.ended(account)
        let again = commands.next(command, at: at(2))
        #expect(again.count == 1)
    }

    @Test func `an unreported end is awaited no longer than the time limit`() throws {
        var commands = ChangeCommands()
        _ = commands.add(try change(), of: AccountID(7))
        _ = commands.next(command, at: at(0))
        #expect(commands.remaining(at: at(0)) == nil)
        _ = commands.add(try change(), of: AccountID(7))
        #expect(commands.remaining(at: at(1)) == .seconds(39))
        let early = commands.next(command, at: at(39))
        #expect(early.isEmpty)
        let late = commands.next(command, at: at(40))
        #expect(late.count == 1)
    }

    @Test func `the newest change of each account waits for changeCommandsMax`() throws {
        var commands = ChangeCommands()
        for number in 1...Int64(CallerLimits.changesWaitingMax) {
            let isTaken = commands.add(try change(), of: AccountID(number))
            #expect(isTaken)
        }
        let isOneMoreTaken = commands.add(try change(), of: AccountID(.max))
        #expect(isOneMoreTaken == false)
        let isNewerTaken = commands.add(try change(.accountRemoved), of: AccountID(1))
        #expect(isNewerTaken)
        let first = commands.next(command, at: at(0))
        #expect(first.count == CallerLimits.changeCommandsMax)
        #expect(first.first?.environment["AUTHREFRESH_EVENT"] == "account-removed")
        commands.ended(AccountID(2))
        let fifth = commands.next(command, at: at(1))
        #expect(fifth.map(\.name) == ["authrefresh-on-change-5.service"])
    }

    @Test func `a failure to run commands is reported once, until one has run`() {
        var commands = ChangeCommands()
        let told = [commands.noteFailure(), commands.noteFailure()]
        commands.noteSuccess()
        #expect(told == [true, false])
        let again = commands.noteFailure()
        #expect(again)
    }

    /// The interface's description lists them, with "present" and "ready", which only a subscriber is told.
    @Test func `a command can be had for each event of the interface`() throws {
        let start = try #require(Interface.text.firstRange(of: "# present, ready, "))
        let end = try #require(Interface.text[start.upperBound...].firstRange(of: ".\n  event: string"))
        let listed = Interface.text[start.upperBound..<end.lowerBound].split { ", #\n".contains($0) }.map(String.init)
        #expect(Set(listed) == Set(AccountNews.allCases.map(\.rawValue)))
        for news in AccountNews.allCases {
            let read = try configuration("on_change: [/bin/tell]\non_change_events: [\(news.rawValue)]\n")
            #expect(read.changeCommand?.events == [news])
        }
    }

    private func configuration(_ text: String) throws -> DaemonConfiguration {
        try ConfigurationFile.decode(DaemonConfiguration.self, from: text, path: "/c.yaml")
    }

    @Test func `the command is a list that begins with an absolute path, and its options need it`() throws {
        let read = try configuration(
            "on_change: [/bin/tell, a b]\non_change_events: [signed-out]\non_change_time_limit: 5m\n"
        )
        let expected = ChangeCommand(words: ["/bin/tell", "a b"], events: [.signedOut], timeLimit: .seconds(300))
        #expect(read.changeCommand == expected)
        for (text, complaint) in [
            ("on_change: [tell]", "absolute path"), ("on_change: []", "absolute path"),
            ("on_change: /bin/tell", "on_change"), ("on_change_events: [signed-out]", "is missing"),
            ("on_change: [/bin/tell]\non_change_events: [signed]", "'signed' is not an event"),
            ("on_change: [/bin/tell]\non_change_time_limit: 11m", "1s to 10m"),
        ] {
            let error = #expect(throws: ProgramError.self) { try configuration(text) }
            #expect(error?.description.contains(complaint) == true, "\(text): \(String(describing: error))")
        }
    }

    /// `commandBytesMax`, `commandTimeMax`.
    @Test func `the command of on_change has commandBytesMax bytes, and commandTimeMax to run, and no more`() throws {
        let program = "/bin/tell"
        let longest = String(repeating: "a", count: ChangeCommand.commandBytesMax - program.utf8.count)
        let read = try configuration("on_change: [\(program), \(longest)]\non_change_time_limit: 600s\n")
        #expect(read.changeCommand?.words == [program, longest])
        #expect(read.changeCommand?.timeLimit == ChangeCommand.commandTimeMax)
        for (text, complaint) in [
            ("on_change: [\(program), \(longest)a]", "has more than 16384 bytes"),
            ("on_change: [\(program)]\non_change_time_limit: 601s", "1s to 10m"),
        ] {
            let error = #expect(throws: ProgramError.self) { try configuration(text) }
            #expect(error?.description.contains(complaint) == true, "\(String(describing: error))")
        }
    }
}
