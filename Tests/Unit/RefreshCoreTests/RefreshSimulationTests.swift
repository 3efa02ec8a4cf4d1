import RefreshCore
import Testing

/// Worlds in virtual time. `AUTHREFRESH_SEED` selects a single seed.
@Suite struct RefreshSimulationTests {
    private static let worldsPerPart = 8

    @Test(arguments: 0..<16) func `no promise is broken under random faults`(part: Int) {
        for seed in Simulation.seeds(part: part, count: RefreshSimulationTests.worldsPerPart) {
            let outcome = Simulation.outcome(seed: seed, test: "RefreshSimulationTests")
            if let report = outcome.report { Issue.record(Comment(rawValue: report)) }
        }
    }

    @Test(arguments: Simulation.seeds(part: 0, count: 4))
    func `a grant whose answers all arrive lasts forever, whatever else fails`(seed: UInt64) {
        let outcome = Simulation.outcome(seed: seed, climate: .honest, test: "RefreshSimulationTests")
        #expect(outcome.report == nil)
        #expect(outcome.exchanges > 1_000)
    }

    @Test(arguments: Simulation.seeds(part: 0, count: 4))
    func `a lost answer is requested again within the grace period`(seed: UInt64) {
        let outcome = Simulation.outcome(seed: seed, climate: .forgetful, test: "RefreshSimulationTests")
        #expect(outcome.report == nil)
        #expect(outcome.exchanges > 1_000)
    }

    @Test(arguments: Simulation.seeds(part: 0, count: 8))
    func `nothing is given out after a sign-out is due, online or not, and no wrong clock ends a grant`(seed: UInt64) {
        let outcome = Simulation.outcome(seed: seed, climate: .forgetting, test: "RefreshSimulationTests")
        #expect(outcome.report == nil)
        #expect(outcome.exchanges > 300)
    }

    @Test(arguments: Simulation.seeds(part: 0, count: 3)) func `the same seed gives the same trace`(seed: UInt64) {
        let first = Simulation.outcome(seed: seed, test: "RefreshSimulationTests")
        let second = Simulation.outcome(seed: seed, test: "RefreshSimulationTests")
        #expect(first == second)
    }

    @Test func `different seeds give different traces`() {
        let fingerprints = (0..<8).map { Simulation.outcome(seed: $0, test: "RefreshSimulationTests").fingerprint }
        #expect(Set(fingerprints).count == fingerprints.count)
    }

    @Test func `the simulations cover thousands of account-years`() {
        let seeds = (0..<16).flatMap { Simulation.seeds(part: $0, count: RefreshSimulationTests.worldsPerPart) }
        guard Simulation.replayedSeed == nil else { return }
        let days = seeds.reduce(0.0) { $0 + World(seed: $1, climate: nil).climate.days }
        #expect(days / 365.25 > 2_000)
    }
}
