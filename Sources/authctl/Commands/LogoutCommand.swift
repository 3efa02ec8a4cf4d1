internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl logout`.
struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Erase an account's tokens; its settings stay.",
        discussion: """
            With --revoke the authorization server is told first (RFC 7009). If it does not confirm, the tokens are \
            erased all the same, and the exit status is 75.
            """
    )

    @Argument(help: "The account.")
    var account: String

    @Flag(help: "Revoke the grant at the authorization server.")
    var revoke = false

    @Flag(help: "Remove the account afterwards.")
    var forget = false

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
        try StandardOutput.write("\(account): \(done)\n")
    }
}
