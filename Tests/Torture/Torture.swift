internal import ArgumentParser
internal import Foundation

/// `authtorture`: simulates faults around a real daemon, and compares the results with the expected ones.
@main
struct Torture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authtorture",
        abstract: "Simulates the faults that authrefreshd meets, and prints the results as tables.",
        discussion: """
            Tests/torture calls it, in a network namespace of its own. Each subcommand prints a line for each check (ok, FAIL), then
            its table.

            Status: 0 everything was as expected; 1 something was not; 2 it could not be tried.
            """,
        subcommands: [
            FaultsCommand.self, PeersCommand.self, DisksCommand.self, CrashesCommand.self, SecretsCommand.self,
            SurroundingsCommand.self, IntegrationsCommand.self, IntrudersCommand.self, LoadCommand.self,
            TimeCommand.self, SoakCommand.self,
        ]
    )

    /// Prints a line at once, for those who follow a run of minutes.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Ignores SIGPIPE, so that this program continues when a program to which it writes ends.
    static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
