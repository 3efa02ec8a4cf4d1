internal import ArgumentParser
internal import Glibc

/// The command `authbench`: it measures the daemon and `authctl`, and compares them with the best that the machine can
/// do.
@main
struct AuthbenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authbench",
        abstract: "Measures authrefreshd and authctl, each figure beside its floor.",
        discussion: """
            Each bench runs its subject and its floor (what a minimal C program, or the bare HTTP client, needs for the same) in
            turn, and compares medians. Read ratios, not absolute times: they hold on a busy machine, too.

            The programs measured are those beside authbench: build them first, with "swift build -c release". With a NAME only
            that bench is run; "build" compiles everything anew and is run only when it is named.

            Status: 0 every limit is met; 1 one is not; 2 a bench could not be run.

            \(Bench.allCases.map { "  \($0.rawValue): \($0.summary)\n    Floor: \($0.floor)" }.joined(separator: "\n"))
            """
    )

    @Argument(help: ArgumentHelp("The benches to run; all but \"build\" if none is named.", valueName: "name"))
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
            for bench in names.isEmpty ? Bench.allCases.filter({ $0 != .build }) : names {
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
