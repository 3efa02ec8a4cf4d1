#if canImport(Glibc)
    import Glibc
#endif

/// Runs worlds and reports their results.
struct Simulation {
    /// The result of one world.
    struct Outcome: Hashable {
        var seed: UInt64
        var accountYears: Double
        var exchanges: Int
        var fingerprint: Int
        /// The broken promise and how to reproduce it; nil if all were kept.
        var report: String?
    }

    /// The one seed to run instead of all, from `AUTHREFRESH_SEED`; nil if unset.
    static var replayedSeed: UInt64? {
        guard let value = unsafe getenv("AUTHREFRESH_SEED") else { return nil }
        return unsafe UInt64(String(cString: value))
    }

    /// The seeds of one part of the run, `count` for each part; or the one seed from `AUTHREFRESH_SEED`.
    static func seeds(part: Int, count: Int) -> [UInt64] {
        if let replayedSeed { return part == 0 ? [replayedSeed] : [] }
        return (0..<count).map { UInt64(part * count + $0) }
    }

    /// Runs the world of `seed`, in its own climate unless one is given.
    static func outcome(seed: UInt64, climate: Climate? = nil, test: String) -> Outcome {
        var world = World(seed: seed, climate: climate)
        var report: String?
        do throws(Violation) {
            try world.run()
        } catch {
            report = """
                seed \(seed): \(error.text)
                replay: AUTHREFRESH_SEED=\(seed) swift test --skip-build --filter \(test)
                \(world.climate)
                \(world.trace.text)
                """
        }
        return Outcome(
            seed: seed,
            accountYears: Double(world.clock.trueTime) / 86_400e6 / 365.25,
            exchanges: world.exchanges,
            fingerprint: world.trace.fingerprint,
            report: report
        )
    }
}
