internal import ArgumentParser
internal import TestSupport

/// `authtorture time`.
struct TimeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "time",
        abstract: "Runs real daemons on clocks that are set, stop or begin in 1970, and on machines that sleep.",
        discussion: "It needs a network namespace with nothing but loopback: Tests/torture makes one."
    )

    @Option(help: "For how many usual refreshes of each account each daemon is watched afterwards.")
    var rounds = 1

    @Option(help: ArgumentHelp("Only what has this in its name.", valueName: "text"))
    var only: String?

    /// How many daemons run at the same time. More would measure the machine.
    private static let width = 18
    private static let firstPort = 21_000

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let scenarios = TimeScenario.all.filter { scenario in only.map { scenario.name.contains($0) } ?? true }
        let checks = Checks()
        let authority = try TestAuthority()
        let turnstile = Turnstile(width: Self.width)
        let rows = await withTaskGroup(of: (Int, [String]).self) { [rounds] group in
            for (number, scenario) in scenarios.enumerated() {
                group.addTask {
                    await turnstile.pass {
                        do {
                            let port = Self.firstPort + number
                            let result = try await TimeTrial.result(of: scenario, authority, port: port, rounds: rounds)
                            checks.add(scenario.name, surprises: result.surprises)
                            return (number, result.row)
                        } catch {
                            checks.add(scenario.name, surprises: ["\(error)"])
                            return (number, [scenario.name, "-", "-"])
                        }
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try authority.remove()
        let header = ["what happens", "all are refreshed", "refreshes"]
        Torture.say("\n" + MarkdownTable.render(header, rows.sorted { $0.0 < $1.0 }.map(\.1)))
        if !checks.haveAllPassed { throw ExitCode(1) }
    }
}
