import RefreshCore
import Testing

/// The process dies after any effect: between commit and request, or between the server's work and the commit of its
/// answer.
@Suite struct CrashSimulationTests {
    @Test(arguments: Simulation.seeds(part: 0, count: 8))
    func `no grant is lost by a crash while the server accepts a second use`(seed: UInt64) {
        let outcome = Simulation.outcome(seed: seed, climate: .deadly, test: "CrashSimulationTests")
        #expect(outcome.report == nil)
        #expect(outcome.exchanges > 1_000)
    }

    @Test(arguments: Simulation.seeds(part: 0, count: 8))
    func `without a grace period a crash loses no grant whose answer was committed`(seed: UInt64) {
        var climate = Climate.deadly
        climate.rules.grace = .zero
        climate.daysBetween[.userSignsIn] = 0.1
        let outcome = Simulation.outcome(seed: seed, climate: climate, test: "CrashSimulationTests")
        #expect(outcome.report == nil)
        #expect(outcome.exchanges > 1_000)
    }
}
