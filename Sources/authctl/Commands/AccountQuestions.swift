internal import AuthRefreshInterface
internal import Glibc
internal import Terminal

/// What an account cannot be added without: as far as it was given, and as far as a person at the terminal says the rest.
struct AccountQuestions {
    var name: String?
    var issuer: String?
    var provider: String?
    /// What the provider's profile wants to know.
    var variables: [String: String]
    var clientId: String?
    /// What sign-in asks for; empty leaves it to the provider's profile.
    var scopes: [String]
    /// A name that the provider's profile has for scopes; nil if none was given.
    let purpose: String?
    var redirectPort: Int64?
    /// Whether a redirect URI or a scheme is registered, so that no port need be said.
    let hasRedirect: Bool
    /// Whether a person is to sign in, now and not only when the grant that came along has ended.
    let isForPerson: Bool
    /// Whether no client id need be said: the server gives one, or the key file names it.
    let hasNoClientId: Bool
    /// Whether a secret comes from a file, or a key stands for it.
    let hasSecret: Bool
    /// The client that a file named, or the person did. Nil: by its id only.
    private(set) var client: FileClient?
    /// What the account says instead of its provider's profile.
    let providerSettings: [String: String]?
    /// Whether the server is yet to be asked if it is the one.
    var checksServer = false
    /// Whether the person was asked for something that has to be said: the command is a dialogue then, and may go on as one.
    private(set) var isDialogue = false
    /// The topics of the notes that were shown.
    private var told: Set<String> = []

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
        purpose: String? = nil,
        client: FileClient? = nil,
        hasNoClientId: Bool,
        isForPerson: Bool = true
    ) throws(AuthctlError) {
        self.name = name
        issuer = options.issuer
        provider = options.provider
        variables = try options.variables() ?? [:]
        self.client = client
        clientId = try client?.id(said: options.clientId) ?? options.clientId
        providerSettings = try options.providerSettings()
        scopes = options.scopes ?? []
        self.purpose = purpose
        redirectPort = options.redirectPort
        hasRedirect = options.redirectUri != nil || options.redirectScheme != nil
        self.isForPerson = isForPerson
        self.hasNoClientId = hasNoClientId
        hasSecret = client?.secret != nil || options.clientKeyFile != nil
    }

    /// Says what is missing where nobody can be asked for it.
    ///
    /// - Throws: `usage` with all of it; or with the provider that is meant, if there is none of the name that was given.
    func demand(_ connection: ConnectionOptions) throws(AuthctlError) {
        guard !missing.isEmpty, !Question.canBeAsked else { return }
        if let provider, var daemon = try? connection.connect(), let profiles = try? daemon.profiles() {
            _ = try profiles.provider(named: provider)
        }
        throw .usage(.missing(names: missing))
    }

    /// Asks for everything that is missing, if somebody is there to be asked; nothing is asked where nothing is.
    ///
    /// - Throws: `cancelled`; anything about the connection.
    mutating func complete(_ daemon: inout DaemonConnection) throws(AuthctlError) {
        guard Question.canBeAsked, !missing.isEmpty || issuer == nil else { return }
        // Whoever said all that there has to be is asked for nothing that can be left out.
        isDialogue = !missing.isEmpty
        if isDialogue { try askName(&daemon) }
        guard missing != [] || issuer == nil else { return }
        let profiles = try daemon.profiles()
        if let provider { _ = try profiles.provider(named: provider) }
        let profile = try askServer(profiles.providers, &daemon)
        try askClient(profile)
        if isForPerson { try askSignIn(profile) }
    }

    /// Says the server in `settings`.
    func sayServer(in settings: inout AccountSettings) {
        settings.issuer = issuer
        settings.provider = provider
        settings.variables = variables.isEmpty ? nil : variables
        settings.providerSettings = providerSettings
    }

    /// Asks for a name that no account has.
    ///
    /// - Throws: `refused` if the name that was given is another account's.
    private mutating func askName(_ daemon: inout DaemonConnection) throws(AuthctlError) {
        if let name, Refusal.isPossibleName(name), try daemon.hasAccount(name) {
            let parameters = WireText.encode(AccountExistsError(account: name))
            throw .refused(Refusal(name: AccountExistsError.name, parameters: parameters))
        }
        while name == nil {
            let answer = try Self.answer("Name of the account: ")
            if !Refusal.isPossibleName(answer) {
                StandardError.warn("a name is 1 to 64 letters, digits and ._@+-, and does not begin with - or .")
            } else if try daemon.hasAccount(answer) {
                StandardError.warn("there is an account of this name: authctl account show \(answer)")
            } else {
                name = answer
            }
        }
    }

    /// Asks for the server, as far as it was not said, until one is named that may be the one; its profile.
    private mutating func askServer(
        _ profiles: [ProviderDescription],
        _ daemon: inout DaemonConnection
    ) throws(AuthctlError) -> ProviderDescription? {
        let given = (issuer, provider, variables)
        while true {
            if issuer == nil, provider == nil { try askProvider(profiles) }
            let profile = profiles.first { $0.name == provider }
            for variable in profile?.variables ?? []
            where variables[variable.name] == nil && isWanted(variable, profile) {
                try ask(for: variable)
            }
            guard checksServer, issuer != given.0 || provider != given.1 || variables != given.2 else { return profile }
            let (other, isRight) = try check(&daemon)
            if isRight {
                checksServer = false
                return profile
            }
            // What was said of a tenant or a realm is wrong, more likely than the provider.
            let asksAgain = profile?.variables?.contains { given.2[$0.name] == nil } == true
            (issuer, provider, variables) = (given.0, asksAgain ? provider : given.1, given.2)
            if other?.option == "--issuer" { issuer = other?.value } else { provider = other?.value ?? provider }
        }
    }

    /// Has the server asked, and tells what comes of it.
    ///
    /// - Returns: whether it may be the one; if not, which one the person wants instead.
    private mutating func check(
        _ daemon: inout DaemonConnection
    ) throws(AuthctlError) -> (other: (option: String, value: String)?, isRight: Bool) {
        var settings = AccountSettings(name: "")
        sayServer(in: &settings)
        let check: ServerCheck?
        do throws(AuthctlError) {
            check = try daemon.check(settings)
        } catch {
            guard case .refused(let refusal) = error, refusal.name == InvalidSettingsError.name else { throw error }
            StandardError.tell(error)
            return (nil, false)
        }
        guard let check, let contradiction = check.contradiction else {
            check?.tell(isProviderNamed: provider != nil)
            return (nil, true)
        }
        StandardError.warn(contradiction)
        guard let better = check.better,
            try Question.confirm("Use '\(PlainText.line(better.value))' instead?", byDefault: true)
        else { return (nil, false) }
        return (better, false)
    }

    private mutating func askClient(_ profile: ProviderDescription?) throws(AuthctlError) {
        guard !hasNoClientId, clientId == nil else { return }
        if let place = profile?.clientIdHint ?? profile?.documentation {
            StandardError.show("A client id comes from: \(PlainText.line(place))\n")
        }
        tell(profile?.notes, about: ["client", "redirects"])
        try askClientId(isGoogle: provider == "google")
        guard !hasSecret, client?.secret == nil else { return }
        let isUsual = profile?.clientAuthentication?.hasPrefix("client_secret") == true
        // Of a server of one's own nobody knows what kind of clients it makes.
        var hasOne = isUsual
        if profile == nil { hasOne = try Question.confirm("Has the client a secret?") }
        guard hasOne else { return }
        client = FileClient(
            id: clientId,
            secret: try HiddenPrompt.ask("Client secret (it is not shown): ", .clientSecret)
        )
    }

    /// Google's console gives a file, with the secret in it.
    private mutating func askClientId(isGoogle: Bool) throws(AuthctlError) {
        while clientId == nil {
            let answer = try Self.answer(
                isGoogle ? "The JSON file that it gave you, or the client id: " : "Client id: "
            )
            guard isGoogle, answer.hasSuffix(".json") else {
                clientId = answer
                return
            }
            do throws(AuthctlError) {
                client = try ClientSecretFile(name: Self.path(answer), prompt: "").read()
                clientId = client?.id
            } catch {
                StandardError.tell(error)
            }
        }
    }

    /// A path as people type it who are used to a shell.
    private static func path(_ text: String) -> String {
        guard text.hasPrefix("~/"), let home = unsafe getenv("HOME") else { return text }
        return unsafe String(cString: home) + text.dropFirst()
    }

    /// Asks for what the provider leaves no choice about, and what the tokens are for.
    private mutating func askSignIn(_ profile: ProviderDescription?) throws(AuthctlError) {
        let isOpen = scopes.isEmpty && purpose == nil
        guard let profile else {
            if isOpen, isDialogue { scopes = Self.words(try Question.ask("Scopes (Enter: the usual ones): ")) }
            return
        }
        let required = profile.requiredSettings ?? []
        if isOpen, isDialogue, let known = profile.scopesFor, !known.isEmpty {
            tell(profile.notes, about: ["scopes"])
            try askPurpose(known, usual: profile.scopes ?? [])
        } else if isOpen, required.contains("scopes") {
            tell(profile.notes, about: ["scopes"])
            scopes = Self.words(try Self.answer("Scopes: "))
        }
        if required.contains("redirectPort"), !hasRedirect {
            if redirectPort == nil { tell(profile.notes, about: ["redirects"]) }
            while redirectPort == nil {
                redirectPort = Int64(try Self.answer("Port of the redirect URI that the client is registered with: "))
            }
        }
        if isDialogue { tell(profile.notes, about: ["lifetime"]) }
    }

    private mutating func askPurpose(_ known: [PurposeScopes], usual: [String]) throws(AuthctlError) {
        let names = known.map { PlainText.line($0.purpose) }.joined(separator: ", ")
        while true {
            let answer = try Question.ask(
                "For (\(names); or scopes) [\(PlainText.line(usual.joined(separator: " ")))]: "
            )
            guard !answer.isEmpty else { return }
            let words = Self.words(answer.replacing(",", with: " "))
            let found = words.map { word in known.first { $0.purpose == word.lowercased() } }
            if !words.isEmpty, !found.contains(where: { $0 == nil }) {
                // Each once, in the order of the purposes.
                scopes = found.compactMap(\.self).flatMap(\.scopes).reduce(into: []) { all, scope in
                    if !all.contains(scope) { all.append(scope) }
                }
                return
            }
            // A single word that is no purpose is more likely a slip than a scope, unless it looks like one.
            guard words.count == 1, !answer.contains(where: { ":/._-".contains($0) }) else {
                scopes = words
                return
            }
            StandardError.warn("'\(PlainText.line(answer))' is none of these")
        }
    }

    private static func words(_ text: String) -> [String] {
        text.split(separator: " ").map(String.init)
    }

    /// Tells what there is to know about `topics`, each once.
    private mutating func tell(_ notes: [ProviderNote]?, about topics: Set<String>) {
        for note in notes ?? [] where topics.contains(note.about) && !told.contains(note.about) {
            StandardError.note(PlainText.line(note.text))
        }
        told.formUnion(topics)
    }

    /// Adds the scopes of the purpose that was given to those that were.
    ///
    /// - Throws: `usage` if the provider has no such purpose; anything about the connection.
    mutating func findScopes(_ daemon: inout DaemonConnection) throws(AuthctlError) {
        guard let purpose else { return }
        scopes = try daemon.scopes(for: purpose, of: provider, besides: scopes)
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
            case .unknown(let nearest):
                StandardError.warn("there is no such provider" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
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

extension DaemonConnection {
    /// The scopes of a purpose, as the provider's profile has them, with `others` behind them.
    ///
    /// Of a provider that is not known there are none: the daemon refuses it, and says which ones it knows.
    ///
    /// - Throws: `usage` if the provider has no such purpose; anything about the connection.
    mutating func scopes(for purpose: String, of provider: String?, besides others: [String]) throws(AuthctlError)
        -> [String]
    {
        guard let provider else { throw .usage(.purposeNeedsProvider) }
        guard let profile = try profiles().providers.first(where: { $0.name == provider }) else { return others }
        let known = profile.scopesFor ?? []
        guard let found = known.first(where: { $0.purpose == purpose }) else {
            let names = known.map { PlainText.line($0.purpose) }.joined(separator: ", ")
            throw .usage(.noScopes(purpose: PlainText.line(purpose), provider: PlainText.line(provider), known: names))
        }
        return found.scopes + others.filter { !found.scopes.contains($0) }
    }
}

extension DaemonConnection {
    /// The provider profiles that the daemon knows.
    fileprivate mutating func profiles() throws(AuthctlError) -> ListProviders.Reply {
        try ask(.listProviders, ListProviders.Parameters(), for: ListProviders.Reply.self)
    }

    /// Whether there is an account of this name.
    fileprivate mutating func hasAccount(_ name: String) throws(AuthctlError) -> Bool {
        do throws(AuthctlError) {
            return try !allStatuses(accounts: [name]).isEmpty
        } catch {
            guard error.isNoSuchAccount else { throw error }
            return false
        }
    }
}
