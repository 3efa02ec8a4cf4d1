internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account remove`.
struct AccountRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget an account and its tokens.",
        discussion: """
            The authorization server is not told, so the grant lives on there; 'authctl logout --revoke --forget' \
            tells it.

            Examples:

              authctl account remove work
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let parameters = RemoveAccount.Parameters(account: account)
        _ = try daemon.ask(.removeAccount, parameters, for: RemoveAccount.Reply.self)
        try output.print(RemoveAnswer(account: account, removed: true), or: "\(account): removed\n")
    }
}
