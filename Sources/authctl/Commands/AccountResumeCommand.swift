internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account resume`.
struct AccountResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Use a parked account here again, after 'account export --move'.",
        discussion: """
            Refreshes the grant at once, to find out whether it still works here. Do this only if no other machine uses the \
            export: where the server rotates refresh tokens, two users of one grant end it.

            Examples:

              authctl account resume work
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let status = try daemon.ask(
            .resumeAccount,
            ResumeAccount.Parameters(account: account),
            for: ResumeAccount.Reply.self,
            patience: DaemonConnection.refreshPatience
        ).status
        guard status.refreshExitStatus == .success else { throw .notFresh(status) }
        try output.print(ResumeAccount.Reply(status: status), or: RefreshOutcome.line(for: status))
    }
}
