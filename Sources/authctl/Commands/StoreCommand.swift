internal import ArgumentParser

/// `authctl store`.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Look after the daemon's store.",
        subcommands: [
            StoreBackupCommand.self, StoreCheckCommand.self, StoreRekeyCommand.self, StoreRestoreCommand.self,
        ]
    )
}
