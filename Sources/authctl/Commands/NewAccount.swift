internal import AuthRefreshInterface
internal import Basics

/// An account to add: what the arguments say of it, completed by its resource server, by files and by the person.
struct NewAccount {
    let connection: ConnectionOptions
    /// Nil until it is known.
    var name: String?
    /// The settings so far. Their name is set last.
    var settings = AccountSettings(name: "")
    /// The server that takes the tokens. It names the issuer.
    var resourceServer: String?
    /// The provider profile's name for a set of scopes.
    var purpose: String?
    var clientSecretFile: String?
    var clientSecretExpires: CalendarDate?
    var clientKeyFile: String?
    var refreshTokenFile: String?
    var authorizationDetailsFile: String?
    /// Whether the server registers the client.
    var registers = false
    /// Nil for no option of the kind.
    var permission: RegistrationPermission?
    /// Whether the server still has to be checked.
    var checksServer = true
    /// Whether the first refresh is waited for.
    var waits = true
    /// Whether a list of allowed callers is meant without the one who sets it.
    var isListMeant = false
    /// The client from a file or from the person; nil if only its ID is known.
    var client: FileClient?
    /// Whether the person was asked for a required value. The command is then a dialogue, and may ask more.
    var isDialogue = false
    /// The topics of the notes that were already shown.
    var told: Set<String> = []

    init(_ name: String?, _ connection: ConnectionOptions) {
        self.name = name
        self.connection = connection
    }

    /// Whether a redirect URI or a scheme is registered, so that no port is needed.
    var hasRedirect: Bool { settings.redirectUri != nil || settings.redirectScheme != nil }

    /// What was done, before ", but …".
    static func added(_ account: String) -> String { "'\(account)' was added" }

    /// Adds the account, and asks for missing values if a person can answer.
    ///
    /// - Throws: `usage` if the values do not fit together; why a file cannot be used; the daemon's error.
    mutating func add() throws(Report) -> AddAccount.Reply {
        try check()
        let resource = try resourceServer.map { url throws(Report) in
            var daemon = try connection.connect()
            return try daemon.discover(DiscoverResource.Parameters(url: url))
        }
        if let resource { try take(resource) }
        // All errors in the arguments are reported before anybody is asked.
        let account = name ?? "the new account"
        settings.authorizationDetails = try SettingsOptions.details(in: authorizationDetailsFile)
        let secret = try SecretFile.client(in: clientSecretFile, of: account, clientId: settings.clientId)
        let key = try clientKeyFile.map(SecretFile.clientKey)
        let grant = try refreshTokenFile.map { file throws(Report) in
            try ImportedDocument.grant(in: file, of: account)
        }
        let initialAccessToken = try permission?.token(register: registers, account: account)
        if let client = secret?.completed(by: grant?.client) ?? grant?.client { try take(client) }
        try demand()
        if settings.grantType == nil, !hasRedirect { secret?.warnOfRedirects() }
        var daemon = try connection.connect()
        try complete(&daemon)
        try findScopes(&daemon)
        settings.name = name ?? ""
        settings.username = settings.username ?? client?.username
        if settings.scopes?.isEmpty ?? false { settings.scopes = nil }
        if checksServer { try checkServer(for: resource, &daemon) }
        return try add(
            AddAccount.Parameters(
                settings: settings,
                clientSecret: client?.secret?.reveal(),
                clientKey: key?.reveal(),
                refreshToken: grant?.token,
                register: registers ? true : nil,
                initialAccessToken: initialAccessToken,
                clientSecretExpiresAtUSec: clientSecretExpires?.startsAtUSec
            ),
            &daemon
        )
    }

    /// Checks the combination of arguments.
    ///
    /// - Throws: `usage` if the arguments do not fit together.
    private func check() throws(Report) {
        guard settings.clientId == nil || !registers else {
            throw .usage(
                "'--register' cannot be combined with '--client-id'",
                hint: "leave '--client-id' out: the server chooses the client id"
            )
        }
        let hasProof = clientSecretFile != nil || settings.clientAssertionFile != nil
        guard !registers || refreshTokenFile == nil && !hasProof else {
            throw .usage(
                "'--register' cannot be combined with a client secret, an assertion or a refresh token: the client is new",
                hint: "add the account without them, then run '\(Command("login"))'"
            )
        }
        guard settings.grantType == nil || refreshTokenFile == nil else {
            throw .usage(
                "'--grant' cannot be combined with '--refresh-token-file'",
                hint: "leave '--refresh-token-file' out: a service account obtains its own tokens"
            )
        }
        let isPlain = settings.provider == nil && settings.refreshParameters?["resource"] == nil && checksServer
        guard resourceServer == nil || isPlain else {
            throw .usage(
                "'--resource-server' cannot be combined with '--provider', '--resource' or '--offline'",
                hint: "leave them out: the resource server says what is needed"
            )
        }
        guard purpose == nil || settings.provider != nil || settings.issuer == nil else {
            throw .usage("'--for' needs '--provider'", hint: "name the scopes of another server with --scope")
        }
        guard clientSecretFile != "-" || refreshTokenFile != "-" else {
            throw .usage("only one secret can come from '-'", hint: "put the other one into a file")
        }
    }

    /// Takes what the resource server says.
    private mutating func take(_ resource: DiscoverResource.Reply) throws(Report) {
        settings.issuer = try resource.issuer(named: settings.issuer)
        settings.refreshParameters = (settings.refreshParameters ?? [:]).merging(["resource": resource.resource]) { $1 }
        if settings.scopes == nil {
            settings.scopes = settings.grantType == nil ? try resource.askedScopes() : resource.scopes
        }
        if resource.dpop ?? false { settings.dpop = true }
        let hasClient =
            settings.clientId != nil || clientSecretFile != nil || settings.clientAssertionFile != nil
            || refreshTokenFile != nil
        registers = registers || !hasClient && settings.grantType == nil
    }

    /// Takes the client that files name, and its server, unless the arguments name them.
    ///
    /// - Throws: `document` if the arguments name another client; or another server, which must not get the file's secrets.
    private mutating func take(_ client: FileClient) throws(Report) {
        self.client = client
        settings.clientId = try client.id(said: settings.clientId)
        // The grant of a file has its scopes already, and the next sign-in asks for the same.
        if purpose == nil { settings.scopes = settings.scopes ?? client.scopes }
        // Whoever sets the endpoint decides where the secrets go.
        guard let server = client.server, settings.providerSettings?["token_endpoint"] == nil else { return }
        guard server.agrees(withProvider: settings.provider, issuer: settings.issuer) else {
            throw .document(
                "the file belongs to another server than '\(settings.provider == nil ? "--issuer" : "--provider")' names",
                hint: "leave it out: the file names the server"
            )
        }
        if settings.provider == nil, settings.issuer == nil {
            (settings.provider, settings.issuer) = (server.provider, server.issuer)
            let named = (server.providerSettings ?? [:]).merging(settings.providerSettings ?? [:]) { $1 }
            settings.providerSettings = named.isEmpty ? nil : named
        }
        if settings.provider == server.provider { variables.merge(server.variables ?? [:]) { own, _ in own } }
    }

    private mutating func checkServer(
        for resource: DiscoverResource.Reply?,
        _ daemon: inout DaemonConnection
    ) throws(Report) {
        guard var check = try daemon.check(settings) else { return }
        if let issuer = settings.issuer, resource != nil, check.fault != nil {
            var other = settings
            other.issuer = issuer.withOtherSlash
            if let second = try daemon.check(other), second.fault == nil { (settings, check) = (other, second) }
        }
        try check.refuse(arguments: ProgramArguments.all)
        settings.variables = check.variables ?? settings.variables
        check.tell(isProviderNamed: settings.provider != nil)
        // A resource names its own scopes. The one for a refresh token is the authorization server's.
        if let scopes = resource?.scopes, scopes == settings.scopes, check.offlineAccess ?? false {
            settings.scopes = scopes + (scopes.contains("offline_access") ? [] : ["offline_access"])
        }
    }

    private func add(
        _ parameters: AddAccount.Parameters,
        _ daemon: inout DaemonConnection
    ) throws(Report) -> AddAccount.Reply {
        let reply = try daemon.ask(
            parameters,
            settingList: \.withoutCaller,
            isMeant: isListMeant && settings.hasCallerList,
            // The server may register a client, or the person may be asked before an account is derived.
            patience: DaemonConnection.refreshPatience,
            waitingFor: registers ? "the authorization server" : "the daemon"
        )
        settings.warnOfTokenFile(by: settings)
        try daemon.warnOfSharedAddresses(of: settings, by: settings)
        SchemeHandler.register(for: settings)
        let account = reply.status.account
        let isRefreshing = (parameters.refreshToken != nil || settings.grantType != nil) && waits
        let outcome = isRefreshing ? try daemon.settle(reply.status, done: Self.added(account)) : reply.status
        if let id = reply.clientId {
            StandardError.note("the server registered this client for the account: \(PlainText.line(id))")
        }
        if let uri = reply.redirectUri {
            StandardError.note("register this redirect URI with the client: \(PlainText.line(uri))")
            if RedirectWords.isWithoutPort(uri) { StandardError.note(RedirectWords.port(of: account)) }
        }
        return AddAccount.Reply(status: outcome, clientId: reply.clientId, redirectUri: reply.redirectUri)
    }
}
