internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// `authctl account import`.
struct AccountImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Bring in a refresh token, or a whole account from another machine.",
        usage: """
            \(InvokedAs.here) account import <account> --refresh-token-file <file>
            \(InvokedAs.here) account import [<account>] <file>
            """,
        discussion: """
            Examples:

              \(InvokedAs.here) account import work --refresh-token-file token.txt
              \(InvokedAs.here) account import work.json

            The file may hold only a refresh token, a token endpoint's answer ({"refresh_token": ...}), an export by \
            '\(InvokedAs.here) account export', or another program's JSON that also names the client: Google's \
            authorized_user file and token.json, and the token files of getmail, sasl-xoauth2 and others. An export \
            adds its account, or changes the account of that name. A file that names its client and server adds the \
            named account if it does not exist. '-' reads standard input, or asks for the account's refresh token \
            on the terminal.

            If the account's present grant may still work, it stays until the server has accepted the new one. If \
            the server refuses the new one, nothing changes, settings included, and the exit status tells why: 65, \
            75 or 78. Any other account gets the new grant at once, and the command waits for the first refresh. \
            If that refresh fails, the grant stays imported and the exit status is 3, 75 or 78. Ctrl-C ends only \
            the command, not the import.
            """
    )

    @Argument(help: "The account; an export names its own.", completion: DaemonCompletion.accounts)
    var account: String?

    @Argument(help: "What to import.", completion: .file())
    var file: String?

    @Option(help: .value("file", "A file with a refresh token for the account."), completion: .file())
    var refreshTokenFile: String?

    @Flag(help: "Do not wait for the first refresh.")
    var noWait = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        if let refreshTokenFile {
            guard let account, file == nil else {
                throw .usage(
                    "'--refresh-token-file' takes one account beside it and no other file",
                    hint: "\(Command("account", "import", "ACCOUNT", "--refresh-token-file", "FILE"))"
                )
            }
            let grant = try ImportedDocument.grant(in: refreshTokenFile, of: account)
            var daemon = try connection.connect()
            return try importGrant(grant.token, of: grant.client, into: account, &daemon)
        }
        // A single operand is the file.
        guard let name = file ?? account else {
            throw .usage("no file to import is named", hint: "see '\(Command("account", "import", "--help"))'")
        }
        try importFile(name, into: file == nil ? nil : account)
    }

    /// Imports a file.
    ///
    /// - Parameter target: the account to add or change; nil uses the name in the export.
    private func importFile(_ name: String, into target: String?) throws(Report) {
        let secret = try SecretFile(name: name, purpose: .document).read(prompt: target.map(ImportedDocument.prompt))
        switch try ImportedDocument(secret, bare: PastedText.refreshToken) {
        case .refreshToken(let token, let client):
            guard let target else {
                throw .usage(
                    "a refresh token does not say which account it belongs to",
                    hint: "\(Command("account", "import", "ACCOUNT", "--refresh-token-file", "FILE"))"
                )
            }
            var daemon = try connection.connect()
            try importGrant(token, of: client, into: target, &daemon)
        case .account(var document):
            if let target { document.settings.name = target }
            var daemon = try connection.connect()
            try importAccount(document, &daemon)
        }
    }

    /// Refuses the grant of another client or server: a server would see a refresh token that is not for it.
    ///
    /// - Throws: `document`; anything about the connection.
    private func check(
        _ client: FileClient,
        isOf account: String,
        _ daemon: inout DaemonConnection
    ) throws(Report) {
        guard let known = try daemon.settings(of: account) else { return }
        let isClient = client.id == nil || known.clientId == nil || known.clientId == client.id
        let isServer =
            known.providerSettings?["token_endpoint"] != nil
            || client.server?.agrees(withProvider: known.provider, issuer: known.issuer) ?? true
        guard !isClient || !isServer else { return }
        throw .document(
            "the refresh token in the file belongs to another \(isClient ? "server" : "client") than '\(PlainText.line(account))'",
            hint: "\(Command("account", "add", "NAME", "--refresh-token-file", "FILE"))"
        )
    }

    /// Imports a refresh token.
    ///
    /// - Parameter client: the client that the grant belongs to; nil means the account's client, as far as we know.
    private func importGrant(
        _ token: String,
        of client: FileClient?,
        into account: String,
        _ daemon: inout DaemonConnection
    ) throws(Report) {
        if let client { try check(client, isOf: account, &daemon) }
        do throws(Report) {
            let status = try daemon.ask(
                ImportGrant.Parameters(account: account, refreshToken: token),
                continuingFor: account
            ).status
            try finish(&daemon, status, done: "the grant of '\(status.account)' was imported", isRefreshing: true)
        } catch {
            guard error.isNoSuchAccount, let client, let server = client.server, client.id != nil else { throw error }
            // The file has everything that is needed for an account.
            var settings = AccountSettings(name: account, clientId: client.id) {
                $0.scopes = client.scopes
                $0.username = client.username
            }
            server.place(in: &settings)
            if settings.provider == nil { settings.redirectUri = "http://127.0.0.1/" }
            let parameters = AddAccount.Parameters(
                settings: settings,
                clientSecret: client.secret?.reveal(),
                refreshToken: token
            )
            let status = try daemon.ask(parameters).status
            try finish(&daemon, status, done: NewAccount.added(status.account), isRefreshing: true)
        }
    }

    private func importAccount(
        _ document: AccountDocument,
        _ daemon: inout DaemonConnection
    ) throws(Report) {
        let hasGrant = document.refreshToken != nil
        var settings = document.settings
        // The client is registered with its old redirect URI, not with one for a new account.
        if settings.provider == nil, settings.grantType == nil, settings.requireIss == nil {
            settings.redirectUri = settings.redirectUri ?? "http://127.0.0.1/"
        }
        let parameters = AddAccount.Parameters(
            settings: settings,
            clientSecret: document.clientSecret,
            clientKey: document.clientKey,
            dpopKey: document.dpopKey,
            refreshToken: document.refreshToken,
            registration: document.registration,
            clientSecretExpiresAtUSec: document.clientSecretExpiresAtUSec,
            // The list was set where the account comes from.
            withoutCaller: settings.hasCallerList ? true : nil
        )
        do throws(Report) {
            let status = try daemon.ask(parameters).status
            try finish(&daemon, status, done: NewAccount.added(status.account), isRefreshing: hasGrant)
        } catch {
            guard error.reply?.name == AccountExistsError.name else { throw error }
            // The key would change before the grant is proved.
            guard document.dpopKey == nil else { throw error }
            _ = try daemon.ask(document.update, continuingFor: document.settings.name)
            try tellChange(of: document.settings.name, hasGrant: hasGrant, &daemon)
        }
    }

    private func finish(
        _ daemon: inout DaemonConnection,
        _ status: AccountStatus,
        done: String,
        isRefreshing: Bool
    ) throws(Report) {
        let outcome = isRefreshing && !noWait ? try daemon.settle(status, done: done) : status
        try output.print(ImportGrant.Reply(status: outcome), or: StatusSentence.line(for: outcome))
        if outcome.knownState == .signedOut, let help = outcome.help {
            StandardError.note("next: \(help)")
        }
    }

    /// Reports that the settings were imported, and the grant, if the export has one.
    private func tellChange(
        of account: String,
        hasGrant: Bool,
        _ daemon: inout DaemonConnection
    ) throws(Report) {
        guard let status = try daemon.allStatuses(accounts: [account]).first else {
            throw .unreadableReply
        }
        guard !hasGrant else {
            return try finish(&daemon, status, done: "'\(account)' was imported", isRefreshing: true)
        }
        try output.print(
            ImportGrant.Reply(status: status),
            or: "\(account): changed; the export contains no grant\n"
        )
    }
}

extension DaemonConnection {
    /// Imports a grant. If the person interrupts the wait, the daemon continues, because the token may be spent already.
    ///
    /// - Parameter account: the account that gets the grant.
    fileprivate mutating func ask<Call: CallParameters>(
        _ call: Call,
        continuingFor account: String
    ) throws(Report) -> Call.Reply {
        let signals = CaughtSignals([SIGINT, SIGTERM, SIGHUP])
        try begin(call)
        var waits = [Self.quiet, Self.refreshPatience - Self.quiet][...]
        while true {
            if let (reply, _) = try availableReply(Call.Reply.self) { return reply }
            guard let seconds = waits.first else { throw .noAnswer(seconds: Self.refreshPatience) }
            let ready = signals.wait(for: [pollDescriptor], microseconds: Int64(seconds) * 1_000_000)
            if let number = signals.take().first {
                let name = PlainText.line(account)
                StandardError.note(
                    "the daemon continues the import of '\(name)'; for its result: \(Command("status", name))"
                )
                CaughtSignals.passOn(number)
            } else if ready.isEmpty {
                waits.removeFirst()
                if !waits.isEmpty { Self.tell(of: .server(ofAccount: account), Self.refreshPatience) }
            }
        }
    }
}

extension AccountDocument {
    /// The change that gives an existing account exactly the document's settings, so that settings missing there are
    /// cleared. There are two exceptions. A list of allowed callers, and the question before a token is given, stay if
    /// the document has none, because an import must not lift a restriction. The terms of an assertion stay if the
    /// document names no service grant.
    fileprivate var update: UpdateAccount.Parameters {
        var absent = Setting.changeable.filter { $0.change == .any && settings[$0] == nil }.map(\.name)
        absent.removeAll { ["allowedUnits", "allowedExecutables", "confirm"].contains($0) }
        if settings.grantType == nil {
            absent.removeAll { ["assertionSubject", "assertionAudience", "assertionLifetimeSec"].contains($0) }
        }
        if clientSecret == nil { absent.append("clientSecret") }
        if clientKey == nil { absent.append("clientKey") }
        var parameters = UpdateAccount.Parameters(
            account: settings.name,
            clear: absent,
            clientSecret: clientSecret,
            clientKey: clientKey,
            refreshToken: refreshToken,
            withoutCaller: settings.hasCallerList ? true : nil
        )
        parameters.settings = settings
        parameters.settings.variables = settings.provider == nil ? nil : settings.variables ?? [:]
        return parameters
    }
}

extension ImportedDocument {
    /// Asks for the refresh token of `account` on the terminal.
    static func prompt(for account: String) -> String { "Refresh token of '\(PlainText.line(account))': " }

    /// The refresh token in the file of `--refresh-token-file`, and its client if the file names it.
    ///
    /// - Throws: why the file cannot be read or used; `cancelled`.
    static func grant(in file: String, of account: String) throws(Report) -> (token: String, client: FileClient?) {
        let secret = try SecretFile(name: file, purpose: .refreshToken).read(prompt: prompt(for: account))
        switch try ImportedDocument(secret, bare: PastedText.refreshToken) {
        case .refreshToken(let token, let client): return (token, client)
        case .account:
            throw .document(
                "the file contains an account's export, not a refresh token",
                hint: "\(Command("account", "import", "FILE"))"
            )
        }
    }
}
