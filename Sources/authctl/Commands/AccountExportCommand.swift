internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account export`.
struct AccountExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write an account with its secrets, to move it to another machine.",
        discussion: """
            Prints a JSON document that 'authctl account import' reads. Import it on one machine only, and remove the \
            account here first: where the server rotates refresh tokens, two users of one grant end it.

            Examples:

              authctl account export work --output work.json
              authctl account export work | ssh other authctl account import -
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp("Write to this new file, with mode 0600.", valueName: "file"),
        completion: .file()
    )
    var newFile: String?

    @Flag(help: "Print the secrets even on a terminal.")
    var showSecrets = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        guard newFile != nil || showSecrets || !StandardOutput.isTerminal else { throw .secretsToTerminal }
        guard let newFile else { return try StandardOutput.write(document()) }
        var file = try NewFile(path: newFile)
        try file.write(document())
        try file.keep()
        if output.json { try output.print(FileAnswer(path: newFile), or: "") }
        StandardError.note("'\(newFile)' holds secrets; remove it when it has been imported")
    }

    private func document() throws(AuthctlError) -> String {
        var daemon = try connection.connect()
        let parameters = ExportGrant.Parameters(account: account)
        let reply = try daemon.ask(.exportGrant, parameters, for: ExportGrant.Reply.self)
        let document = AccountDocument(
            settings: reply.settings,
            clientSecret: reply.clientSecret,
            clientKey: reply.clientKey,
            refreshToken: reply.refreshToken,
            registration: reply.registration,
            clientSecretExpiresAtUSec: reply.clientSecretExpiresAtUSec
        )
        return WireText.encodeIndented(document) + "\n"
    }
}
