internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account rename`.
struct AccountRenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Give an account another name; its tokens stay.",
        discussion: """
            Examples:

              authctl account rename work you@example.org
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Argument(help: "Its new name: letters, digits and ._@+-")
    var newName: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        let parameters = RenameAccount.Parameters(account: account, newName: newName)
        do throws(AuthctlError) {
            _ = try daemon.ask(.renameAccount, parameters, for: RenameAccount.Reply.self)
        } catch {
            guard case .refused(let refusal) = error, refusal.name == AccountExistsError.name else { throw error }
            throw .nameTaken(refusal)
        }
        try output.print(
            RenameAnswer(account: newName, previousName: account),
            or: "\(newName): renamed from \(account)\n"
        )
    }
}
