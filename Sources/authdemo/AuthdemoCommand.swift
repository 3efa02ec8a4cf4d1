internal import ArgumentParser

/// `authdemo`: shows the daemon at work against an authorization server of our own.
@main
struct AuthdemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authdemo",
        abstract: "Shows authrefreshd at work, with an authorization server on this machine.",
        subcommands: [RunCommand.self, IssuerCommand.self]
    )
}
