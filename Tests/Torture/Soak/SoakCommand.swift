internal import ArgumentParser
internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import Glibc
internal import TestSupport

/// `authtorture soak`.
struct SoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Runs a real daemon through months of virtual time. Its memory and files must not grow.",
        discussion: """
            Its clocks are moved from one deadline to the next. Each night the machine sleeps; there are outages, wrong clocks, grants that end, \
            accounts that come and go, reloads.
            """
    )

    @Option(help: "Days of virtual time.")
    var days = 6

    @Option(help: "How many accounts are kept fresh, with tokens of an hour.")
    var accounts = 4

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let checks = Checks()
        let daemon = try await VirtualDaemon(tokenLifetime: .seconds(3_600))
        let life = SoakLife(daemon: daemon, accounts: accounts)
        try await life.begin()
        var samples: [SoakSample] = []
        for day in 0..<days {
            let outage = day % 3 == 2
            try await life.day(day, hasOutage: outage)
            samples.append(try SoakSample(of: daemon, hasOutage: outage))
            if day % 30 == 29 { Torture.say("day \(day + 1): \(samples[day].text)") }
        }
        let counters = await daemon.issuer.counters
        let record = SoakRecord(samples: samples, accounts: accounts)
        record.judge(checks)
        checks.add(
            "no refresh token was sent twice",
            surprises: counters.spentTokenUses + counters.overlaps == 0 ? [] : ["\(counters)"]
        )
        try await daemon.stop()
        let rows = [["virtual days", "\(days)"], ["refreshes", "\(counters.refreshes)"]] + record.rows
        Torture.say("\n" + MarkdownTable.render(["what", "measured"], rows))
        if !checks.haveAllPassed { throw ExitCode(1) }
    }
}

/// The events in the life of a daemon, the same each day.
struct SoakLife {
    let daemon: VirtualDaemon
    let accounts: Int

    func begin() async throws {
        for number in 0..<accounts { try await add(Fleet.name(number)) }
    }

    /// A night, and a day with some events.
    func day(_ day: Int, hasOutage: Bool) async throws {
        try await daemon.sleep(for: .seconds(8 * 3_600))
        try await daemon.pass(.seconds(6 * 3_600))
        if hasOutage {
            try await daemon.issuer.script(.answer(.unavailable()), times: nil)
            try await daemon.pass(.seconds(3 * 3_600))
            await daemon.issuer.clearFaults()
        } else {
            try await daemon.pass(.seconds(3 * 3_600))
        }
        try await happen(on: day)
        try await daemon.pass(.seconds(7 * 3_600))
    }

    private func happen(on day: Int) async throws {
        let name = Fleet.name(day % accounts)
        switch day % 6 {
        case 0: daemon.daemon.signal(SIGHUP)
        case 1: try await daemon.setClock(wrongBy: .seconds(day % 4 < 2 ? 300 : -300))
        case 2: try await daemon.setClock(wrongBy: .zero)
        case 3:
            let grant = try await daemon.issuer.issueGrant(clientID: "app")
            try await daemon.stage.importGrant(grant, into: name)
        case 4:
            let removal = RemoveAccount.Parameters(account: name)
            _ = try await daemon.stage.ask(.removeAccount, removal, for: RemoveAccount.Reply.self)
            try await add(name)
        default:
            let subscriber = try RawConnection(daemon.stage.socket)
            try subscriber.send(#"{"method":"io.authrefresh.Subscribe","more":true}"# + "\0")
            _ = try await daemon.stage.authctl("token", name)
            withExtendedLifetime(subscriber) {}
        }
    }

    private func add(_ name: String) async throws {
        try await daemon.stage.add(name, issuer: daemon.url, grant: daemon.issuer.issueGrant(clientID: "app"))
    }
}
