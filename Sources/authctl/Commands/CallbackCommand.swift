internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl callback`.
struct CallbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "callback",
        abstract: "Pass the address that a browser ended on to the sign-in that waits for it.",
        discussion: """
            Examples:

              \(InvokedAs.here) callback 'com.example.app:/callback?code=...&state=...'

            The desktop runs this command for the URI schemes of '\(InvokedAs.here) login --flow scheme' and '\(InvokedAs.here) \
            web-session', and for addresses that your own web page passes on. The 'state' in the address \
            identifies the sign-in; the address itself identifies a web session. An address that matches neither \
            is refused. The command that waits prints the result.

            Only the daemon that asked for the code in the address can use it, and only once. Other users can read \
            the arguments of a program, so authctl wipes the address from its arguments at once; '-' reads it from \
            standard input instead.

            Exit status: 65 if neither a sign-in nor a web session waits for this address.
            """
    )

    @Argument(help: "The whole address, or '-'.")
    var url: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        ProgramArguments.wipe()
        let address = url == "-" ? try SecretFile(name: url, purpose: .redirect).readLine(prompt: Self.prompt) : nil
        var daemon = try connection.connect()
        let reply = try daemon.ask(ContinueSignIn.Parameters(redirect: address?.reveal() ?? url))
        let whose = reply.account.isEmpty ? "web-session" : PlainText.line(reply.account)
        try output.print(reply, or: "\(whose): the answer was handed on\n")
    }

    private static let prompt = "address that the browser ended on: "
}
