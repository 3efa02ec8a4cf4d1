internal import ArgumentParser
internal import DemoIssuer
internal import Foundation
internal import Glibc
internal import Systemd
internal import TestSupport

/// `authtorture load`.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Runs one real daemon with many accounts, many subscribers and many callers.",
        discussion: "It needs a network namespace with nothing but loopback: Tests/torture makes one."
    )

    @Option(help: "How many accounts are kept fresh.")
    var accounts = 200

    @Option(help: "How often every account is refreshed, at least 2.")
    var rounds = 2

    @Option(help: "How many follow ten accounts each, all the time.")
    var subscribers = 100

    @Option(help: "How many connections are tried at once, with all that is there already.")
    var connections = 1_000

    @Option(help: "How many callers find the same token ended.")
    var callers = 200

    private static let samplers = 4
    private static let followed = 10

    func run() async throws {
        Torture.ignoreBrokenPipes()
        OwnProcess.raiseDescriptorLimit(to: 2 * (connections + subscribers + callers) + 1_024)
        let checks = Checks()
        var rows: [[String]] = []
        try await runFleet(checks, &rows)
        let outcome = try await ExpiredTokenTrial.run(callers: callers)
        rows.append(["\(callers) callers on one expired token: requests", "\(outcome.requests)"])
        var surprises = outcome.errors.sorted()
        if outcome.requests != 1 || outcome.tokens.count != 1 {
            surprises.append("\(outcome.requests) requests, \(outcome.tokens.count) tokens")
        }
        checks.add("\(callers) callers on one expired token are answered by one request", surprises: surprises)
        Torture.say("\n" + MarkdownTable.render(["what", "measured"], rows))
        if !checks.haveAllPassed { throw ExitCode(1) }
    }

    private func runFleet(_ checks: Checks, _ rows: inout [[String]]) async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        let server = try await FleetServer(policy: GrantPolicy(), now: stage.now)
        // Half of all connections may be subscribers, and half of those may belong to this process.
        let places = max(512, 4 * subscribers + 256)
        try stage.configure(
            """
            ca_file: \(server.caFile)
            max_concurrent_refreshes: 64
            max_refreshes_per_second: 100000
            max_connections: \(places)
            """
        )
        let log = stage.folder.path + "/log"
        let daemon = try stage.spawn(logFile: log)
        try await daemon.ready()
        let fleet = try await Fleet(of: accounts, at: server, on: stage)
        let all = FleetFeed(stage)
        try await all.allFresh(within: .seconds(600))
        let some = await follow(fleet)
        let trial = FleetTrial(
            stage: stage,
            daemon: daemon,
            fleet: fleet,
            all: all,
            some: some,
            samplers: Self.samplers,
            rounds: max(2, rounds)
        )
        rows += try await trial.run(checks, floodOf: connections, places: places / 2)
        let counters = await server.issuer.counters
        checks.add(
            "no refresh token was sent twice, and none while another was under way",
            surprises: counters.spentTokenUses + counters.overlaps == 0 ? [] : ["\(counters)"]
        )
        try await daemon.terminate()
        await server.shutdown()
    }

    /// Starts the subscribers. Each follows the accounts after those of the one before.
    private func follow(_ fleet: Fleet) async -> [FleetFeed] {
        let count = min(Self.followed, fleet.names.count)
        let feeds = (0..<subscribers).map { number in
            let first = number * count % fleet.names.count
            let names = (first..<first + count).map { fleet.names[$0 % fleet.names.count] }
            return FleetFeed(fleet.stage, accounts: names)
        }
        for feed in feeds { await feed.ready() }
        return feeds
    }
}
