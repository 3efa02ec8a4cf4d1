internal import AuthRefreshInterface
internal import DemoIssuer
internal import NIOCore
internal import NIOSSL
internal import RefreshCore
internal import Synchronization
internal import TestSupport

/// A real daemon with clocks of its own, a few accounts, and a server that knows the true time.
///
/// The true time passes for both when the trial says so, and else as slowly as the machine's. So a refresh that comes
/// without it came because of the event at the clocks, and one that needs it did not.
final class TimeTrial: Sendable {
    /// The lifetime of access tokens. They are refreshed after 354 to 432 s.
    static let lifetime = Duration.seconds(590)
    /// A time after the last refresh in which none is due, with a reserve of 100 s for a busy machine.
    private static let quietTime = Duration.seconds(250)
    /// The time after that until all are due. It leaves a reserve of 140 s until the tokens expire.
    private static let restOfTime = Duration.seconds(200)
    private static let accounts = 30
    /// The daemon's limit of requests a second to the server.
    private static let rate = 10

    /// The true time, and the clocks' difference from it.
    private final class TrueTime: Sendable {
        /// The time in addition to the machine's.
        private let passed = Mutex(Duration.zero)
        private let shift: Mutex<ShiftedClock.Shift>

        init(_ shift: ShiftedClock.Shift) {
            self.shift = Mutex(shift)
        }

        /// The time since 1970.
        var now: Duration { .microseconds(Duration.nowUSec) + passed.withLock(\.self) }

        var clocks: ShiftedClock.Shift { shift.withLock(\.self) + passed.withLock(\.self) }

        func pass(_ time: Duration) {
            passed.withLock { $0 += time }
        }

        func move(to shift: ShiftedClock.Shift) {
            self.shift.withLock { $0 = shift }
        }
    }

    let scenario: TimeScenario
    private let clock: ShiftedClock
    private let time: TrueTime
    private let stage: DaemonStage
    private let issuer: DemoIssuer
    private let url: String
    private let daemon: Mutex<DaemonProcess>
    /// The server's last request before its certificates were accepted again; nil if they were always accepted.
    private let refusalEnded = Mutex<Int?>(nil)

    private init(_ scenario: TimeScenario, _ authority: TestAuthority, port: Int) async throws {
        self.scenario = scenario
        stage = try DaemonStage()
        clock = ShiftedClock(in: stage.folder)
        let time = TrueTime(scenario.start)
        self.time = time
        var configuration = IssuerConfiguration(
            clients: [DemoClient(id: "app")],
            policy: GrantPolicy(accessTokenLifetime: Self.lifetime),
            port: port,
            now: { time.now }
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

    /// Makes the event happen, and returns what was not as expected.
    ///
    /// - Parameter rounds: for how many usual refreshes of each account it looks afterwards.
    static func result(
        of scenario: TimeScenario,
        _ authority: TestAuthority,
        port: Int,
        rounds: Int
    ) async throws -> (surprises: [String], row: [String]) {
        let trial = try await TimeTrial(scenario, authority, port: port)
        let result = try await trial.run(rounds: rounds)
        try await trial.process.terminate()
        await trial.issuer.shutdown()
        return result
    }

    private var process: DaemonProcess { daemon.withLock { $0 } }

    // MARK: The events of scenarios

    /// Makes the clocks differ from the true time by `shift`.
    func move(to shift: ShiftedClock.Shift) async throws {
        time.move(to: shift)
        try await clock.move(to: time.clocks)
    }

    /// Lets true time pass.
    func pass(_ passed: Duration) async throws {
        time.pass(passed)
        try await clock.move(to: time.clocks)
    }

    /// Ends the daemon and starts another one after a simulated boot, with the clocks as in `shift`.
    func reboot(to shift: ShiftedClock.Shift) async throws {
        try await process.terminate()
        let bootID = try stage.folder.write("0badcafe-0000-4000-8000-000000000001\n", to: "boot_id")
        time.move(to: shift)
        let next = try await stage.start(environment: clock.environment(time.clocks, bootID: bootID))
        daemon.withLock { $0 = next }
    }

    /// Waits until the daemon has noticed a step of its wall clock.
    func noticedStep() async throws {
        try await process.says("the wall clock was stepped")
    }

    /// Waits until accounts have refused the server's certificate because of the clock, and all tokens have expired.
    func refusedCertificate() async throws {
        try await states("neither being refreshed nor due") { statuses in
            // Some are due within seconds, so that not all machines that wake ask at once.
            statuses.allSatisfy { $0.state != "refreshing" && ($0.state != "fresh" || isDue($0, after: .seconds(60))) }
        }
        try await pass(Self.lifetime)
        // The daemon's limit lets it ask for some of them only after seconds. One that is due now, or under way, would be
        // refused by the clock of before, and then wait.
        for _ in 0..<2 {
            try await states("refused, without a token") {
                $0.allSatisfy { ["misconfigured", "retrying"].contains($0.state) && isDue($0, after: .seconds(15)) }
            }
        }
        let last = await issuer.lastSequence
        refusalEnded.withLock { $0 = last }
    }

    /// Whether the account's next attempt is due only after `pause`, by the daemon's clock.
    private func isDue(_ status: AccountStatus, after pause: Duration) -> Bool {
        status.nextAttemptAtUSec ?? .max > Duration.nowUSec + (time.clocks.wall + pause).microseconds
    }

    /// Waits until the accounts' states are as wanted. No event reports the last of them, so they are read again and
    /// again.
    private func states(_ what: String, _ areSo: ([AccountStatus]) -> Bool) async throws {
        let end = ContinuousClock.now + .patience
        while true {
            let statuses = try await stage.statuses()
            if areSo(statuses) { return }
            guard ContinuousClock.now < end else {
                throw TestFault.timedOut(waitingFor: "accounts to be \(what): they are \(Set(statuses.map(\.state)))")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func allFresh() async throws {
        try await states("fresh") { $0.allSatisfy { $0.state == "fresh" } }
    }

    // MARK: The trial

    private func run(rounds: Int) async throws -> (surprises: [String], row: [String]) {
        let grants = try await issuer.issueGrants(count: Self.accounts, clientID: "app")
        for (number, grant) in grants.enumerated() {
            try await stage.add(Fleet.name(number), issuer: url, grant: grant)
        }
        let all = FleetFeed(stage)
        try await all.allFresh(within: .patience)
        let record = ServerRecord(issuer: issuer, families: grants.map(\.family), rate: Self.rate)
        let before = await issuer.lastSequence
        try await scenario.act(self)
        let acted = time.now
        var surprises = try await askForTokens()
        if scenario.expectation.isHurried {
            // No true time passes, so only the event makes refreshes due.
            let since = refusalEnded.withLock { $0 } ?? before
            surprises += try await record.surprises(after: since, refreshes: 1...2)
            surprises += await record.stampede(after: since, from: acted)
            // An attempt that failed just before may have left another one that is due soon.
            try await allFresh()
            try await pass(.seconds(10))
            try await allFresh()
            surprises += try await record.surprises(after: since, refreshes: 1...2)
        }
        try await allFresh()
        var since = scenario.expectation.isHurried ? await issuer.lastSequence : before
        if scenario.expectation == .inTime {
            // The step may have caused a refresh, and the usual one follows.
            try await pass(Self.quietTime + Self.restOfTime)
            surprises += try await record.surprises(after: before, refreshes: 1...2)
            try await allFresh()
            since = await issuer.lastSequence
        }
        // Each account is refreshed at its usual time, and not before.
        for _ in 0..<rounds {
            try await pass(Self.quietTime)
            try await allFresh()
            surprises += try await record.surprises(after: since, refreshes: 0...0)
            try await pass(Self.restOfTime)
            surprises += try await record.surprises(after: since, refreshes: 1...1)
            try await allFresh()
            since = await issuer.lastSequence
        }
        surprises += try await stateSurprises()
        let count = await record.refreshes(after: before).count
        return (Array(surprises.prefix(5)), [scenario.name, scenario.expectation.rawValue, "\(count)"])
    }

    /// Asks for some tokens as programs do, just after the event. If the tokens have expired, asks until the certificate
    /// is accepted again.
    private func askForTokens() async throws -> [String] {
        var surprises: [String] = []
        for number in stride(from: 0, to: Self.accounts, by: Self.accounts / 3) {
            let name = Fleet.name(number)
            let end = ContinuousClock.now + .patience
            var outcome = try await stage.authctl("token", name)
            while [.exited(75), .exited(78)].contains(outcome.end), scenario.expectation == .atOnceAfterEnd,
                ContinuousClock.now < end
            {
                try await Task.sleep(for: .milliseconds(100))
                outcome = try await stage.authctl("token", name)
            }
            if outcome.end != .exited(0) { surprises.append("authctl token \(name): \(outcome.errors)") }
        }
        return surprises
    }

    private func stateSurprises() async throws -> [String] {
        var surprises: [String] = []
        let counters = await issuer.counters
        if counters.spentTokenUses + counters.overlaps > 0 { surprises.append("\(counters)") }
        if scenario.isStepTold {
            try await noticedStep()
        } else if process.log.all.contains(where: { $0.contains("the wall clock was stepped") }) {
            surprises.append("the journal tells of a step")
        }
        return surprises
    }
}
