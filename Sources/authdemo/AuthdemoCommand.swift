internal import ArgumentParser

/// The command `authdemo`: it runs the daemon with its own authorization server, and shows what happens.
@main
struct AuthdemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authdemo",
        abstract: "Shows authrefreshd at work, with an authorization server on this machine.",
        subcommands: [RunCommand.self, IssuerCommand.self]
    )
}
