internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl provider list`.
struct ProviderListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the provider profiles.",
        discussion: """
            A profile without an issuer is for accounts that name their own: each tenant or realm is one.

            Examples:

              authctl provider list
            """
    )

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let reply = try daemon.ask(.listProviders, ListProviders.Parameters(), for: ListProviders.Reply.self)
        try output.print(reply, or: Self.text(reply.providers))
    }

    private static func text(_ providers: [ProviderDescription]) -> String {
        guard !providers.isEmpty else { return "no provider profiles\n" }
        var table = TextTable(header: ["PROVIDER", "ISSUER", "FILE"], cuttable: [2, 1, 0])
        table.rows = providers.map { provider in
            [provider.name, provider.issuer ?? "-", provider.path].map { TextTable.Cell(text: PlainText.line($0)) }
        }
        return table.render(.standardOutput)
    }
}
