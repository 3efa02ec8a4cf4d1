internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl watch`.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow accounts: their present state, then every change as it happens.",
        discussion: """
            A line for each change: local time, account, event, state. --json prints a reply of 'Subscribe' on each \
            line, as 'authctl interface' describes it; "ready" ends the present state. 'authctl status --watch' shows a \
            table instead, and keeps it up to date.

            Runs until it is interrupted: Ctrl-C ends it as it ends any program (130 to the shell).

            Exit status: 69 if the daemon goes away, 75 if this program was too slow to keep up.

            Examples:

              authctl watch
              authctl watch work --json | jq --unbuffered -r .event
            """
    )

    @Argument(help: "The accounts to follow. Without: all.", completion: DaemonCompletion.accounts)
    var accounts: [String] = []

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        try daemon.subscribe(to: accounts)
        while true {
            guard let change = try daemon.availableChange() else {
                StandardOutput.wait(forInputOn: [daemon.pollDescriptor])
                continue
            }
            try output.printLine(change, or: ChangeLine(change: change).text)
        }
    }
}
