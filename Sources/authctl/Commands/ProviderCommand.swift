internal import ArgumentParser

/// `authctl provider`.
struct ProviderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider",
        abstract: "Show the provider profiles that the daemon knows.",
        discussion: """
            A profile holds what has to be known about a provider beyond its metadata: a YAML file in providers.d, \
            installed for all users or in ~/.config/authrefreshd. 'authctl account add --provider NAME' refers to it.
            """,
        subcommands: [ProviderListCommand.self, ProviderShowCommand.self, ProviderDiscoverCommand.self]
    )
}
