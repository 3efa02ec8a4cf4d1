internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl logout`.
struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Erase an account's tokens; its settings stay.",
        discussion: """
            With --revoke the authorization server is told first (RFC 7009). If it cannot be asked now, the tokens stay, \
            so that you can try again; if it refuses, they are erased all the same. The exit status is 75 in either case.

            Examples:

              authctl logout work
              authctl logout work --revoke --forget
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Flag(help: "Revoke the grant at the authorization server.")
    var revoke = false

    @Flag(help: "Remove the account afterwards.")
    var forget = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let asked = SignOut.Parameters(account: account, revoke: revoke ? true : nil)
        let reply = try daemon.ask(.signOut, asked, for: SignOut.Reply.self, patience: DaemonConnection.refreshPatience)
        if forget {
            _ = try daemon.ask(
                .removeAccount,
                RemoveAccount.Parameters(account: account),
                for: RemoveAccount.Reply.self
            )
        }
        guard reply.revoked || !revoke else {
            let summary = reply.failure.map { Wording.joined($0.summary, $0) } ?? "the server gives no reason"
            throw .notRevoked(account: account, summary: summary)
        }
        let done = (reply.revoked ? "revoked, " : "") + "signed out" + (forget ? ", removed" : "")
        let answer = LogoutAnswer(account: account, revoked: reply.revoked, removed: forget)
        try output.print(answer, or: "\(account): \(done)\n")
    }
}
