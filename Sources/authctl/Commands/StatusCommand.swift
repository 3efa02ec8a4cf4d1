internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl status`.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show where accounts stand, and what needs you.",
        discussion: """
            States: fresh, refreshing, retrying, interaction-required, refresh-token-expiring, signed-out, \
            misconfigured.

            Exit status: without names, 0 once the accounts are shown, whatever their state. With names, that of the \
            worst: 3 interaction-required, 78 misconfigured, 5 signed-out, 75 retrying without a valid token, \
            otherwise 0.

            --json prints {"accounts": [AccountStatus…]}, as 'authctl interface' describes that type; times are µs \
            since 1970, and fields without a value are left out.
            """
    )

    @Argument(help: "The accounts to show. Without: all.")
    var accounts: [String] = []

    @Flag(help: "Print JSON for programs.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let statuses = try daemon.allStatuses(accounts: accounts)
        let time = LocalTime.now
        if json {
            try StandardOutput.write(WireText.encodeIndented(GetStatus.Reply(accounts: statuses)) + "\n")
        } else {
            var text = StatusView(accounts: statuses, time: time).render(.standardOutput)
            if accounts.isEmpty { text += try conditionOfDaemon(&daemon) }
            try StandardOutput.write(text)
            if statuses.isEmpty { StandardError.note("'authctl account add --help' tells how to add one") }
        }
        guard !accounts.isEmpty else { return }
        let worst = statuses.reduce(ExitStatus.success) { .worst($0, $1.exitStatus(at: time.nowUSec)) }
        guard worst == .success else { throw .reported(worst) }
    }

    /// What keeps the daemon as a whole from its work, a line each; empty if all is well.
    private func conditionOfDaemon(_ daemon: inout DaemonConnection) throws(AuthctlError) -> String {
        let info = try daemon.ask(.getInfo, GetInfo.Parameters(), for: GetInfo.Reply.self)
        var text = ""
        if !info.online { text += "no network: refreshes wait until there is a route\n" }
        if let trouble = info.trouble { text += "trouble: \(PlainText.line(trouble))\n" }
        return text
    }
}
