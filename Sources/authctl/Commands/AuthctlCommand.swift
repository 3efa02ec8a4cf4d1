internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl`: the root of all commands.
struct AuthctlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: InvokedAs.here.name,
        abstract: "Ask authrefreshd for fresh OAuth tokens, and look after its accounts.",
        discussion: """
            Examples:

              \(InvokedAs.here) login work --provider google
              \(InvokedAs.here) token work
              \(InvokedAs.here) status

            Sign in once. From then on the daemon refreshes the account, and programs ask authctl for a valid \
            access token.

            Standard output contains only the answer. With --json the answer is JSON, and so are errors, warnings \
            and notes on standard error, one object a line.

            --socket PATH names another daemon's socket for every command.

            Environment: AUTHREFRESH_SOCKET names another daemon's socket, as --socket does. NO_COLOR switches \
            colours off.

            Exit status: 0 done, 3 a person must act, 4 no such account, 5 signed out, 64 wrong arguments, 65 bad \
            data, 69 no daemon, 75 try again later, 77 not permitted, 78 misconfigured, 130 cancelled.
            """,
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Every day",
                subcommands: [
                    StatusCommand.self, TokenCommand.self, RefreshCommand.self, WatchCommand.self, HistoryCommand.self,
                ]
            ),
            CommandGroup(
                name: "Accounts",
                subcommands: [AccountCommand.self, ApplyCommand.self, ImportCommand.self, ProviderCommand.self]
            ),
            CommandGroup(
                name: "Sign-in",
                subcommands: [
                    LoginCommand.self, LogoutCommand.self, ChallengeCommand.self, CallbackCommand.self,
                    WebSessionCommand.self,
                ]
            ),
            CommandGroup(
                name: "Tools",
                subcommands: [
                    ExecCommand.self, GitCredentialCommand.self, DockerCredentialCommand.self,
                    BazelCredentialCommand.self, KeyringCredentialCommand.self, KubeCredentialCommand.self,
                    KubeconfigCommand.self, GoogleExecutableCommand.self,
                    GoogleConfigCommand.self, ForwardCommand.self, MetricsCommand.self,
                ]
            ),
            CommandGroup(
                name: "Care",
                subcommands: [
                    DoctorCommand.self, StoreCommand.self, AgentCommand.self, InterfaceCommand.self,
                    VersionCommand.self,
                ]
            ),
        ]
    )
}

/// The options of all commands that connect to the daemon.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: .value("path", "The daemon's socket. Default: AUTHREFRESH_SOCKET, else this user's."),
        completion: .file()
    )
    var socket: String?

    func connect() throws(Report) -> DaemonConnection {
        try DaemonConnection(socket: socket)
    }

    /// `name`; or, if that is nil and a person typed the command, the only account. A script must name its account,
    /// because without a name it would fail or mean another account as soon as there is a second one.
    ///
    /// - Throws: `usage` if there is not exactly one account.
    func account(named name: String?) throws(Report) -> String {
        if let name { return name }
        guard StandardInput.isTerminal else {
            throw .usage("the account's name is missing", hint: "\(Command("account", "list"))")
        }
        var daemon = try connect()
        let page = try daemon.ask(GetStatus.Parameters())
        let names = page.accounts.map(\.account)
        guard let only = names.first else {
            throw .usage("there are no accounts", hint: "\(StatusView.firstLogin)")
        }
        guard names.count == 1, page.next == nil else {
            let shown = names.prefix(10).map(PlainText.line).joined(separator: ", ")
            let rest = names.count > 10 || page.next != nil ? ", …" : ""
            throw .usage(
                "the account's name is missing, and there are several accounts",
                hint: "one of: \(shown + rest)"
            )
        }
        return only
    }
}

/// The options of all commands with output for programs.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON for programs; errors too, on standard error.")
    var json = false

    /// Prints the result of a command.
    ///
    /// - Parameter text: the lines for people, each with a newline.
    func print(_ object: some Encodable, or text: @autoclosure () -> String) throws(Report) {
        if json {
            try StandardOutput.write(PlainText.json(StampedJSON.text(WireText.encodeIndented(object))) + "\n")
        } else {
            try StandardOutput.show(text())
        }
    }

    /// Prints one of several results that a command gives over time, on one line.
    func printLine(_ object: some Encodable, or text: @autoclosure () -> String) throws(Report) {
        // Each line is one write, so that an interrupt never leaves half a line.
        if json {
            try StandardOutput.write(PlainText.json(StampedJSON.text(WireText.encode(object))) + "\n")
        } else {
            try StandardOutput.show(text())
        }
    }
}

extension ArgumentHelp {
    /// The help of an option, behind the name of its value.
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}
