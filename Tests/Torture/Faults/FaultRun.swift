internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// All faults in one situation, at the same time: a daemon with an account for each fault, and a server for each
/// account.
///
/// The trials go from step to step together. Between the steps, time passes for the daemon and the servers alone, so that
/// the tokens' ends are near for them and never for a busy machine.
struct FaultRun {
    /// The time after which a server counts as silent. An exchange without a fault takes far less, even on a busy
    /// machine.
    private static let configuration = "request_timeout: 9s\nmax_refreshes_per_second: 1000\n"
    /// The time before the first deadline at which the faults begin. Less than a minute passes until all have begun.
    private static let lead = Duration.seconds(60)
    /// Longer than the longest wait that a server asks for and that is over with the fault.
    private static let shortestOutage = Duration.seconds(340)

    let rows: [FaultRow]
    let situation: Situation
    /// The number of its first server.
    let firstNumber: Int
    let limits: FaultTrial.Limits
    let certificates: Certificates
    let names: NameServer
    let turnstile: Turnstile
    /// Called with each finding.
    let report: @Sendable (Finding) -> Void

    /// The findings, in any order.
    func run() async throws -> [Finding] {
        let stage = try DaemonStage(hasOwnClock: true)
        try stage.configure(Self.configuration + "ca_file: \(certificates.caFile)\n")
        var daemon = try await stage.start()
        var trials = try await trials(on: stage, ChangeFeed(stage))
        var prepared = await Self.all(trials) { await $0.prepare() }
        if situation == .restart {
            try await daemon.terminate()
            daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            trials = trials.map { $0.following(feed) }
        }
        if situation != .first {
            let deadlines = try await stage.statuses().compactMap(\.nextAttemptAtUSec)
            try await stage.pass(until: (deadlines.min() ?? 0) - Self.lead.components.seconds * 1_000_000)
            prepared = await Self.all(zip(trials, prepared)) { await $0.breakDown($1) }
            try await stage.pass(until: deadlines.max())
        }
        let observed = await Self.all(zip(trials, prepared)) { await $0.observe($1) }
        try await stage.pass(max(limits.outage, Self.shortestOutage))
        try await stage.pass(until: observed.compactMap(\.tokenEndsAtUSec).max())
        let findings = await Self.all(zip(trials, observed)) { trial, observation in
            let finding = await trial.finish(observation)
            report(finding)
            return finding
        }
        try await daemon.terminate()
        for trial in trials { await trial.server.issuer.shutdown() }
        return findings
    }

    /// The results of `body` for all elements in their order. It runs for all at the same time.
    private static func all<Elements: Sequence, Result: Sendable>(
        _ elements: Elements,
        _ body: @escaping @Sendable (Elements.Element) async -> Result
    ) async -> [Result] where Elements.Element: Sendable {
        await withTaskGroup(of: (Int, Result).self) { group in
            for (number, element) in elements.enumerated() { group.addTask { (number, await body(element)) } }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func trials(on stage: DaemonStage, _ feed: ChangeFeed) async throws -> [FaultTrial] {
        var trials: [FaultTrial] = []
        for (number, row) in rows.enumerated() {
            let server = try await FaultServer(
                row,
                number: firstNumber + number,
                lifetime: FaultTrial.tokenLifetime,
                now: stage.now,
                certificates,
                names
            )
            trials.append(
                FaultTrial(
                    name: "account\(firstNumber + number)",
                    server: server,
                    situation: situation,
                    stage: stage,
                    feed: feed,
                    limits: limits,
                    turnstile: turnstile
                )
            )
        }
        return trials
    }
}
