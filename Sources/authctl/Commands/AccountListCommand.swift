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
        let all = try daemon.allSettings(accounts: [])
        let isEmpty = all.accounts.isEmpty && all.damaged == nil
        try output.print(all, or: isEmpty ? "no accounts\n" : Self.text(all.accounts, damaged: all.damaged ?? []))
        if isEmpty { StandardError.note("'authctl account add --help' tells how to add one") }
    }

    private static func text(_ accounts: [AccountSettings], damaged: [AccountStatus]) -> String {
        var table = TextTable(header: ["ACCOUNT", "ISSUER", "CLIENT ID", "SCOPE"], cuttable: [3, 2, 1, 0])
        table.rows = accounts.map { settings in
            [
                TextTable.Cell(text: PlainText.line(settings.name)),
                TextTable.Cell(text: PlainText.line(settings.provider ?? settings.issuer ?? "-")),
                TextTable.Cell(text: PlainText.line(settings.clientId ?? "-")),
                TextTable.Cell(text: PlainText.line(settings.scopes?.joined(separator: " ") ?? "-")),
            ]
        }
        table.rows += damaged.map { status in
            let cells = [status.account, status.issuer.isEmpty ? "-" : status.issuer, status.state, "-"]
            return cells.map { TextTable.Cell(text: PlainText.line($0), colour: .red) }
        }
        table.rows.sort { $0[0].text.utf8.lexicographicallyPrecedes($1[0].text.utf8) }
        let notes = damaged.compactMap { StatusNote($0, .now)?.render(.standardOutput) }.map { "\n" + $0 }
        return table.render(.standardOutput) + notes.joined()
    }
}
