internal import ArgumentParser
internal import AuthRefreshInterface
internal import Terminal

/// `authctl account add`.
struct AccountAddCommand: ParsableCommand {
    /// What an account is called in prompts that has no name yet.
    private static let unnamed = "the new account"

    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an account.",
        discussion: """
            With a refresh token the daemon refreshes at once, and this command waits for the outcome; if that fails \
            the account stays added, and the exit status tells why: 3, 75 or 78.

            On a terminal it asks for what is missing: the name, the provider, what the provider wants to know, the client id.

            With --register the server is asked for a client (RFC 7591): it has to offer that. 'authctl logout --forget' has \
            it deleted again.

            Without a provider profile the account gets a redirect URI whose path no other server has, so that one server cannot \
            pass off another one's answer as its own. The command prints it: register it with the client. If another one is \
            registered already, name it with --redirect-uri; --require-iss trusts the server to name itself instead (RFC 9207).

            With --grant it is a service account: the client obtains tokens for itself, at once and before each ends, and nobody \
            signs in. Such an account stays one. 'authctl logout' erases its token, and 'authctl refresh' has it go on. \
            client-credentials takes what the client proves itself by; jwt-bearer has its key sign whom the token is for, and \
            takes Google's JSON key file as it comes, with the client id in it; token-exchange has the token of another account \
            here exchanged for one of its own, for another audience or with less in it.

            Secrets are read from a file of mode 0600, from standard input ('-'), or typed on the terminal ('-'), \
            where they are not shown.

            Examples:

              authctl account add
              authctl account add work --issuer https://login.example.com \\
                --client-id mail --scope offline_access --refresh-token-file token.txt
              authctl account add mail --provider microsoft --tenant organizations \\
                --client-id ID
              authctl account add wiki --issuer https://as.example.org --register
              authctl account add home --provider google --client-id ID \\
                --client-secret-file secret.txt --refresh-token-file -
              authctl account add ci --issuer https://as.example.org --client-id ci \\
                --client-secret-file secret.txt --grant client-credentials --scope deploy
              authctl account add robot --provider google --grant jwt-bearer \\
                --client-key-file key.json --assertion-subject you@example.org \\
                --scope https://www.googleapis.com/auth/drive.readonly
              authctl account add wiki-bot --issuer https://as.example.org \\
                --client-id bot --client-secret-file secret.txt --grant token-exchange \\
                --subject-account work --audience wiki --scope read
            """
    )

    @Argument(help: "Its name: letters, digits and ._@+-")
    var name: String?

    @OptionGroup var options: SettingsOptions

    @Option(
        help: ArgumentHelp(
            "A file with the refresh token, or with a token answer in JSON; '-' as above.",
            valueName: "file"
        ),
        completion: .file()
    )
    var refreshTokenFile: String?

    @Flag(help: "Have the server register a client for this account (RFC 7591), instead of --client-id.")
    var register = false

    @Option(
        help: ArgumentHelp(
            "A file with what the server gives to those who may register; '-' as above.",
            valueName: "file"
        ),
        completion: .file()
    )
    var initialAccessTokenFile: String?

    @Flag(help: "Do not wait for the first refresh.")
    var noWait = false

    @Flag(help: "Bind the tokens to a key of the account's own (DPoP); the server has to offer it.")
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

    @Option(help: "Which of its tokens is exchanged. Without: access_token.")
    var subjectTokenType: TokenTypeOption?

    @Option(
        help: ArgumentHelp(
            "The account of who acts on the other's behalf. Without: the client acts.",
            valueName: "account"
        ),
        completion: DaemonCompletion.accounts
    )
    var actorAccount: String?

    @Option(help: "Which of its tokens is shown. Without: access_token.")
    var actorTokenType: TokenTypeOption?

    @Option(help: "What the server is asked for. Without: its choice.")
    var requestedTokenType: TokenTypeOption?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        guard options.clientId == nil || !register else {
            throw .usage(
                message: "'--register' brings a client id of its own",
                hint: "see 'authctl account add --help'"
            )
        }
        guard !register || refreshTokenFile == nil && options.clientSecretFile == nil else {
            throw .usage(message: "a new client has neither a secret nor a grant yet", hint: "'authctl login' follows")
        }
        guard grant == nil || refreshTokenFile == nil else {
            throw .usage(
                message: "'--grant' needs no '--refresh-token-file'",
                hint: "the client of a service account obtains its tokens itself"
            )
        }
        guard options.clientSecretFile != "-" || refreshTokenFile != "-" else {
            throw .usage(message: "only one secret can come from '-'", hint: "put the other one into a file")
        }
        var asked = try AccountQuestions(name: name, options: options, hasNoClientId: register || keyNamesClient)
        try asked.demand()
        // All that can be wrong with the arguments is found before anybody is asked anything.
        var settings = AccountSettings(name: "")
        try options.say(in: &settings)
        let secret = try options.clientSecret(account: name ?? Self.unnamed)
        let key = try options.clientKey()
        let refreshToken = try refreshToken()
        let initialAccessToken = try initialAccessToken()
        var daemon = try connection.connect()
        try asked.complete(&daemon)
        settings.name = asked.name ?? ""
        settings.issuer = asked.issuer
        settings.provider = asked.provider
        settings.variables = asked.variables.isEmpty ? nil : asked.variables
        settings.clientId = asked.clientId
        settings.dpop = dpop ? true : nil
        settings.grantType = grant?.grantType
        settings.subjectAccount = subjectAccount
        settings.subjectTokenType = subjectTokenType?.identifier
        settings.actorAccount = actorAccount
        settings.actorTokenType = actorTokenType?.identifier
        settings.requestedTokenType = requestedTokenType?.identifier
        let parameters = AddAccount.Parameters(
            settings: settings,
            clientSecret: (asked.clientSecret ?? secret)?.reveal(),
            clientKey: key?.reveal(),
            refreshToken: refreshToken,
            register: register ? true : nil,
            initialAccessToken: initialAccessToken
        )
        try add(parameters, &daemon)
    }

    /// Google's key files do; of another one the daemon says that the id is missing.
    private var keyNamesClient: Bool { grant == .jwtBearer && options.clientKeyFile != nil }

    private func add(
        _ parameters: AddAccount.Parameters,
        _ daemon: inout DaemonConnection
    ) throws(AuthctlError) {
        let reply = try daemon.ask(
            .addAccount,
            parameters,
            for: AddAccount.Reply.self,
            patience: register ? DaemonConnection.refreshPatience : DaemonConnection.patience
        )
        let status = reply.status
        let isRefreshing = (parameters.refreshToken != nil || grant != nil) && !noWait
        let outcome = isRefreshing ? try daemon.settle(status, done: "'\(status.account)' was added") : status
        if let clientId = reply.clientId {
            StandardError.note("the server has registered a client for it: \(PlainText.line(clientId))")
        }
        if let redirectUri = reply.redirectUri {
            StandardError.note("register this redirect URI with the client: \(PlainText.line(redirectUri))")
        }
        try output.print(
            AddAccount.Reply(status: outcome, clientId: reply.clientId, redirectUri: reply.redirectUri),
            or: RefreshOutcome.line(for: outcome)
        )
    }

    private func initialAccessToken() throws(AuthctlError) -> String? {
        guard let initialAccessTokenFile else { return nil }
        guard register else {
            throw .usage(message: "'--initial-access-token-file' needs '--register'", hint: nil)
        }
        return try SecretFile(name: initialAccessTokenFile, purpose: .initialAccessToken)
            .readLine(prompt: "initial access token for '\(PlainText.line(name ?? Self.unnamed))': ").reveal()
    }

    private func refreshToken() throws(AuthctlError) -> String? {
        guard let refreshTokenFile else { return nil }
        return try GrantFile(name: refreshTokenFile, account: name ?? Self.unnamed).refreshToken()
    }
}

/// What an account cannot be added without: as far as it was given, and as far as a person at the terminal says the rest.
struct AccountQuestions {
    var name: String?
    var issuer: String?
    var provider: String?
    /// What the provider's profile wants to know.
    var variables: [String: String]
    var clientId: String?
    /// Whether no client id need be said: the server gives one, or the key file names it.
    let hasNoClientId: Bool
    /// Whether a secret comes from a file, or a key stands for it.
    let hasSecret: Bool
    private(set) var clientSecret: SecretText?

    /// The options and arguments that are missing, as they are called.
    var missing: [String] {
        [
            name == nil ? "NAME" : nil, issuer == nil && provider == nil ? "'--issuer' or '--provider'" : nil,
            clientId == nil && !hasNoClientId ? "'--client-id'" : nil,
        ].compactMap(\.self)
    }

    init(
        name: String?,
        options: SettingsOptions,
        hasNoClientId: Bool
    ) throws(AuthctlError) {
        self.name = name
        issuer = options.issuer
        provider = options.provider
        variables = try options.variables() ?? [:]
        clientId = options.clientId
        self.hasNoClientId = hasNoClientId
        hasSecret = options.clientSecretFile != nil || options.clientKeyFile != nil
    }

    /// Says what is missing where nobody can be asked for it.
    ///
    /// - Throws: `usage` with all of it.
    func demand() throws(AuthctlError) {
        guard !missing.isEmpty, !Question.canBeAsked else { return }
        let verb = missing.count == 1 ? "is" : "are"
        throw .usage(
            message: "\(missing.joined(separator: " and ")) \(verb) missing",
            hint: "see 'authctl account add --help'"
        )
    }

    /// Asks for everything that is missing, if somebody is there to be asked; nothing is asked where nothing is.
    ///
    /// - Throws: `cancelled`; anything about the connection.
    mutating func complete(_ daemon: inout DaemonConnection) throws(AuthctlError) {
        guard Question.canBeAsked, !missing.isEmpty || issuer == nil else { return }
        if name == nil { name = try Self.answer("Name of the account: ") }
        guard missing != [] || issuer == nil else { return }
        let profiles = try daemon.ask(.listProviders, ListProviders.Parameters(), for: ListProviders.Reply.self)
            .providers
        if issuer == nil, provider == nil { try askProvider(profiles) }
        let profile = profiles.first { $0.name == provider }
        for variable in profile?.variables ?? [] where variables[variable.name] == nil && isWanted(variable, profile) {
            try ask(for: variable)
        }
        guard !hasNoClientId, clientId == nil else { return }
        if let place = profile?.clientIdHint ?? profile?.documentation {
            StandardError.show("A client id comes from: \(PlainText.line(place))\n")
        }
        clientId = try Self.answer("Client id: ")
        if !hasSecret, profile?.clientAuthentication?.hasPrefix("client_secret") == true {
            clientSecret = try HiddenPrompt.ask("Client secret (it is not shown): ", .clientSecret)
        }
    }

    /// With an issuer of its own an account has no need of what makes one.
    private func isWanted(_ variable: ProviderVariable, _ profile: ProviderDescription?) -> Bool {
        issuer == nil || profile?.tokenEndpoint?.contains("{\(variable.name)}") == true
    }

    private mutating func ask(for variable: ProviderVariable) throws(AuthctlError) {
        let words = "\(PlainText.line(variable.name)), \(PlainText.line(variable.help))"
        guard let standard = variable.default else {
            variables[variable.name] = try Self.answer("\(words): ")
            return
        }
        let answer = try Question.ask("\(words) [\(PlainText.line(standard))]: ")
        if !answer.isEmpty { variables[variable.name] = answer }
    }

    private mutating func askProvider(_ profiles: [ProviderDescription]) throws(AuthctlError) {
        let choice = ProviderChoice(names: profiles.map(\.name))
        StandardError.show(choice.list(width: TerminalStyle.standardError.width ?? 80))
        while true {
            switch choice.meaning(of: try Question.ask("Provider (number, name, or the issuer's https://…): ")) {
            case .provider(let name):
                provider = name
                return
            case .issuer(let url):
                issuer = url
                return
            case .several(let names): StandardError.warn("that is the beginning of \(names.joined(separator: ", "))")
            case .unknown: StandardError.warn("there is no such provider")
            }
        }
    }

    /// What is not empty; asked again until there is something.
    private static func answer(_ prompt: String) throws(AuthctlError) -> String {
        while true {
            let text = try Question.ask(prompt)
            if !text.isEmpty { return text }
        }
    }
}

/// A list of providers that a person chooses from by number, by name, or by the beginning of one.
struct ProviderChoice {
    enum Meaning: Equatable {
        case provider(String)
        case issuer(String)
        /// All of them begin so.
        case several([String])
        case unknown
    }

    let names: [String]

    func meaning(of answer: String) -> Meaning {
        if answer.contains("://") { return .issuer(answer) }
        if names.contains(answer) { return .provider(answer) }
        if let number = Int(answer) {
            return (1...max(names.count, 1)).contains(number) && !names.isEmpty
                ? .provider(names[number - 1]) : .unknown
        }
        let word = answer.lowercased()
        let matches = word.isEmpty ? [] : names.filter { $0.hasPrefix(word) }
        guard let match = matches.first else { return .unknown }
        return matches.count == 1 ? .provider(match) : .several(matches)
    }

    /// The names with their numbers, as many in a line as fit, each line with its newline.
    func list(width: Int) -> String {
        let digits = String(names.count).count
        let cells = names.enumerated().map { index, name in
            let number = String(index + 1)
            return String(repeating: " ", count: digits - number.count) + number + " " + PlainText.line(name)
        }
        let cell = (cells.map(\.count).max() ?? 0) + 2
        let columns = max(1, width / cell)
        return stride(from: 0, to: cells.count, by: columns).reduce(into: "") { text, start in
            let row = cells[start..<min(start + columns, cells.count)]
            let padded = row.dropLast().map { $0 + String(repeating: " ", count: cell - $0.count) }
            text += padded.joined() + (row.last ?? "") + "\n"
        }
    }
}
