internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account list`.
struct AccountListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the accounts and how they are set up.",
        discussion: """
            Examples:

              authctl account list
              authctl account list --json | jq -r '.accounts[].name'
            """
    )

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let accounts = try daemon.allSettings(accounts: [])
        try output.print(ListAccounts.Reply(accounts: accounts), or: Self.text(accounts))
        if accounts.isEmpty { StandardError.note("'authctl account add --help' tells how to add one") }
    }

    private static func text(_ accounts: [AccountSettings]) -> String {
        guard !accounts.isEmpty else { return "no accounts\n" }
        var table = TextTable(header: ["ACCOUNT", "ISSUER", "CLIENT ID", "SCOPE"], cuttable: [3, 2, 1, 0])
        table.rows = accounts.map { settings in
            [
                TextTable.Cell(text: PlainText.line(settings.name)),
                TextTable.Cell(text: PlainText.line(settings.provider ?? settings.issuer ?? "-")),
                TextTable.Cell(text: PlainText.line(settings.clientId)),
                TextTable.Cell(text: PlainText.line(settings.scopes?.joined(separator: " ") ?? "-")),
            ]
        }
        return table.render(.standardOutput)
    }
}
