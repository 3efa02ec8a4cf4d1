internal import AuthRefreshInterface
internal import DemoIssuer
internal import NIOCore
internal import NIOSSL
internal import Synchronization
internal import TestSupport

/// A real daemon with clocks of its own, a few accounts, and a server that knows the true time.
final class TimeTrial: Sendable {
    /// The lifetime of access tokens, which are refreshed after half of it.
    static let lifetime = Duration.seconds(12)
    private static let accounts = 30
    /// The daemon's limit of requests a second to the server.
    private static let rate = 10
    /// The duration of the requests after a step at that rate, with a reserve for a busy machine.
    private static let wave = Duration.seconds(accounts / rate + 4)

    let scenario: TimeScenario
    let clock: ShiftedClock
    private let stage: DaemonStage
    private let issuer: DemoIssuer
    private let url: String
    private let daemon: Mutex<DaemonProcess>
    /// When the server's certificates were accepted again, in µs since 1970; nil if they were always accepted.
    private let refusalEnded = Mutex<Int64?>(nil)

    private init(_ scenario: TimeScenario, _ authority: TestAuthority, port: Int) async throws {
        self.scenario = scenario
        stage = try DaemonStage()
        clock = ShiftedClock(in: stage.folder)
        var configuration = IssuerConfiguration(
            clients: [DemoClient(id: "app")],
            policy: GrantPolicy(accessTokenLifetime: Self.lifetime),
            port: port
        )
        if scenario.isSecure {
            let context = try authority.server(for: "DNS:localhost")
            configuration.issuer = "https://localhost:\(port)"
            configuration.prepareConnection = { channel in
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
            }
        }
        issuer = DemoIssuer(configuration: configuration)
        url = try await issuer.start()
        try stage.configure(
            """
            ca_file: \(authority.caFile)
            max_refreshes_per_second: \(Self.rate)
            """
        )
        let environment = scenario.environment.merging(clock.environment(scenario.start)) { $1 }
        daemon = Mutex(try await stage.start(environment: environment))
    }

    /// Makes the event happen, observes for `seconds`, and returns what was not as expected.
    static func result(
        of scenario: TimeScenario,
        _ authority: TestAuthority,
        port: Int,
        seconds: Int
    ) async throws -> (surprises: [String], row: [String]) {
        let trial = try await TimeTrial(scenario, authority, port: port)
        let result = try await trial.run(for: .seconds(seconds))
        try await trial.process.terminate()
        await trial.issuer.shutdown()
        return result
    }

    private var process: DaemonProcess { daemon.withLock { $0 } }

    // MARK: The events of scenarios

    func freeze(for time: Duration) async throws {
        try await process.freeze()
        try await Task.sleep(for: time)
        process.thaw()
    }

    /// Ends the daemon and starts another one after a simulated boot, with the clocks as in `shift`.
    func reboot(to shift: ShiftedClock.Shift) async throws {
        try await process.terminate()
        let bootID = try stage.folder.write("0badcafe-0000-4000-8000-000000000001\n", to: "boot_id")
        let next = try await stage.start(environment: clock.environment(shift, bootID: bootID))
        daemon.withLock { $0 = next }
    }

    /// Waits until each account has refused the server's certificate because of the clock, and its token has expired.
    func refusedCertificate() async throws {
        let end = ContinuousClock.now + Self.lifetime * 2
        while ContinuousClock.now < end {
            if try await stage.statuses().allSatisfy({ $0.state == "misconfigured" }) { break }
            // The states are read, because no event reports the last of them.
            try await Task.sleep(for: .milliseconds(200))
        }
        try await Task.sleep(for: Self.lifetime)
        refusalEnded.withLock { $0 = Duration.nowUSec }
    }

    // MARK: The trial

    private func run(for time: Duration) async throws -> (surprises: [String], row: [String]) {
        let grants = try await issuer.issueGrants(count: Self.accounts, clientID: "app")
        for (number, grant) in grants.enumerated() {
            try await stage.add(Fleet.name(number), issuer: url, grant: grant)
        }
        let all = FleetFeed(stage)
        try await all.allFresh(within: .seconds(60))
        let began = Duration.nowUSec
        try await scenario.act(self)
        let acted = Duration.nowUSec
        var surprises = try await askForTokens()
        try await Task.sleep(for: time)
        let ended = Duration.nowUSec
        let requests = await issuer.entries().filter { $0.outcome == .rotated }
        let record = ServerRecord(
            families: grants.map(\.family),
            requests: requests.map { ($0.family ?? 0, $0.timeUSec) },
            began: began,
            ableSince: refusalEnded.withLock { $0 } ?? began,
            acted: acted,
            ended: ended
        )
        surprises += record.surprises(scenario.expectation, lifetime: Self.lifetime, wave: Self.wave, rate: Self.rate)
        surprises += try await stateSurprises()
        return (Array(surprises.prefix(5)), [scenario.name] + record.cells)
    }

    /// Asks for some tokens as programs do, just after the event. If the tokens have expired, asks until the requests
    /// after the step are over.
    private func askForTokens() async throws -> [String] {
        var surprises: [String] = []
        for number in stride(from: 0, to: Self.accounts, by: Self.accounts / 3) {
            let name = Fleet.name(number)
            let patience = ContinuousClock.now + (scenario.expectation.isEndGood ? Self.wave : .zero)
            var outcome = try await stage.authctl("token", name)
            while outcome.end == .exited(78), ContinuousClock.now < patience {
                try await Task.sleep(for: .milliseconds(100))
                outcome = try await stage.authctl("token", name)
            }
            if outcome.end != .exited(0) { surprises.append("authctl token \(name): \(outcome.errors)") }
        }
        return surprises
    }

    private func stateSurprises() async throws -> [String] {
        var surprises: [String] = []
        for status in try await stage.statuses() where status.state != "fresh" && status.state != "refreshing" {
            surprises.append("\(status.account) is \(status.state)")
        }
        let counters = await issuer.counters
        if counters.spentTokenUses + counters.overlaps > 0 { surprises.append("\(counters)") }
        let isTold = process.log.all.contains { $0.contains("the wall clock was stepped") }
        if isTold != scenario.isStepTold {
            surprises.append(isTold ? "the journal tells of a step" : "the journal tells of no step")
        }
        return surprises
    }
}
