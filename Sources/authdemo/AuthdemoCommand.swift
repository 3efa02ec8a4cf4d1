internal import ArgumentParser

/// The command `authdemo`: it runs the daemon with its own authorization server, and shows what happens.
@main
struct AuthdemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authdemo",
        abstract: "Shows authrefreshd at work, with an authorization server on this machine.",
        discussion: """
            Examples:

              authdemo run
              authdemo run --once
              authdemo issuer --port 8080
            """,
        subcommands: [RunCommand.self, IssuerCommand.self]
    )
}
