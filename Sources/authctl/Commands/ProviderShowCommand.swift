internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl provider show`.
struct ProviderShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show all that a provider profile says.",
        discussion: """
            Examples:

              authctl provider show google
            """
    )

    @Argument(help: "The provider.", completion: DaemonCompletion.providers)
    var provider: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let reply = try daemon.ask(.listProviders, ListProviders.Parameters(), for: ListProviders.Reply.self)
        guard let found = reply.providers.first(where: { $0.name == provider }) else {
            let names = reply.providers.map(\.name)
            throw .usage(
                message: "the daemon knows no provider '\(provider)'",
                hint: names.isEmpty ? "no profile is installed" : "known: \(names.joined(separator: ", "))"
            )
        }
        try output.print(ProviderAnswer(provider: found), or: ProviderView(provider: found).text)
    }
}
