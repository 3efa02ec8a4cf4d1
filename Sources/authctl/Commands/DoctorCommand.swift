internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl doctor`.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why tokens are not fresh, and say what to do.",
        discussion: """
            Examples:

              \(InvokedAs.here) doctor
              \(InvokedAs.here) doctor work
              \(InvokedAs.here) doctor --json | jq '.findings[] | select(.level == "error")'

            It looks at this shell, the socket, the service and whether it outlives your session. Then the daemon \
            looks at its configuration, clocks, network, store and key, at the accounts and their tokens, and at \
            each authorization server: name, TLS, metadata, clock. No token is sent, and nothing is changed. It \
            also works when the daemon is down.

            Each finding is a line that begins with a mark: ok, a note, a warning (it works now, but not for ever) \
            or an error (it does not work). The line below says what to do. Findings appear as they come.

            Exit status: 0 if nothing is worse than a note. Otherwise the most urgent finding decides, warnings \
            included: 69 the daemon must be started, 77 it does not serve this user, 3 a person must sign in, 78 \
            something is set up wrong, 75 the problem goes away by itself.
            """
    )

    @Argument(help: "The accounts to look at, with their servers. Default: all.", completion: DaemonCompletion.accounts)
    var accounts: [String] = []

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        let isJSON = output.json
        var report = DoctorReport(style: .standardOutput)
        try Doctor(accounts: accounts, socket: connection.socket, surroundings: .real).run {
            finding throws(Report) in
            let text = report.add(finding)
            if !isJSON { try StandardOutput.show(text) }
        }
        try output.print(DoctorAnswer(report), or: report.total)
        guard report.status == .success else { throw .reported(report.status) }
    }
}
