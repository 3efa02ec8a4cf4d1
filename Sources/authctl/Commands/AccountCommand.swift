internal import ArgumentParser

/// `authctl account`.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Add, show, change, move and remove accounts.",
        subcommands: [
            AccountAddCommand.self, AccountListCommand.self, AccountShowCommand.self, AccountEditCommand.self,
            AccountRenameCommand.self, AccountRemoveCommand.self, AccountImportCommand.self,
            AccountExportCommand.self, AccountResumeCommand.self,
        ]
    )
}
