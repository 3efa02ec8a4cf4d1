internal import DemoIssuer
internal import TestSupport

/// All faults in one situation, at the same time: a daemon with an account for each fault, and a server for each
/// account.
struct FaultRun {
    /// The time after which a server counts as silent. An exchange without a fault takes far less, even on a busy
    /// machine.
    private static let configuration = "request_timeout: 9s\nmax_refreshes_per_second: 1000\n"

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
        let stage = try DaemonStage()
        try stage.configure(Self.configuration + "ca_file: \(certificates.caFile)\n")
        let daemon = try await stage.start()
        let trials = try await trials(on: stage, ChangeFeed(stage))
        let findings: [Finding]
        switch situation {
        case .first, .steady:
            findings = await Self.all(trials) { trial in
                let finding = await trial.judge(await trial.prepare())
                report(finding)
                return finding
            }
            try await daemon.terminate()
        case .restart:
            let prepared = await Self.all(trials) { ($0, await $0.prepare()) }
            try await daemon.terminate()
            let successor = try await stage.start()
            let feed = try await ChangeFeed(stage)
            findings = await Self.all(prepared) { trial, beginning in
                let finding = await trial.following(feed).judge(beginning)
                report(finding)
                return finding
            }
            try await successor.terminate()
        }
        for trial in trials { await trial.server.issuer.shutdown() }
        return findings
    }

    /// The results of `body` for all elements, at the same time.
    private static func all<Element: Sendable, Result: Sendable>(
        _ elements: [Element],
        _ body: @escaping @Sendable (Element) async -> Result
    ) async -> [Result] {
        await withTaskGroup(of: Result.self) { group in
            for element in elements { group.addTask { await body(element) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func trials(on stage: DaemonStage, _ feed: ChangeFeed) async throws -> [FaultTrial] {
        var trials: [FaultTrial] = []
        for (number, row) in rows.enumerated() {
            let server = try await FaultServer(
                row,
                number: firstNumber + number,
                lifetime: limits.tokenLifetime(in: situation),
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
