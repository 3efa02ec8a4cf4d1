internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl account`.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Add, show, change, move and remove accounts.",
        discussion: """
            Examples:

              \(InvokedAs.here) account list
              \(InvokedAs.here) account add work --provider google
              \(InvokedAs.here) account show work
            """,
        subcommands: [
            AccountAddCommand.self, AccountListCommand.self, AccountShowCommand.self, AccountEditCommand.self,
            AccountRenameCommand.self, AccountRemoveCommand.self, AccountImportCommand.self,
            AccountExportCommand.self, AccountResumeCommand.self, AccountLinkCommand.self,
        ]
    )
}

/// `authctl account list`.
struct AccountListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the accounts and how they are set up.",
        discussion: """
            Examples:

              \(InvokedAs.here) account list
              \(InvokedAs.here) account list --json | jq -r '.accounts[].name'
              \(InvokedAs.here) account list --person jane@example.org
            """
    )

    @Option(
        help: .value(
            "name",
            "Only the accounts of this person: a user name, an e-mail address, a name, the server's identifier, or a home (tenant)."
        )
    )
    var person: String?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        var all = try daemon.allSettings(accounts: [])
        if let person { all = all.only(of: person) }
        let isEmpty = all.accounts.isEmpty && all.damaged == nil
        try output.print(all, or: isEmpty ? StatusView.noAccounts + "\n" : Self.text(all))
        if isEmpty, person == nil { StandardError.note(StatusView.firstAccount) }
    }

    private static func text(_ all: ListAccounts.Reply) -> String {
        let damaged = all.damaged ?? []
        // Show this column only if a server has sent a name.
        let people = all.people.map { people in { people[$0]?.best ?? people[$0]?.subject ?? "-" } }
        var table = TextTable(
            header: ["ACCOUNT", "ISSUER", "CLIENT ID", "SCOPE"] + (people == nil ? [] : ["SIGNED IN AS"]),
            cuttable: [3, 2, 1, 0]
        )
        table.rows = all.accounts.map { settings in
            let cells = [
                settings.name, settings.provider ?? settings.issuer ?? "-", settings.clientId ?? "-",
                settings.scopes?.joined(separator: " ") ?? "-",
            ]
            return (cells + (people.map { [$0(settings.name)] } ?? [])).map { TextTable.Cell(text: PlainText.line($0)) }
        }
        table.rows += damaged.map { status in
            let cells = [status.account, status.issuer.isEmpty ? "-" : status.issuer, status.state, "-"]
            return (cells + (people == nil ? [] : ["-"])).map { TextTable.Cell(text: PlainText.line($0), colour: .red) }
        }
        table.rows.sort { $0[0].text.utf8.lexicographicallyPrecedes($1[0].text.utf8) }
        let notes = damaged.compactMap { StatusNote($0, .now)?.render(.standardOutput) }.map { "\n" + $0 }
        return table.render(.standardOutput) + notes.joined()
    }
}

extension ListAccounts.Reply {
    /// The accounts that a person is signed in to. Names are compared ignoring case, identifiers byte by byte.
    fileprivate func only(of person: String) -> ListAccounts.Reply {
        let wanted = person.lowercased()
        let people = (people ?? [:]).filter { _, known in
            known.subject == person
                || [known.username, known.email, known.name, known.tenant].contains { $0?.lowercased() == wanted }
        }
        let accounts = accounts.filter { people[$0.name] != nil }
        return ListAccounts.Reply(accounts: accounts, people: people.isEmpty ? nil : people)
    }
}

/// `authctl account show`.
struct AccountShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one account: settings and state, no secrets.",
        discussion: """
            Examples:

              \(InvokedAs.here) account show work
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        let settings = try daemon.allSettings(accounts: [account]).accounts.first
        let status = try daemon.allStatuses(accounts: [account]).first
        guard settings != nil || status != nil else { throw .unreadableReply }
        try output.print(
            ["settings": settings, "status": status] as Answer,
            or: SettingsView(settings: settings, status: status, time: .now).text
        )
    }
}

/// `authctl account rename`.
struct AccountRenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Give an account another name; its tokens stay.",
        discussion: """
            Examples:

              \(InvokedAs.here) account rename work you@example.org
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Argument(help: "Its new name: letters, digits and ._@+-")
    var newName: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        let parameters = RenameAccount.Parameters(account: account, newName: newName)
        do throws(Report) {
            // The person may be asked first.
            _ = try daemon.ask(parameters, patience: DaemonConnection.refreshPatience)
        } catch {
            guard error.reply?.name == AccountExistsError.name else { throw error }
            // The hints of the reply would be about the account that has the name.
            var taken = error
            taken.hints = ["choose another name; those in use: \(Command("account", "list"))"]
            throw taken
        }
        let answer = ["account": newName, "previousName": account]
        try output.print(answer, or: "\(newName): renamed from \(account)\n")
    }
}

/// `authctl account remove`.
struct AccountRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an account and its tokens.",
        discussion: """
            Examples:

              \(InvokedAs.here) account remove work

            This does not revoke the grant at the authorization server; '\(InvokedAs.here) logout --revoke --forget' does. A \
            client that '\(InvokedAs.here) account add --register' registered is deleted at the server only with \
            --deregister. The command asks before a grant is lost. Without a terminal nobody can answer, so it needs \
            --yes then.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Flag(help: "Ask the server to delete the client that it registered for the account (RFC 7592).")
    var deregister = false

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        try confirm(&daemon)
        if deregister { return try removeWithClient(&daemon) }
        let parameters = RemoveAccount.Parameters(account: account)
        // The person may be asked first.
        _ = try daemon.ask(parameters, patience: DaemonConnection.refreshPatience)
        try printRemoved()
    }

    private func printRemoved() throws(Report) {
        try output.print(["account": account, "removed": true] as Answer, or: "\(account): removed\n")
    }

    /// Asks for confirmation.
    ///
    /// - Throws: `cancelled` if a person is there and says no; `usage` if nobody can be asked.
    private func confirm(_ daemon: inout DaemonConnection) throws(Report) {
        guard !yes else { return }
        let status = try daemon.allStatuses(accounts: [account]).first
        guard let status, status.state != "signed-out" else { return }
        // The daemon refuses to end a grant that another machine may use, and says so.
        if deregister, status.state == "parked" { return }
        let loss = "'\(PlainText.line(account))' has a grant, which will be lost"
        guard Question.canBeAsked else {
            let words = deregister ? ["--deregister", "--yes"] : ["--yes"]
            throw .usage(loss, hint: Hint(Command(words: ["account", "remove", account] + words)))
        }
        let question = "\(loss). Remove the account?"
        guard try Question.confirm(question) else { throw .cancelled }
    }

    private func removeWithClient(_ daemon: inout DaemonConnection) throws(Report) {
        let reply = try daemon.ask(
            SignOut.Parameters(account: account, revokeParked: yes ? true : nil, forget: true),
            patience: DaemonConnection.refreshPatience,
            waitingFor: DaemonConnection.server(of: account)
        )
        let isRemoved = reply.steps.last.map { $0.step == "remove" && $0.outcome == "done" } ?? false
        if isRemoved { try printRemoved() }
        guard let failed = reply.steps.lazy.compactMap({ $0.error(of: account) }).first else {
            return
        }
        throw failed
    }
}

/// `authctl account resume`.
struct AccountResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Use a parked account here again.",
        discussion: """
            Examples:

              \(InvokedAs.here) account resume work
              \(InvokedAs.here) account resume --all

            An account is parked after 'account export --move', and if its store came from another machine: with a \
            backup, a copied home folder, or a cloned machine. This command refreshes the grant at once, to check \
            that it still works here. Do this only if no other machine uses the grant: a server that rotates \
            refresh tokens revokes a grant that two machines use.

            --all resumes the accounts whose store came from another machine, but none that was exported.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String?

    @Flag(help: "Resume all accounts that are parked because the store came from another machine.")
    var all = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard all != (account != nil) else { throw ValidationError("name an account, or use '--all'") }
    }

    func run() throws(Report) {
        var daemon = try connection.connect()
        if let account { return try resume(account, &daemon) }
        var worst = ExitStatus.success
        let parked = try daemon.allStatuses(accounts: []).filter { $0.state == "parked" && $0.reason == "otherMachine" }
        if parked.isEmpty {
            StandardError.note(
                "no account is parked because its store came from another machine: \(Command("status"))"
            )
        }
        for status in parked {
            do throws(Report) {
                try resume(status.account, &daemon)
            } catch {
                guard error.isOutcome else { throw error }
                StandardError.tell(error)
                worst = .worst(worst, error.status)
            }
        }
        guard worst == .success else { throw .reported(worst) }
    }

    private func resume(_ account: String, _ daemon: inout DaemonConnection) throws(Report) {
        let status = try daemon.ask(ResumeAccount.Parameters(account: account), refreshing: account).status
        guard status.refreshExitStatus == .success else { throw .notFresh(status) }
        let reply = ResumeAccount.Reply(status: status)
        if all {
            try output.printLine(reply, or: StatusSentence.line(for: status))
        } else {
            try output.print(reply, or: StatusSentence.line(for: status))
        }
    }
}
