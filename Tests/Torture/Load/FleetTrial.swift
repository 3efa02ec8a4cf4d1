internal import Foundation
internal import TestSupport

/// A daemon with its fleet under load, observed in several ways while its accounts are refreshed.
struct FleetTrial {
    let stage: DaemonStage
    let daemon: DaemonProcess
    let fleet: Fleet
    /// The subscriber of all accounts.
    let all: FleetFeed
    /// The subscribers of a few accounts each.
    let some: [FleetFeed]
    let samplers: Int
    /// How often every account is refreshed, before and after the middle together.
    let rounds: Int

    /// The time in which an account with tokens of an hour is refreshed once: after 44 minutes at the latest.
    private static let round = Duration.seconds(45 * 60)

    /// - Parameters:
    ///   - connections: how many connections are opened at once in the middle.
    ///   - places: how many connections this process may have.
    /// - Returns: the rows of the table.
    func run(_ checks: Checks, floodOf connections: Int, places: Int) async throws -> [[String]] {
        let before = try ProcessState(of: daemon.pid)
        let sampler = FleetSampler(fleet)
        let asking = Task { [stage, samplers] in try await sampler.run(stage.socket, callers: samplers) }
        for feed in [all] + some { feed.begin() }
        let clock = FleetClock(stage: stage, feed: all)
        try await clock.pass(Self.round * (rounds / 2))
        let flood = try await flood(of: connections, places: places, checks)
        try await clock.pass(Self.round * (rounds - rounds / 2))
        for feed in [all] + some { feed.end() }
        sampler.finish()
        try await asking.value
        let after = try ProcessState(of: daemon.pid)
        let sampled = sampler.outcome
        judge(sampled, checks)
        return [
            ["accounts", "\(fleet.names.count)"],
            ["refreshes", "\(all.refreshes)"],
            ["tokens asked for: p50, p99, most", "\(sampled.tokens): " + Self.text(sampled.waits.sorted())],
            ["states looked at", "\(sampled.statuses)"],
            ["subscribers beside the one of all", "\(some.count { $0.isReady })"],
            ["connections tried: answered, told the limit", "\(connections): \(flood.answered), \(flood.refused)"],
            ["resident memory: before, after", "\(before.residentKiB / 1024), \(after.residentKiB / 1024) MiB"],
            ["descriptors: before, after", "\(before.descriptors), \(after.descriptors)"],
            ["processor time of the daemon", "\(Int((after.processorTime - before.processorTime) / .seconds(1))) s"],
        ]
    }

    private func judge(_ sampled: FleetSampler.Result, _ checks: Checks) {
        checks.add("all of \(fleet.names.count) accounts had a valid token all the time", surprises: all.surprises)
        checks.add("each of \(sampled.tokens) tokens given out was good", surprises: sampled.surprises)
        let isRefreshed = all.refreshes >= fleet.names.count * rounds
        checks.add(
            "every account was refreshed \(rounds) times",
            surprises: isRefreshed ? [] : ["\(all.refreshes) refreshes"]
        )
        let lost = some.compactMap(\.error) + some.flatMap(\.surprises) + (all.error.map { [$0] } ?? [])
        checks.add("\(some.count) subscribers missed nothing", surprises: Array(lost.prefix(5)))
    }

    private func flood(of count: Int, places: Int, _ checks: Checks) async throws -> ConnectionFlood.Outcome {
        let before = try ProcessState(of: daemon.pid).descriptors
        let outcome = try await ConnectionFlood(socket: stage.socket).run(count) {}
        var surprises = outcome.surprises
        if outcome.answered > places { surprises.append("\(outcome.answered) were let in") }
        if count > places, outcome.refused == 0 { surprises.append("none was refused") }
        checks.add(
            "of \(count) connections as many are let in as may be, and the others are told",
            surprises: surprises
        )
        // The daemon notices after a while that connections have ended.
        let end = ContinuousClock.now + .patience
        var left = try ProcessState(of: daemon.pid).descriptors
        while left > before + Self.slack, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(50))
            left = try ProcessState(of: daemon.pid).descriptors
        }
        let isBack = left <= before + Self.slack
        checks.add("their descriptors come back", surprises: isBack ? [] : ["\(left) are open, \(before) were before"])
        return outcome
    }

    /// Connections to the server are opened and closed all the time.
    private static let slack = 70

    private static func text(_ sorted: [Int64]) -> String {
        guard let last = sorted.last else { return "-" }
        let values = [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], last]
        return values.map { String(format: "%.1f ms", Double($0) / 1000) }.joined(separator: ", ")
    }
}
