internal import ArgumentParser

/// The daemon's command line.
struct DaemonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the configuration from FILE.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Keep the store and its key in DIR.", valueName: "dir"))
    var stateDir: String?

    @Option(help: ArgumentHelp("Listen at PATH, unless systemd passes a socket.", valueName: "path"))
    var socket: String?

    @Flag(help: "Check the configuration and the provider profiles, and end.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Put the backup FILE in the place of the store, and end; see 'authctl store restore'.",
            valueName: "file"
        )
    )
    var restore: String?
}
