internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account remove`.
struct AccountRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget an account and its tokens.",
        discussion: """
            The authorization server is not told, so the grant lives on there; 'authctl logout --revoke --forget' \
            tells it. A client that 'authctl account add --register' made is deleted there with --deregister only.

            Examples:

              authctl account remove work
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Flag(help: "Have the server delete the client that it registered for the account (RFC 7592).")
    var deregister = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        if deregister { return try removeWithClient(&daemon) }
        let parameters = RemoveAccount.Parameters(account: account)
        _ = try daemon.ask(.removeAccount, parameters, for: RemoveAccount.Reply.self)
        try output.print(RemoveAnswer(account: account, removed: true), or: "\(account): removed\n")
    }

    private func removeWithClient(_ daemon: inout DaemonConnection) throws(AuthctlError) {
        let reply = try daemon.ask(
            .signOut,
            SignOut.Parameters(account: account, forget: true),
            for: SignOut.Reply.self,
            patience: DaemonConnection.refreshPatience
        )
        let isRemoved = reply.steps.last.map { $0.step == "remove" && $0.outcome == "done" } ?? false
        if isRemoved { try output.print(RemoveAnswer(account: account, removed: true), or: "\(account): removed\n") }
        guard let failed = reply.steps.lazy.compactMap({ SignOutText(account: account, step: $0).error }).first else {
            return
        }
        throw failed
    }
}
