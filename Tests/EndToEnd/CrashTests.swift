import Foundation
import TestSupport
import Testing

/// Daemons that are killed with SIGKILL at random moments, while they refresh at a server that rotates and detects
/// reuse.
///
/// `AUTHREFRESH_KILLS` is the number of kills (500), and `AUTHREFRESH_CRASH_SEED` selects the moments (the seed is printed).
/// `Tests/torture crashes` does the same ten thousand times.
struct CrashTests {
    private static let kills = ProcessInfo.processInfo.environment["AUTHREFRESH_KILLS"].flatMap { Int($0) } ?? 500
    private static let seed =
        ProcessInfo.processInfo.environment["AUTHREFRESH_CRASH_SEED"].flatMap { UInt64($0) }
        ?? UInt64.random(in: 0...9999)

    @Test func `with a grace period no account is ever lost`() async throws {
        var run = try CrashRun(kills: Self.kills * 3 / 5, seed: Self.seed, grace: .seconds(600))
        let result = try await run.run()
        print("crash test, with a grace period: \(result) (seed \(Self.seed))")
        #expect(result.surprises(hasGrace: true) == [])
    }

    @Test func `without a grace period only exchanges without an answer are lost, and this is reported`()
        async throws
    {
        var run = try CrashRun(kills: Self.kills - Self.kills * 3 / 5, seed: Self.seed &+ 1, grace: .zero)
        let result = try await run.run()
        print("crash test, without a grace period: \(result) (seed \(Self.seed &+ 1))")
        #expect(result.surprises(hasGrace: false) == [])
    }
}
