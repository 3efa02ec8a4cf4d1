internal import ArgumentParser
internal import AuthRefreshInterface
internal import Glibc
internal import Terminal

/// `authctl callback`.
struct CallbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "callback",
        abstract: "Hand the address that a browser ended on to the sign-in that it belongs to.",
        discussion: """
            The desktop calls it for the URI scheme of 'authctl login --flow scheme'. The 'state' in the address says which \
            sign-in it belongs to; an address that belongs to none is refused. What comes of it is told by the 'authctl login' that \
            waits.

            The code in the address is good for one exchange, and for nobody but the daemon that asked for it. Other users can \
            read what programs are started with: the address is wiped from there at once, and '-' reads it from standard \
            input instead.

            Exit status: 65 if no sign-in under way has this state.

            Examples:

              authctl callback 'com.example.app:/callback?code=...&state=...'
            """
    )

    @Argument(help: "The whole address, or '-'.")
    var url: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        Self.wipeArguments()
        let address = url == "-" ? try SecretFile(name: url, purpose: .redirect).readLine(prompt: Self.prompt) : nil
        var daemon = try connection.connect()
        let reply = try daemon.ask(
            .continueSignIn,
            ContinueSignIn.Parameters(redirect: address?.reveal() ?? url),
            for: ContinueSignIn.Reply.self
        )
        try output.print(reply, or: "\(PlainText.line(reply.account)): the answer was handed on\n")
    }

    /// Takes the address from where every user of this machine can read it (proc(5)), for as long as the daemon takes to answer.
    ///
    /// A desktop entry has no other way to hand an address on, and those who called us have shown it already, for a moment.
    private static func wipeArguments() {
        for index in 1..<Int(CommandLine.argc) {
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return }
            unsafe memset(argument, Int32(UInt8(ascii: "x")), strlen(argument))
        }
    }

    private static let prompt = "address that the browser ended on: "
}
