internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account show`.
struct AccountShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one account: settings and state, no secrets.",
        discussion: """
            Examples:

              authctl account show work
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let settings = try daemon.allSettings(accounts: [account]).accounts.first
        let status = try daemon.allStatuses(accounts: [account]).first
        guard settings != nil || status != nil else { throw .connection(.unreadableReply) }
        try output.print(
            AccountAnswer(settings: settings, status: status),
            or: SettingsView(settings: settings, status: status, time: .now).text
        )
    }
}
