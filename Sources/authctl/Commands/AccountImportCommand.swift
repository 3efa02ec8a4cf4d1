internal import ArgumentParser
internal import AuthRefreshInterface
internal import Terminal

/// `authctl account import`.
struct AccountImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Bring in a refresh token, or a whole account from another machine.",
        usage: """
            authctl account import <account> --refresh-token-file <file>
            authctl account import [<account>] <file>
            """,
        discussion: """
            Examples:

              authctl account import work --refresh-token-file token.txt
              authctl account import work.json

            The file may hold only a refresh token, a token endpoint's answer ({"refresh_token": ...}), Google's \
            authorized_user file, or an export by 'authctl account export'. An export adds its account, or changes \
            the account of that name. Google's file adds the named account if it does not exist. '-' reads \
            standard input, or asks for the account's refresh token on the terminal.

            If the account's present grant may still work, it stays until the server has accepted the new one. If \
            the server refuses the new one, nothing changes, settings included, and the exit status tells why: 65, \
            75 or 78. Any other account gets the new grant at once, and the command waits for the first refresh. \
            If that refresh fails, the grant stays imported and the exit status is 3, 75 or 78.
            """
    )

    @Argument(help: "The account; an export names its own.", completion: DaemonCompletion.accounts)
    var account: String?

    @Argument(help: "What to import.", completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp("A file with a refresh token for the account.", valueName: "file"),
        completion: .file()
    )
    var refreshTokenFile: String?

    @Flag(help: "Do not wait for the first refresh.")
    var noWait = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        if let refreshTokenFile {
            guard let account, file == nil else {
                throw .usage(.oneAccountBesideTokenFile)
            }
            let grant = try GrantFile(name: refreshTokenFile, account: account).read()
            var daemon = try connection.connect()
            return try importGrant(grant.token, of: grant.client, into: account, &daemon)
        }
        // A single operand is the file.
        guard let name = file ?? account else {
            throw .usage(.noFileToImport)
        }
        try importFile(name, into: file == nil ? nil : account)
    }

    /// - Parameter target: the account to make or change; nil lets an export name its own.
    private func importFile(_ name: String, into target: String?) throws(AuthctlError) {
        let secret = try SecretFile(name: name, purpose: .document)
            .read(prompt: target.map { Prompt.refreshToken(of: PlainText.line($0)) })
        switch try ImportedDocument(secret) {
        case .refreshToken(let token, let client):
            guard let target else {
                throw .usage(.tokenWithoutAccount)
            }
            var daemon = try connection.connect()
            try importGrant(token, of: client, into: target, &daemon)
        case .account(var document):
            if let target { document.settings.name = target }
            var daemon = try connection.connect()
            try importAccount(document, &daemon)
        }
    }

    /// - Parameter client: whose grant it is; nil: the account's, as far as anybody knows.
    private func importGrant(
        _ token: String,
        of client: FileClient?,
        into account: String,
        _ daemon: inout DaemonConnection
    ) throws(AuthctlError) {
        do throws(AuthctlError) {
            let status = try daemon.ask(
                .importGrant,
                ImportGrant.Parameters(account: account, refreshToken: token),
                for: ImportGrant.Reply.self,
                patience: DaemonConnection.refreshPatience,
                waitingFor: DaemonConnection.server(of: account)
            ).status
            try finish(&daemon, status, done: AccountText.grantImported(status.account), isRefreshing: true)
        } catch {
            guard error.isNoSuchAccount, let client else { throw error }
            // Google's file has all that an account of Google's is made of.
            let settings = AccountSettings(name: account) {
                $0.provider = "google"
                $0.clientId = client.id
            }
            let parameters = AddAccount.Parameters(
                settings: settings,
                clientSecret: client.secret?.reveal(),
                refreshToken: token
            )
            let status = try daemon.ask(.addAccount, parameters, for: AddAccount.Reply.self).status
            try finish(&daemon, status, done: AccountText.added(status.account), isRefreshing: true)
        }
    }

    private func importAccount(
        _ document: AccountDocument,
        _ daemon: inout DaemonConnection
    ) throws(AuthctlError) {
        let hasGrant = document.refreshToken != nil
        var settings = document.settings
        // Its client is registered with the redirect URI that it has had until now, not with one for a new account.
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
            clientSecretExpiresAtUSec: document.clientSecretExpiresAtUSec
        )
        do throws(AuthctlError) {
            let status = try daemon.ask(.addAccount, parameters, for: AddAccount.Reply.self).status
            try finish(&daemon, status, done: AccountText.added(status.account), isRefreshing: hasGrant)
        } catch {
            guard case .refused(let refusal) = error, refusal.name == AccountExistsError.name else { throw error }
            // The key would be another one's before the grant is proved.
            guard document.dpopKey == nil else { throw error }
            _ = try daemon.ask(
                .updateAccount,
                document.update,
                for: UpdateAccount.Reply.self,
                patience: DaemonConnection.refreshPatience,
                waitingFor: DaemonConnection.server(of: document.settings.name)
            )
            try tellChange(of: document.settings.name, hasGrant: hasGrant, &daemon)
        }
    }

    private func finish(
        _ daemon: inout DaemonConnection,
        _ status: AccountStatus,
        done: String,
        isRefreshing: Bool
    ) throws(AuthctlError) {
        let outcome = isRefreshing && !noWait ? try daemon.settle(status, done: done) : status
        try output.print(ImportGrant.Reply(status: outcome), or: RefreshOutcome.line(for: outcome))
        if outcome.knownState == .signedOut, let hint = outcome.hint { StandardError.note(.next(hint)) }
    }

    /// The settings were taken over, and the grant, too, if the export had one.
    private func tellChange(
        of account: String,
        hasGrant: Bool,
        _ daemon: inout DaemonConnection
    ) throws(AuthctlError) {
        guard let status = try daemon.allStatuses(accounts: [account]).first else {
            throw .connection(.unreadableReply)
        }
        guard !hasGrant else {
            return try finish(&daemon, status, done: AccountText.imported(account), isRefreshing: true)
        }
        try output.print(ImportGrant.Reply(status: status), or: AccountText.changedOnly(account))
    }
}

extension AccountDocument {
    /// Makes an existing account what the document says, settings that it leaves out included. But a list of allowed callers, and the
    /// question before a token is given, stay where the document has none, for nobody lifts one by the way; and the terms of an assertion stay if it names no service grant.
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
            refreshToken: refreshToken
        )
        parameters.settings = settings
        parameters.settings.variables = settings.provider == nil ? nil : settings.variables ?? [:]
        return parameters
    }
}

/// What `account export` writes and `account import` reads: an account with its secrets, as JSON.
struct AccountDocument: Codable {
    /// Names the kind of document and its version; a reader refuses what it does not know.
    static let currentFormat = "authrefresh-account/1"

    var format = Self.currentFormat
    var settings: AccountSettings
    /// Nil: a public client.
    var clientSecret: String?
    /// Nil: the client has none.
    var clientKey: String?
    /// Nil: the account's tokens are bound to no key.
    var dpopKey: String?
    /// Nil: the account is signed out.
    var refreshToken: String?
    /// Nil: the client was registered by hand.
    var registration: ManagedRegistration?
    /// µs since 1970. Nil: the client secret does not end, or nobody knows.
    var clientSecretExpiresAtUSec: Int64?
}

/// What a file given to `account import` holds.
enum ImportedDocument {
    case account(AccountDocument)
    /// A refresh token, bare or in a token endpoint's answer; or in Google's file `authorized_user`, which names its client.
    case refreshToken(String, FileClient?)

    /// Tells the kinds apart: JSON begins with a brace, which no server has been seen to begin a token with.
    ///
    /// - Throws: `unusableDocument`, without the content.
    init(_ secret: SecretText) throws(AuthctlError) {
        let text = secret.reveal()
        guard text.drop(while: \.isWhitespace).first == "{" else {
            if let flaw = RefreshTokenText.flaw(in: text) {
                throw .unusableDocument(.noRefreshToken(content: flaw.rawValue))
            }
            self = .refreshToken(text, nil)
            return
        }
        switch GoogleFile(text) {
        case .client: throw .unusableDocument(.isClient)
        case .serviceAccountKey: throw .unusableDocument(.isServiceAccountKey)
        case .authorizedUser(let client, let token) where RefreshTokenText.flaw(in: token) == nil:
            self = .refreshToken(token, client)
            return
        case .authorizedUser, nil: break
        }
        guard let keys = WireText.decode(Keys.self, fromText: text) else {
            throw .unusableDocument(.brokenJSON)
        }
        if keys.format != nil {
            self = .account(try Self.account(in: text, keys))
        } else if let token = keys.refreshToken, !token.isEmpty, RefreshTokenText.flaw(in: token) == nil {
            self = .refreshToken(token, nil)
        } else {
            throw .unusableDocument(.unknownJSON)
        }
    }

    private static func account(in text: String, _ keys: Keys) throws(AuthctlError) -> AccountDocument {
        guard keys.format == AccountDocument.currentFormat else {
            throw .unusableDocument(.unknownExportFormat(known: AccountDocument.currentFormat))
        }
        guard let document = WireText.decode(AccountDocument.self, fromText: text) else {
            throw .unusableDocument(.incompleteExport)
        }
        return document
    }

    private struct Keys: Decodable {
        var format: String?
        var refreshToken: String?

        enum CodingKeys: String, CodingKey {
            case format
            case refreshToken = "refresh_token"
        }
    }
}

/// A file named by `--refresh-token-file`.
struct GrantFile {
    let name: String
    /// Whom the token is for, in the prompt.
    let account: String

    /// The token, and the client whose grant it is if the file says so.
    ///
    /// - Throws: `secretFile`, `unusableDocument`, `cancelled`.
    func read() throws(AuthctlError) -> (token: String, client: FileClient?) {
        let secret = try SecretFile(name: name, purpose: .refreshToken)
            .read(prompt: Prompt.refreshToken(of: PlainText.line(account)))
        switch try ImportedDocument(secret) {
        case .refreshToken(let token, let client): return (token, client)
        case .account:
            throw .unusableDocument(.exportInsteadOfToken)
        }
    }
}
