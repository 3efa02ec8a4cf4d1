import DemoIssuer
import Foundation
import Testing

/// Daemons killed with SIGKILL at random moments, while they refresh against a server that rotates and detects reuse.
///
/// `AUTHREFRESH_KILLS` says how often in all (500), `AUTHREFRESH_SEED` which moments are drawn (the seed is printed).
struct CrashTests {
    private static let kills = ProcessInfo.processInfo.environment["AUTHREFRESH_KILLS"].flatMap { Int($0) } ?? 500
    private static let seed =
        ProcessInfo.processInfo.environment["AUTHREFRESH_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...9999)

    @Test func `with a grace period no account is ever lost`() async throws {
        var run = try CrashRun(kills: Self.kills * 3 / 5, seed: Self.seed, grace: .seconds(600))
        let result = try await run.run()
        print("crash test, with a grace period: \(result) (seed \(Self.seed))")
        #expect(result.lost == [])
        #expect(result.spentTokenUses == 0)
        try expectWork(of: result)
    }

    @Test func `without a grace period only exchanges whose answer had not arrived are lost, and it is said`()
        async throws
    {
        var run = try CrashRun(kills: Self.kills - Self.kills * 3 / 5, seed: Self.seed &+ 1, grace: .zero)
        let result = try await run.run()
        print("crash test, without a grace period: \(result) (seed \(Self.seed &+ 1))")
        for loss in result.lost {
            #expect(loss.reason == "outcomeUnknown", "\(loss)")
            #expect(loss.wasServedAndCut, "\(loss)")
            #expect(!loss.wasToldAsStored, "\(loss)")
        }
        // A daemon that is killed after it has stored a decision and before it has logged it says nothing: a moment of
        // a millisecond in a life of a hundred. What it stored, status tells.
        let unsaid = result.lost.filter { !$0.isSaidInLog }
        #expect(unsaid.count <= result.lost.count / 10 + 1, "\(unsaid)")
        #expect(result.unexplained == [])
        try expectWork(of: result)
    }

    /// A run in which nothing was under way shows nothing.
    private func expectWork(of result: CrashResult) throws {
        #expect(result.overlaps == 0)
        #expect(result.refusedStarts == 0)
        #expect(result.exchangesCut > 0)
        #expect(result.refreshes > result.kills / 4)
    }
}
