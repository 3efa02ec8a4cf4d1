internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account show`.
struct AccountShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one account: settings and state, no secrets.",
        discussion: """
            --json prints {"settings": AccountSettings, "status": AccountStatus}, as 'authctl interface' describes \
            those types.
            """
    )

    /// What `--json` prints.
    private struct Shown: Encodable {
        let settings: AccountSettings
        let status: AccountStatus?
    }

    @Argument(help: "The account.")
    var account: String

    @Flag(help: "Print JSON for programs.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        guard let settings = try daemon.allSettings(accounts: [account]).first else {
            throw .connection(.unreadableReply)
        }
        let status = try daemon.allStatuses(accounts: [account]).first
        if json {
            try StandardOutput.write(WireText.encodeIndented(Shown(settings: settings, status: status)) + "\n")
        } else {
            try StandardOutput.write(SettingsView(settings: settings, status: status, time: .now).text)
        }
    }
}
