internal import ArgumentParser
internal import Glibc

/// The command `authbench`: it measures the daemon and `authctl`, and compares them with the best that the machine can
/// do.
@main
struct AuthbenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authbench",
        abstract: "Measures authrefreshd and authctl, and compares each figure with a floor.",
        discussion: """
            Examples:

              Tests/bench
              Tests/bench serve token-process

            The floor is the time or memory that a simpler program needs for the same job. Each bench runs our program \
            and the simpler one in turn, and compares medians. Read the ratios and not the absolute times: on a busy \
            machine, the ratios change less.

            authbench measures the programs in its own folder. 'Tests/bench' builds them as 'systemd/install' does, and \
            starts it.

            Exit status: 0 every limit is met, 1 a limit is missed, 2 a bench could not run.

            \(Bench.allCases.map { "  \($0.rawValue): \($0.summary)\n    Floor: \($0.floor)" }.joined(separator: "\n"))
            """
    )

    @Argument(help: ArgumentHelp("The benches to run; all if none is named.", valueName: "name"))
    var names: [Bench] = []

    @Flag(help: "Print one JSON object a line instead of the table.")
    var json = false

    @Flag(help: "Run everything in small: shows that the benches work, and nothing else.")
    var short = false

    func run() async throws {
        // If a floor program ends early, that must be an error, and must not end this process.
        _ = signal(SIGPIPE, SIG_IGN)
        var report = Report(isJSON: json)
        do {
            let workshop = try await Workshop(effort: short ? .short : .full)
            for bench in names.isEmpty ? Bench.allCases : names {
                report.begin(bench)
                for figure in try await bench.measure(in: workshop) { report.add(figure) }
            }
        } catch let error as BenchError {
            Report.fail(error)
            throw ExitCode(2)
        }
        report.end()
        if !report.isEveryLimitMet { throw ExitCode(1) }
    }
}

extension Bench: ExpressibleByArgument {}
