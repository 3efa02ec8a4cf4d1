internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl provider`.
struct ProviderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider",
        abstract: "Show the provider profiles that the daemon knows.",
        discussion: """
            Examples:

              \(InvokedAs.here) provider list
              \(InvokedAs.here) provider show google

            A profile is a YAML file. It tells the daemon what a provider does not publish about itself. The files are \
            in a folder providers.d, installed for all users or in ~/.config/authrefreshd. '\(InvokedAs.here) account add \
            --provider NAME' uses one.
            """,
        subcommands: [ProviderListCommand.self, ProviderShowCommand.self, ProviderDiscoverCommand.self]
    )
}

/// `authctl provider list`.
struct ProviderListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the provider profiles.",
        discussion: """
            Examples:

              \(InvokedAs.here) provider list

            If a profile has no issuer, each account names its own: a tenant or a realm, for example.
            """
    )

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        let reply = try daemon.ask(ListProviders.Parameters())
        try output.print(reply, or: Self.text(reply.providers))
    }

    private static func text(_ providers: [ProviderDescription]) -> String {
        guard !providers.isEmpty else { return "no provider profiles\n" }
        var table = TextTable(header: ["PROVIDER", "ISSUER", "FILE"], cuttable: [2, 1, 0])
        table.rows = providers.map { provider in
            [provider.name, provider.issuer ?? "-", provider.path].map { TextTable.Cell(text: PlainText.line($0)) }
        }
        return table.render(.standardOutput)
    }
}

/// `authctl provider show`.
struct ProviderShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one provider profile.",
        discussion: """
            Examples:

              \(InvokedAs.here) provider show google

            It prints the profile's file, with its comments. provider-profile.yaml(5) describes the keys.
            """
    )

    @Argument(help: "The provider.", completion: DaemonCompletion.providers)
    var provider: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        let reply = try daemon.ask(ListProviders.Parameters())
        let found = try reply.provider(named: provider)
        let text = found.text ?? ""
        let end = text.isEmpty || text.hasSuffix("\n") ? "" : "\n"
        try output.print(["provider": found], or: "# \(PlainText.line(found.path))\n\(text)\(end)")
    }
}

extension ListProviders.Reply {
    /// The profile of this name.
    ///
    /// - Throws: `usage` with the name that may be meant.
    func provider(named name: String) throws(Report) -> ProviderDescription {
        if let found = providers.first(where: { $0.name == name }) { return found }
        let names = providers.map(\.name)
        let nearest = Spelling.nearest(to: name, in: names)
        let meant = nearest.map { "did you mean '\($0)'? " } ?? ""
        throw .usage(
            "the daemon knows no provider '\(PlainText.line(name))'",
            hint: names.isEmpty ? "no profile is installed" : "\(meant)known: \(names.joined(separator: ", "))"
        )
    }
}

/// `authctl provider discover`.
struct ProviderDiscoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Ask a server what it supports, and print a provider profile for it.",
        discussion: """
            Examples:

              \(InvokedAs.here) provider discover https://sso.example.org > work.yaml

            authctl makes a file for ~/.config/authrefreshd/providers.d from what the server publishes (OpenID \
            Connect Discovery, RFC 8414), with comments on what it found. Most servers need no profile: '\(InvokedAs.here) \
            account add --issuer URL' is enough.

            Exit status: 65 if the server publishes nothing, or describes another server; 75 if it cannot be \
            reached or has a failure.
            """
    )

    @Argument(help: "The issuer's URL, or another URL on its host.")
    var url: String

    @Option(help: .value("name", "The profile's name. Default: made from the host's name."))
    var name: String?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        let reply = try daemon.ask(
            DiscoverProvider.Parameters(url: url, name: name),
            patience: DaemonConnection.refreshPatience,
            waitingFor: "the server at '\(url)'"
        )
        try output.print(reply, or: reply.profile)
    }
}
