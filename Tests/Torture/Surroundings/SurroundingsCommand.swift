internal import ArgumentParser
internal import TestSupport

/// `authtorture surroundings`.
struct SurroundingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "surroundings",
        abstract: "Takes things away that a running daemon depends on, and gives them back."
    )

    @Option(help: "How often each is taken away, from another daemon each time.")
    var rounds = 1

    @Option(help: ArgumentHelp("Only what has this in its name.", valueName: "text"))
    var only: String?

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let checks = Checks()
        var table: [[String]] = []
        for round in 1...max(1, rounds) {
            for row in Surrounding.all where only.map(row.name.contains) ?? true {
                guard isRoot || !row.needsRoot else {
                    Torture.say("skip \(row.name): it takes root to arrange")
                    continue
                }
                if let obstacle = await row.obstacle() {
                    Torture.say("skip \(row.name): \(obstacle)")
                    continue
                }
                do {
                    let (surprises, cells) = try await SurroundingTrial(row: row).run()
                    checks.add(row.name, surprises: surprises)
                    if round == 1 { table.append(cells) }
                } catch {
                    checks.add(row.name, surprises: ["\(error)"])
                }
            }
        }
        if only.map("memory limit reached".contains) ?? true {
            for _ in 0..<max(1, rounds) {
                let (surprises, hasEnded) = try await MemoryTrial.run()
                let end = hasEnded ? "the daemon ended" : "the daemon went on"
                checks.add("memory limit reached: \(end), and its successor has lost nothing", surprises: surprises)
            }
        }
        if !table.isEmpty { Torture.say("\n" + MarkdownTable.render(SurroundingTrial.header, table)) }
        if !checks.haveAllPassed { throw ExitCode(1) }
    }
}
