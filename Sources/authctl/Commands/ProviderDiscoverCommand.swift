internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl provider discover`.
struct ProviderDiscoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Look at a server, and print a provider profile for it.",
        discussion: """
            What the server publishes (OpenID Connect Discovery, RFC 8414) becomes a file for \
            ~/.config/authrefreshd/providers.d, with comments on what was found. Most servers need no profile: \
            'authctl account add --issuer URL' is enough.

            Exit status: 65 nothing is published there, or for another server; 75 the server cannot be reached, or cannot \
            serve now.

            Examples:

              authctl provider discover https://sso.example.org > work.yaml
            """
    )

    @Argument(help: "The issuer's URL, or another of its host.")
    var url: String

    @Option(help: ArgumentHelp("What the profile is called. Default: made of the host's name.", valueName: "name"))
    var name: String?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let reply = try daemon.ask(
            .discoverProvider,
            DiscoverProvider.Parameters(url: url, name: name),
            for: DiscoverProvider.Reply.self,
            patience: DaemonConnection.refreshPatience
        )
        try output.print(reply, or: reply.profile)
    }
}
