internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account list`.
struct AccountListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the accounts and how they are set up.",
        discussion: """
            --json prints {"accounts": [AccountSettings…]}, as 'authctl interface' describes that type.
            """
    )

    @Flag(help: "Print JSON for programs.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let accounts = try daemon.allSettings(accounts: [])
        if json {
            return try StandardOutput.write(WireText.encodeIndented(ListAccounts.Reply(accounts: accounts)) + "\n")
        }
        guard !accounts.isEmpty else {
            try StandardOutput.write("no accounts\n")
            return StandardError.note("'authctl account add --help' tells how to add one")
        }
        var table = TextTable(header: ["ACCOUNT", "ISSUER", "CLIENT ID", "SCOPE"], cuttable: [3, 2, 1, 0])
        table.rows = accounts.map { settings in
            [
                TextTable.Cell(text: PlainText.line(settings.name)),
                TextTable.Cell(text: PlainText.line(settings.provider ?? settings.issuer ?? "-")),
                TextTable.Cell(text: PlainText.line(settings.clientId)),
                TextTable.Cell(text: PlainText.line(settings.scopes?.joined(separator: " ") ?? "-")),
            ]
        }
        try StandardOutput.write(table.render(.standardOutput))
    }
}
