internal import ArgumentParser

/// The command `authdemo`: it shows the daemon at work with its own authorization server.
@main
struct AuthdemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authdemo",
        abstract: "Shows authrefreshd at work, with an authorization server on this machine.",
        subcommands: [RunCommand.self, IssuerCommand.self]
    )
}
