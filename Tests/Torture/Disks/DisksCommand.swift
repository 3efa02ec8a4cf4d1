internal import ArgumentParser

/// `authtorture disks`.
struct DisksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disks",
        abstract: "Cuts the power and makes the disk fail while a store is written, and checks that nothing is lost.",
        discussion: """
            Every operation of SQLite on the store's files is recorded by a VFS. For each of many moments of a store's life the files are put \
            as a disk may hold them after a power cut then; and each kind of operation is made to fail, once and for a while.
            """
    )

    @Option(help: "Steps of a store's life.")
    var steps = 40

    @Option(help: "Moments of it at which the power fails, five ways each.")
    var cuts = 8

    @Option(help: "How densely faults of the disk are sown: after so many operations their distance grows by one.")
    var density = 1

    @Option(help: "Which life: another one for each number.")
    var seed: UInt64 = 1

    func run() throws {
        try Recorder.install()
        let checks = Checks()
        var cutting = try PowerCuts(seed: seed, steps: steps)
        cutting.run(count: cuts, checks)
        var failing = try DiskErrors(seed: seed, steps: steps)
        failing.run(density: density, checks)
        if !checks.haveAllPassed { throw ExitCode(1) }
    }
}

extension Checks {
    /// Adds a check that holds unless `body` throws.
    func check(_ name: String, _ body: () throws -> Void) {
        do {
            try body()
            add(name, surprises: [])
        } catch {
            add(name, surprises: ["\(error)"])
        }
    }
}
