internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl account link-token-file`.
struct AccountLinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link-token-file",
        abstract: "Make a link to an account's token file where a program looks for one.",
        discussion: """
            Examples:

              \(InvokedAs.here) account link-token-file work $XDG_RUNTIME_DIR/bt_u$(id -u)
              \(InvokedAs.here) account link-token-file work $XDG_RUNTIME_DIR/bt_u$(id -u) --remove

            The account needs a token file: '\(InvokedAs.here) account edit ACCOUNT --token-file'. The command makes the \
            link now, and writes settings to ~/.config/user-tmpfiles.d that make it at each log-in. It replaces \
            nothing that exists already. --remove removes the link and the settings.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Argument(help: "Where to make the link: an absolute path.", completion: .file())
    var path: String

    @Flag(help: "Remove the link and its settings.")
    var remove = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .usage("the link's path must be absolute, on one line", hint: "begin the path with '/'")
        }
        var daemon = try connection.connect()
        guard let file = try daemon.allStatuses(accounts: [account]).first?.tokenFile else {
            throw .usage(
                "'\(PlainText.line(account))' has no token file",
                hint: "\(Command("account", "edit", PlainText.line(account), "--token-file"))"
            )
        }
        let link = TokenFileLink(
            account: account,
            path: path,
            target: file.path,
            environment: Surroundings.real.environment
        )
        if remove { try link.remove() } else { try link.make() }
        let answer = ["path": path, "target": file.path, "settings": try link.settings]
        let text = remove ? "removed '\(path)'\n" : "'\(path)' leads to '\(file.path)', now and after each log-in\n"
        try output.print(answer, or: text)
    }
}
