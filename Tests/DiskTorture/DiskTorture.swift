internal import ArgumentParser

@main
struct DiskTorture: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disktorture",
        abstract: "Take the power and the disk from a store, and look whether anything was lost.",
        discussion: """
            Every operation of SQLite on the store's files is recorded by a VFS. For each of many moments the files are put as \
            a disk may hold them after a power cut then; and each kind of operation is made to fail.
            """
    )

    @Option(help: "Steps of a store's life.")
    var steps = 60

    @Option(help: "Moments of it at which the power fails, five ways each.")
    var cuts = 40

    @Option(help: "How densely faults of the disk are sown: their distance doubles after so many.")
    var faults = 4

    @Option(help: "The first seed; each makes another life.")
    var seed: UInt64 = 1

    @Option(help: "How many lives.")
    var lives = 1

    mutating func run() throws {
        try Recorder.install()
        var failed = 0
        for seed in seed..<seed + UInt64(lives) {
            var tally = Tally()
            var cutting = try PowerCuts(seed: seed, steps: steps)
            cutting.run(count: cuts, &tally)
            failed += report("power cuts", seed, tally)
            tally = Tally()
            var failing = try DiskErrors(seed: seed, steps: steps)
            failing.run(count: faults, &tally)
            failed += report("faults of the disk", seed, tally)
        }
        if failed > 0 { throw ExitCode(1) }
    }

    private func report(_ name: String, _ seed: UInt64, _ tally: Tally) -> Int {
        let word = tally.failed == 0 ? "ok  " : "FAIL"
        say("\(word) \(name), seed \(seed): \(tally.passed) of \(tally.passed + tally.failed) as they should be")
        return tally.failed
    }
}
