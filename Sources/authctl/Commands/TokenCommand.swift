internal import ArgumentParser

/// `authctl token`.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a valid access token.",
        discussion: """
            Answers from the stored token if it is valid for long enough; otherwise waits for one refresh, which all \
            callers share. A token that is still valid is handed out even if refreshing fails.

              authctl token work
              curl -H "$(authctl token work --format header)" https://api.example.com/

            --format json prints {"accessToken": …, "expiresAtUSec": µs since 1970, "tokenType": …}.
            """
    )

    @Argument(help: "The account.")
    var account: String

    @Option(help: ArgumentHelp("How long the token must still be valid: 60s, 5m, 1h.", valueName: "time"))
    var minValidity: LengthOfTime?

    @Flag(help: "Refresh even if the token is valid.")
    var force = false

    @Option(help: "How to print it.")
    var format = TokenFormat.raw

    @OptionGroup var connection: ConnectionOptions

    /// The same value that `TokenArguments` makes of these arguments.
    var request: TokenRequest {
        TokenRequest(
            account: account,
            minimumValidity: minValidity?.seconds,
            force: force,
            format: format,
            socket: connection.socket
        )
    }

    func run() throws(AuthctlError) {
        try StandardOutput.write(request.answer())
    }
}
