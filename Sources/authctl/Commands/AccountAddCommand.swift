internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// The command's full name: `authctl account add`.
struct AccountAddCommand: ParsableCommand {
    /// The name in prompts for an account without a name.
    private static let unnamed = "the new account"

    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an account.",
        discussion: """
            Examples:

              \(InvokedAs.here) account add
              \(InvokedAs.here) account add work --issuer https://login.example.com \\
                --client-id mail --scope offline_access --refresh-token-file token.txt
              \(InvokedAs.here) account add mail --provider microsoft --tenant organizations \\
                --client-id ID --for mail
              \(InvokedAs.here) account add wiki --issuer https://as.example.org --register
              \(InvokedAs.here) account add notes --resource-server https://mcp.example.com/mcp
              \(InvokedAs.here) account add home --provider google \\
                --client-secret-file client_secret.json --refresh-token-file -
              \(InvokedAs.here) account add ci --issuer https://as.example.org --client-id ci \\
                --client-secret-file secret.txt --grant client-credentials --scope deploy
              \(InvokedAs.here) account add robot --provider google --grant jwt-bearer \\
                --client-key-file key.json --assertion-subject you@example.org \\
                --scope https://www.googleapis.com/auth/drive.readonly
              \(InvokedAs.here) account add wiki-bot --issuer https://as.example.org \\
                --client-id bot --client-secret-file secret.txt --grant token-exchange \\
                --subject-account work --audience wiki --scope read

            With a refresh token the daemon refreshes at once, and this command waits for the outcome. If the \
            refresh fails, the account stays, and the exit status tells why: 3, 75 or 78.

            On a terminal it asks for what is missing: the name, the provider and its settings, the client and its \
            secret, and what the tokens are for. It checks each answer at once, shows what is worth knowing about \
            the provider, and offers to sign in.

            The daemon checks that the server is the issuer that you named. If the server cannot be reached, the \
            account is added with a warning. If it is another issuer, or not an authorization server, the account \
            is not added (status 65). --offline skips this check.

            --for takes the scopes of a purpose from the provider's profile: mail, calendar or files for google \
            and microsoft.

            --register asks the server to register a client for this account (RFC 7591), if the server offers \
            that, with a free port of this machine, which the account keeps. If the server forgets the client, the \
            next '\(InvokedAs.here) login' registers a new one. '\(InvokedAs.here) logout --forget' asks the server to delete the client again.

            --resource-server names the server that will take the tokens, such as a remote MCP server. The daemon asks \
            it without a token, and reads who issues its tokens and for which scopes (RFC 9728). authctl adds the \
            account for this issuer and this resource, and registers a client unless --client-id names one. If the \
            resource has several issuers, authctl asks which, or --issuer names it.

            Without a provider profile the account gets a redirect URI with a path that no other server has, so \
            that one server cannot pass off another server's answer as its own. The command prints the URI: \
            register it with the client. If the client has another one already, name it with --redirect-uri. \
            --require-iss trusts the server to name itself instead (RFC 9207).

            --grant adds a service account. Its client obtains tokens for itself, the first at once and the next \
            before each expires; nobody signs in. It cannot become an ordinary account later. '\(InvokedAs.here) logout' \
            erases its token, and '\(InvokedAs.here) refresh' starts it again. client-credentials uses the client's own \
            secret or key. jwt-bearer uses the client's key to sign a statement of whom the token is for; Google's \
            JSON key file works as it is, and contains the client id. token-exchange exchanges the token of \
            another account here for a token of this one, for another audience or with fewer rights.

            Secrets are read from a file, from standard input ('-'), or typed on the terminal ('-'), where they \
            are not shown. If others can read the file, you get a warning.
            """
    )

    @Argument(help: "Its name: letters, digits and ._@+-")
    var name: String?

    @OptionGroup var options: SettingsOptions

    @Option(
        help: ArgumentHelp(
            "A file with the refresh token, a token answer in JSON, or another program's JSON file that also names the client; '-' reads standard input, or asks on the terminal.",
            valueName: "file"
        ),
        completion: .file()
    )
    var refreshTokenFile: String?

    @Flag(help: "Ask the server to register a client for this account (RFC 7591), instead of --client-id.")
    var register = false

    @Option(
        help: ArgumentHelp(
            "A server that takes the tokens, such as a remote MCP server: it names its authorization server and scopes (RFC 9728).",
            valueName: "url"
        )
    )
    var resourceServer: String?

    @OptionGroup var permission: RegistrationPermission

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "What the tokens are for, as the provider's profile names it: mail, calendar, files.",
            valueName: "purpose"
        ),
        completion: .list(["mail", "calendar", "files"])
    )
    var purpose: String?

    @Flag(help: "Do not wait for the first refresh.")
    var noWait = false

    @Flag(help: "Add the account without asking its server anything.")
    var offline = false

    @Flag(help: "Set a list of allowed callers (--allow-unit, --allow-executable) that you are not on.")
    var yes = false

    @Flag(help: "Bind the tokens to a key of the account's own (DPoP); the server must support it.")
    var dpop = false

    @Option(help: "Add a service account, whose client obtains tokens by this grant.")
    var grant: GrantOption?

    @Option(
        help: ArgumentHelp(
            "The account whose token is exchanged for this one's (token-exchange).",
            valueName: "account"
        ),
        completion: DaemonCompletion.accounts
    )
    var subjectAccount: String?

    @Option(help: "Which of its tokens is exchanged. Default: access_token.")
    var subjectTokenType: TokenTypeOption?

    @Option(
        help: ArgumentHelp(
            "The account that acts on behalf of the other one. Default: the client acts.",
            valueName: "account"
        ),
        completion: DaemonCompletion.accounts
    )
    var actorAccount: String?

    @Option(help: "Which of its tokens is sent. Default: access_token.")
    var actorTokenType: TokenTypeOption?

    @Option(
        help: ArgumentHelp(
            "The type of token to ask for: a URI, or the last word of one in urn:ietf:params:oauth:token-type. Default: the server chooses.",
            valueName: "type"
        ),
        completion: .list(TokenTypeOption.allCases.map(\.rawValue))
    )
    var requestedTokenType: String?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        let (reply, isDialogue) = try add()
        try output.print(reply, or: StatusSentence.line(for: reply.status))
        guard reply.status.state == "signed-out" else { return }
        let account = reply.status.account
        if isDialogue, !output.json, try Question.confirm("Sign in now?", byDefault: true) {
            return try LoginCommand.signIn(toNew: account, connection)
        }
        StandardError.note("next: \(Command("login", PlainText.line(account)))")
    }

    /// Adds the account, and asks for missing values if a person can answer.
    ///
    /// - Returns: the daemon's reply, and whether the person was asked.
    func add() throws(Report) -> (reply: AddAccount.Reply, isDialogue: Bool) {
        try checkArguments()
        guard let resourceServer else { return try addChecked() }
        var daemon = try connection.connect()
        let resource = try daemon.discover(DiscoverResource.Parameters(url: resourceServer))
        return try completed(by: resource).addChecked(for: resource)
    }

    /// The command with what the resource server says.
    private func completed(by resource: DiscoverResource.Reply) throws(Report) -> AccountAddCommand {
        var command = self
        command.options.issuer = try resource.issuer(named: options.issuer)
        command.options.resource = resource.resource
        if options.scope.isEmpty { command.options.scope = resource.scopes ?? [] }
        command.dpop = dpop || resource.dpop ?? false
        let hasClient = options.clientId != nil || options.clientSecretFile != nil || refreshTokenFile != nil
        command.register = register || !hasClient && grant == nil
        return command
    }

    /// - Parameter resource: what the resource server says; nil if none is named.
    private func addChecked(
        for resource: DiscoverResource.Reply? = nil
    ) throws(Report) -> (reply: AddAccount.Reply, isDialogue: Bool) {
        // All errors in the arguments are reported before anybody is asked.
        var settings = AccountSettings(name: "")
        try options.apply(to: &settings)
        let client = try options.client(account: name ?? Self.unnamed)
        let key = try options.clientKey()
        let file = try grantFile()
        let initialAccessToken = try permission.token(register: register, account: name ?? Self.unnamed)
        var asked = try AccountQuestions(
            name: name,
            options: options,
            purpose: purpose,
            client: client?.completed(by: file?.client) ?? file?.client,
            hasNoClientId: register || keyNamesClient,
            isForPerson: grant == nil && refreshTokenFile == nil
        )
        asked.checksServer = !offline
        try asked.demand(connection)
        if grant == nil, !asked.hasRedirect { client?.warnOfRedirects() }
        var daemon = try connection.connect()
        try asked.complete(&daemon)
        try asked.findScopes(&daemon)
        settings.name = asked.name ?? ""
        asked.applyServer(to: &settings)
        settings.clientId = asked.clientId
        settings.scopes = asked.scopes.isEmpty ? nil : asked.scopes
        if asked.checksServer { try checkServer(of: &settings, for: resource, &daemon) }
        settings.redirectPort = asked.redirectPort
        applyGrant(to: &settings)
        let parameters = AddAccount.Parameters(
            settings: settings,
            clientSecret: asked.client?.secret?.reveal(),
            clientKey: key?.reveal(),
            refreshToken: file?.token,
            register: register ? true : nil,
            initialAccessToken: initialAccessToken,
            clientSecretExpiresAtUSec: options.clientSecretExpires?.startsAtUSec
        )
        return (try add(parameters, &daemon), asked.isDialogue)
    }

    /// Checks the combination of arguments.
    ///
    /// - Throws: `usage` if the arguments do not fit together.
    private func checkArguments() throws(Report) {
        guard options.clientId == nil || !register else {
            throw .usage(
                "'--register' cannot be combined with '--client-id'",
                hint: "leave '--client-id' out: the server chooses the client id"
            )
        }
        guard !register || refreshTokenFile == nil && options.clientSecretFile == nil else {
            throw .usage(
                "'--register' cannot be combined with a client secret or a refresh token: the client is new",
                hint: "add the account without them, then run '\(Command("login"))'"
            )
        }
        guard grant == nil || refreshTokenFile == nil else {
            throw .usage(
                "'--grant' cannot be combined with '--refresh-token-file'",
                hint: "leave '--refresh-token-file' out: a service account obtains its own tokens"
            )
        }
        let isPlain = options.provider == nil && options.resource == nil && !offline
        guard resourceServer == nil || isPlain else {
            throw .usage(
                "'--resource-server' cannot be combined with '--provider', '--resource' or '--offline'",
                hint: "leave them out: the resource server says what is needed"
            )
        }
        guard purpose == nil || options.provider != nil || options.issuer == nil else {
            throw .usage("'--for' needs '--provider'", hint: "name the scopes of another server with --scope")
        }
        guard options.clientSecretFile != "-" || refreshTokenFile != "-" else {
            throw .usage("only one secret can come from '-'", hint: "put the other one into a file")
        }
    }

    private func applyGrant(to settings: inout AccountSettings) {
        settings.dpop = dpop ? true : nil
        settings.grantType = grant?.grantType
        settings.subjectAccount = subjectAccount
        settings.subjectTokenType = subjectTokenType?.identifier
        settings.actorAccount = actorAccount
        settings.actorTokenType = actorTokenType?.identifier
        settings.requestedTokenType = requestedTokenType.map(TokenTypeOption.identifier)
    }

    /// Whether the key file names the client, as Google's do. With other files, the daemon reports the missing ID.
    private var keyNamesClient: Bool { grant == .jwtBearer && options.clientKeyFile != nil }

    /// What was done, before ", but …".
    static func added(_ account: String) -> String { "'\(account)' was added" }

    private func add(
        _ parameters: AddAccount.Parameters,
        _ daemon: inout DaemonConnection
    ) throws(Report) -> AddAccount.Reply {
        var parameters = parameters
        let isMeant = yes && parameters.settings.hasCallerList
        let reply = try CallerList.set(yes: isMeant) { withoutCaller throws(Report) in
            parameters.withoutCaller = withoutCaller
            return try daemon.ask(
                .addAccount,
                parameters,
                for: AddAccount.Reply.self,
                // The server may register a client, or the person may be asked before an account is derived.
                patience: DaemonConnection.refreshPatience,
                waitingFor: register ? "the authorization server" : "the daemon"
            )
        }
        TokenFileLine.warn(of: parameters.settings, by: parameters.settings)
        try daemon.warnOfSharedAddresses(of: parameters.settings, by: parameters.settings)
        SchemeHandler.register(for: parameters.settings)
        let status = reply.status
        let isRefreshing = (parameters.refreshToken != nil || grant != nil) && !noWait
        let outcome = isRefreshing ? try daemon.settle(status, done: Self.added(status.account)) : status
        if let id = reply.clientId {
            StandardError.note("the server registered this client for the account: \(PlainText.line(id))")
        }
        if let uri = reply.redirectUri {
            StandardError.note("register this redirect URI with the client: \(PlainText.line(uri))")
            if RedirectWords.isWithoutPort(uri) { StandardError.note(RedirectWords.port(of: status.account)) }
        }
        return AddAccount.Reply(status: outcome, clientId: reply.clientId, redirectUri: reply.redirectUri)
    }

    private func grantFile() throws(Report) -> (token: String, client: FileClient?)? {
        guard let refreshTokenFile else { return nil }
        return try GrantFile(name: refreshTokenFile, account: name ?? Self.unnamed).read()
    }

    private func checkServer(
        of settings: inout AccountSettings,
        for resource: DiscoverResource.Reply?,
        _ daemon: inout DaemonConnection
    ) throws(Report) {
        guard var check = try daemon.check(settings) else { return }
        if let issuer = settings.issuer, resource != nil, check.contradiction != nil {
            var other = settings
            other.issuer = issuer.withOtherSlash
            if let second = try daemon.check(other), second.contradiction == nil { (settings, check) = (other, second) }
        }
        try check.refuse(arguments: ProgramArguments.all)
        settings.variables = check.reply.variables ?? settings.variables
        check.tell(isProviderNamed: settings.provider != nil)
        // A resource names its own scopes. The one for a refresh token is the authorization server's.
        if let scopes = resource?.scopes, scopes == settings.scopes, check.reply.offlineAccess ?? false {
            settings.scopes = scopes + (scopes.contains("offline_access") ? [] : ["offline_access"])
        }
    }
}
