internal import ArgumentParser
internal import Foundation

/// `authtorture`: does to a real daemon what the world does, and compares what comes of it with what is written down.
@main
struct Torture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authtorture",
        abstract: "Does to authrefreshd what the world does, and shows what comes of it as a table.",
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

    /// Programs that end while they are written to are no reason for this one to end.
    static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
