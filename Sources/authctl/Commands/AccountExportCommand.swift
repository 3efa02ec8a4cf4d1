internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl account export`.
struct AccountExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write an account with its secrets, to move it to another machine.",
        usage: """
            \(InvokedAs.here) account export <account> [--move]
            \(InvokedAs.here) account export --settings [<account>]
            """,
        discussion: """
            Examples:

              \(InvokedAs.here) account export work --move | ssh other \(InvokedAs.here) account import -
              \(InvokedAs.here) account remove work
              \(InvokedAs.here) account export work --move --output work.json
              \(InvokedAs.here) account export --settings --output accounts.json

            Prints a JSON document that '\(InvokedAs.here) account import' reads. If the server rotates refresh tokens, it \
            revokes a grant that two machines use. So --move parks the account: this machine keeps the grant but \
            does not refresh it. When the other machine has the account, remove it here. If it should stay here \
            after all, run '\(InvokedAs.here) account resume'.

            --settings writes the settings of one account or of all, without any secret, as a file for \
            '\(InvokedAs.here) apply'.
            """
    )

    @Argument(help: "The account. With --settings, all if none is named.", completion: DaemonCompletion.accounts)
    var account: String?

    @Flag(help: "Write only settings, for 'apply': no grant and no secrets.")
    var settings = false

    @Option(
        name: .customLong("output"),
        help: .value("file", "Write to this new file, with mode 0600."),
        completion: .file()
    )
    var newFile: String?

    @Flag(help: "Park the account: keep its grant here, but stop refreshing it.")
    var move = false

    @Flag(help: "Print the secrets even on a terminal.")
    var showSecrets = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        if settings { return try exportSettings() }
        guard let account else {
            throw .usage("no account is named", hint: "\(Command("account", "export", "ACCOUNT"))")
        }
        guard newFile != nil || showSecrets || !StandardOutput.isTerminal else {
            throw Report(
                status: .usage,
                name: "authctl.SecretsToTerminal",
                message: "the export contains secrets, and standard output is a terminal",
                hints: ["use --output FILE, or --show-secrets to see them here"]
            )
        }
        let name = PlainText.line(account)
        let loss: Hint =
            "'\(name)' is parked here, but its export was not written;"
            + " if no other machine has it: \(Command("account", "resume", name))"
        guard let newFile else {
            try StandardOutput.write(document(of: account), orNote: move ? loss : nil)
            return tellParked(account)
        }
        var file = try OutputFile(forSecrets: newFile)
        let document = try document(of: account)
        do throws(Report) {
            try file.write(document)
            try file.finish()
        } catch {
            if move { StandardError.note(loss) }
            throw error
        }
        if output.json { try output.print(["path": newFile], or: "") }
        StandardError.note("'\(newFile)' contains secrets; remove it after the import")
        tellParked(account)
    }

    /// Writes the settings of one account or of all. They are no secret, but the file may say who somebody is.
    private func exportSettings() throws(Report) {
        guard !move, !showSecrets else {
            throw .usage(
                "'--settings' cannot be combined with '--move' or '--show-secrets'",
                hint: "leave one of them out: '--settings' writes no grant and no secrets"
            )
        }
        var daemon = try connection.connect()
        let all = try daemon.allSettings(accounts: account.map { [$0] } ?? [])
        for damaged in all.damaged ?? [] {
            StandardError.warn(
                "'\(PlainText.line(damaged.account))' cannot be read, so it is left out: \(Command("doctor"))"
            )
        }
        let document = WireText.encodeIndented(["accounts": all.accounts]) + "\n"
        guard let newFile else { return try StandardOutput.write(document) }
        var file = try OutputFile(forSecrets: newFile)
        try file.write(document)
        try file.finish()
        if output.json { try output.print(["path": newFile], or: "") }
    }

    private func tellParked(_ account: String) {
        guard move else { return }
        let name = PlainText.line(account)
        StandardError.note(
            "'\(name)' is parked here; after the import on the other machine: \(Command("account", "remove", name))"
        )
    }

    private func document(of account: String) throws(Report) -> String {
        var daemon = try connection.connect()
        let reply = try daemon.ask(
            ExportGrant.Parameters(account: account, park: move ? true : nil),
            patience: DaemonConnection.refreshPatience,
            waitingFor: move ? DaemonConnection.server(of: account) : "the daemon"
        )
        let document = AccountDocument(
            settings: reply.settings,
            clientSecret: reply.clientSecret,
            clientKey: reply.clientKey,
            dpopKey: reply.dpopKey,
            refreshToken: reply.refreshToken,
            registration: reply.registration,
            clientSecretExpiresAtUSec: reply.clientSecretExpiresAtUSec
        )
        return WireText.encodeIndented(document) + "\n"
    }
}
