internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// What a person is asked for a new account.
extension NewAccount {
    /// The missing options and arguments, by their names.
    private var missing: [String] {
        [
            name == nil ? "NAME" : nil,
            settings.issuer == nil && settings.provider == nil ? "'--issuer' or '--provider'" : nil,
            settings.clientId == nil && !hasNoClientId ? "'--client-id'" : nil,
        ].compactMap(\.self)
    }

    /// Whether no client ID is needed, because the server issues one or the key file contains it, as Google's do. With
    /// other files, the daemon reports the missing ID.
    private var hasNoClientId: Bool {
        registers || settings.grantType == GrantOption.jwtBearer.grantType && clientKeyFile != nil
    }

    /// Whether a person has to sign in now, and not only after the imported grant has ended.
    private var isForPerson: Bool { settings.grantType == nil && refreshTokenFile == nil }

    /// The values of the provider profile's variables.
    var variables: [String: String] {
        get { settings.variables ?? [:] }
        set { settings.variables = newValue.isEmpty ? nil : newValue }
    }

    /// Reports the missing values if nobody can be asked.
    ///
    /// - Throws: `usage` with all of them; or with the nearest provider, if there is none of the given name.
    func demand() throws(Report) {
        guard !missing.isEmpty, !Question.canBeAsked else { return }
        if let provider = settings.provider, var daemon = try? connection.connect(),
            let profiles = try? daemon.profiles()
        {
            _ = try profiles.provider(named: provider)
        }
        let hint: Hint =
            if let provider = settings.provider, missing == ["'--client-id'"] {
                "where it comes from: \(Command("provider", "show", PlainText.line(provider)))"
            } else {
                "see '\(Command("account", "add", "--help"))'"
            }
        throw .usage("\(Self.list(missing)) \(missing.count == 1 ? "is" : "are") missing", hint: hint)
    }

    /// `a`; `a and b`; `a, b, and c`, because a name may itself be a choice of two.
    private static func list(_ names: [String]) -> String {
        guard names.count > 2, let last = names.last else { return names.joined(separator: " and ") }
        return names.dropLast().joined(separator: ", ") + ", and " + last
    }

    /// Asks for everything that is missing. If nobody can be asked, or nothing is missing, it asks nothing.
    ///
    /// - Throws: `cancelled`; connection errors.
    mutating func complete(_ daemon: inout DaemonConnection) throws(Report) {
        guard Question.canBeAsked, !missing.isEmpty || settings.issuer == nil else { return }
        // A person who has given all required values is not asked for optional ones.
        isDialogue = !missing.isEmpty
        if isDialogue { try askName(&daemon) }
        guard missing != [] || settings.issuer == nil else { return }
        let profiles = try daemon.profiles()
        if let provider = settings.provider { _ = try profiles.provider(named: provider) }
        let profile = try askServer(profiles.providers, &daemon)
        try askClient(profile)
        if isForPerson { try askSignIn(profile) }
    }

    private static let whatANameIs: Hint =
        "a name has 1 to 64 letters, digits and ._@+-, and neither - nor . at the beginning"

    /// Asks for a name that no account has. If no account can have the given name, the person hears that first.
    ///
    /// - Throws: the daemon's error if the given name belongs to another account.
    private mutating func askName(_ daemon: inout DaemonConnection) throws(Report) {
        if let name, ErrorReply.isPossibleName(name), try daemon.hasAccount(name) {
            throw ErrorReply(AccountExistsError(account: name)).report
        }
        if let given = name, !ErrorReply.isPossibleName(given) {
            StandardError.warn(Self.whatANameIs)
            name = nil
        }
        while name == nil {
            let answer = try Self.answer("Name of the account: ")
            if !ErrorReply.isPossibleName(answer) {
                StandardError.warn(Self.whatANameIs)
            } else if try daemon.hasAccount(answer) {
                StandardError.warn("an account has this name already: \(Command("account", "show", answer))")
            } else {
                name = answer
            }
        }
    }

    /// Asks for the server until one passes the check, and returns its profile.
    private mutating func askServer(
        _ profiles: [ProviderDescription],
        _ daemon: inout DaemonConnection
    ) throws(Report) -> ProviderDescription? {
        let given = settings
        while true {
            if settings.issuer == nil, settings.provider == nil { try askProvider(profiles) }
            let profile = profiles.first { $0.name == settings.provider }
            // Whoever names one value has thought of those that have a default.
            let asksForAll = given.variables == nil
            for variable in profile?.variables ?? []
            where variables[variable.name] == nil && isWanted(variable, profile) {
                if variable.default == nil || asksForAll { try ask(for: variable) }
            }
            guard checksServer, settings != given else { return profile }
            let (other, isRight) = try check(&daemon)
            if isRight {
                checksServer = false
                return profile
            }
            // The tenant or the realm is more likely to be wrong than the provider.
            let asksAgain = profile?.variables?.contains { given.variables?[$0.name] == nil } == true
            let provider = asksAgain ? settings.provider : given.provider
            settings = given
            settings.provider = provider
            if other?.option == "--issuer" {
                settings.issuer = other?.value
            } else {
                settings.provider = other?.value ?? provider
            }
        }
    }

    /// Makes the daemon check the server, and shows the result.
    ///
    /// - Returns: whether it passes; if not, the server that the person wants instead.
    private mutating func check(
        _ daemon: inout DaemonConnection
    ) throws(Report) -> (other: (option: String, value: String)?, isRight: Bool) {
        let check: CheckServer.Reply?
        do throws(Report) {
            check = try daemon.check(settings)
        } catch {
            guard error.reply?.name == InvalidSettingsError.name else { throw error }
            StandardError.tell(error)
            return (nil, false)
        }
        guard let check, let fault = check.fault else {
            settings.variables = check?.variables ?? settings.variables
            check?.tell(isProviderNamed: settings.provider != nil)
            return (nil, true)
        }
        StandardError.warn(Hint(fault))
        guard let better = check.better,
            try Question.confirm("Use '\(PlainText.line(better.value))' instead?", byDefault: true)
        else { return (nil, false) }
        return (better, false)
    }

    private mutating func askClient(_ profile: ProviderDescription?) throws(Report) {
        guard !hasNoClientId, settings.clientId == nil else { return }
        if let place = profile?.clientIdHint ?? profile?.documentation {
            StandardError.show("Get a client id from: \(PlainText.line(place))\n")
        }
        tell(profile?.notes, about: ["client", "redirects"])
        let isGoogle = settings.provider == "google"
        try askClientId(isGoogle: isGoogle)
        guard client?.secret == nil, clientKeyFile == nil, settings.clientAssertionFile == nil else { return }
        // Google's desktop clients have a secret, too. Its profile names no method, because its metadata does.
        let isUsual = isGoogle || profile?.clientAuthentication?.hasPrefix("client_secret") == true
        // For a server without a profile, we do not know what kind of clients it creates.
        var hasOne = isUsual
        if profile == nil { hasOne = try Question.confirm("Does the client have a secret?") }
        guard hasOne else { return }
        let typed = try Question.askHidden("Client secret (not shown): ", .clientSecret)
        let secret = try PastedText(typed.reveal(), purpose: .clientSecret).secret()
        client = FileClient(id: settings.clientId, secret: secret)
    }

    /// Asks for the client ID. Google's console gives out a file that also contains the secret.
    private mutating func askClientId(isGoogle: Bool) throws(Report) {
        while settings.clientId == nil {
            let answer = try Self.answer(
                isGoogle ? "The JSON file that Google's console gave you, or the client id: " : "Client id: "
            )
            // No client ID ends like this.
            let path = Self.path(answer)
            guard path.hasSuffix(".json") else {
                settings.clientId = answer
                return
            }
            do throws(Report) {
                client = try SecretFile.client(in: path)
                settings.clientId = client?.id
                if isForPerson, !hasRedirect { client?.warnOfRedirects() }
            } catch {
                StandardError.tell(error)
            }
        }
    }

    /// A path with `~` expanded, as people type it for a shell, and without the quotes that terminals put around a file
    /// that is dropped on them.
    private static func path(_ text: String) -> String {
        if text.count > 1, text.first == "'", text.last == "'" { return String(text.dropFirst().dropLast()) }
        guard text.hasPrefix("~/"), let home = environmentValue("HOME") else { return text }
        return home + text.dropFirst()
    }

    /// Asks for what the provider requires, and for the purpose of the tokens.
    private mutating func askSignIn(_ profile: ProviderDescription?) throws(Report) {
        let isOpen = settings.scopes == nil && purpose == nil
        guard let profile else {
            if isOpen, isDialogue { settings.scopes = Self.words(try Question.ask("Scopes (Enter: the usual ones): ")) }
            return
        }
        let required = profile.requiredSettings ?? []
        if isOpen, isDialogue, let known = profile.scopesFor, !known.isEmpty {
            tell(profile.notes, about: ["scopes"])
            try askPurpose(known, usual: profile.scopes ?? [])
        } else if isOpen, required.contains("scopes") {
            tell(profile.notes, about: ["scopes"])
            settings.scopes = Self.words(try Self.answer("Scopes: "))
        }
        if required.contains("redirectPort"), !hasRedirect {
            if settings.redirectPort == nil { tell(profile.notes, about: ["redirects"]) }
            while settings.redirectPort == nil {
                let port = try Self.answer("Port of the redirect URI that the client is registered with: ")
                settings.redirectPort = Int64(port)
            }
        }
        if isDialogue { tell(profile.notes, about: ["lifetime"]) }
    }

    private mutating func askPurpose(_ known: [PurposeScopes], usual: [String]) throws(Report) {
        let names = known.map { PlainText.line($0.purpose) }.joined(separator: ", ")
        let standard = PlainText.line(usual.joined(separator: " "))
        while true {
            let answer = try Question.ask("What the tokens are for (\(names); or scopes) [\(standard)]: ")
            guard !answer.isEmpty else { return }
            let words = Self.words(answer.replacing(",", with: " "))
            let found = words.map { word in known.first { $0.purpose == word.lowercased() } }
            if !words.isEmpty, !found.contains(where: { $0 == nil }) {
                // Each scope once, in the order of the purposes.
                settings.scopes = found.compactMap(\.self).flatMap(\.scopes).reduce(into: []) { all, scope in
                    if !all.contains(scope) { all.append(scope) }
                }
                return
            }
            // A single word that is not a purpose is more likely a typo than a scope, unless it looks like a scope.
            guard words.count == 1, !answer.contains(where: { ":/._-".contains($0) }) else {
                settings.scopes = words
                return
            }
            StandardError.warn("'\(PlainText.line(answer))' is not one of these")
        }
    }

    private static func words(_ text: String) -> [String] {
        text.split(separator: " ").map(String.init)
    }

    /// Shows the notes about `topics`, each once.
    private mutating func tell(_ notes: [ProviderNote]?, about topics: Set<String>) {
        for note in notes ?? [] where topics.contains(note.about) && !told.contains(note.about) {
            StandardError.note(Hint(PlainText.line(note.text)))
        }
        told.formUnion(topics)
    }

    /// Adds the scopes of the given purpose to the given scopes.
    ///
    /// - Throws: `usage` if the provider has no such purpose; connection errors.
    mutating func findScopes(_ daemon: inout DaemonConnection) throws(Report) {
        guard let purpose else { return }
        settings.scopes = try daemon.scopes(for: purpose, of: settings.provider, besides: settings.scopes ?? [])
    }

    /// Whether the variable is needed. An account with its own issuer does not need the parts of one.
    private func isWanted(_ variable: ProviderVariable, _ profile: ProviderDescription?) -> Bool {
        settings.issuer == nil || profile?.tokenEndpoint?.contains("{\(variable.name)}") == true
    }

    private mutating func ask(for variable: ProviderVariable) throws(Report) {
        let standard = variable.default.map { " [\(PlainText.line($0))]" } ?? ""
        let prompt = "\(PlainText.line(variable.name)), \(PlainText.line(variable.help))\(standard): "
        let answer = Self.part(try variable.default == nil ? Self.answer(prompt) : Question.ask(prompt))
        if !answer.isEmpty { variables[variable.name] = answer }
    }

    /// A part of an address. People paste a host with its scheme: `https://sso.example.org/`.
    private static func part(_ answer: String) -> String {
        guard let scheme = answer.prefixMatch(of: /https?:\/\//.ignoresCase()) else { return answer }
        let rest = answer[scheme.range.upperBound...]
        return String(rest.hasSuffix("/") ? rest.dropLast() : rest)
    }

    /// A person chooses by number, by name, or by the beginning of a name; or names an issuer.
    private mutating func askProvider(_ profiles: [ProviderDescription]) throws(Report) {
        let names = profiles.map(\.name)
        StandardError.show(Question.list(names, width: TerminalStyle.standardError.width ?? 80))
        while true {
            let answer = try Question.ask("Provider (number, name, or the issuer's https://…): ")
            if answer.contains("://") { return settings.issuer = answer }
            if names.contains(answer) { return settings.provider = answer }
            if let chosen = Question.choice(answer, from: names) { return settings.provider = chosen }
            let (word, isNumber) = (answer.lowercased(), Int(answer) != nil)
            let matches = word.isEmpty || isNumber ? [] : names.filter { $0.hasPrefix(word) }
            if let only = matches.first, matches.count == 1 { return settings.provider = only }
            if matches.isEmpty {
                let nearest = isNumber ? nil : Spelling.nearest(to: word, in: names)
                StandardError.warn("there is no such provider\(nearest.map { "; did you mean '\($0)'?" } ?? "")")
            } else {
                StandardError.warn("several providers begin with this: \(matches.joined(separator: ", "))")
            }
        }
    }

    /// Asks until the answer is not empty.
    private static func answer(_ prompt: String) throws(Report) -> String {
        while true {
            let text = try Question.ask(prompt)
            if !text.isEmpty { return text }
        }
    }
}

extension DaemonConnection {
    /// The scopes of a purpose in the provider's profile, followed by `others`.
    ///
    /// For an unknown provider there are none. The daemon refuses it and lists the known ones.
    ///
    /// - Throws: `usage` if the provider has no such purpose; connection errors.
    mutating func scopes(for purpose: String, of provider: String?, besides others: [String]) throws(Report)
        -> [String]
    {
        guard let provider else {
            throw .usage("'--for' needs '--provider'", hint: "name the scopes of another server with --scope")
        }
        guard let profile = try profiles().providers.first(where: { $0.name == provider }) else { return others }
        let known = profile.scopesFor ?? []
        guard let found = known.first(where: { $0.purpose == purpose }) else {
            let names = known.map { PlainText.line($0.purpose) }
            let meant = Spelling.nearest(to: purpose, in: names).map { "did you mean '\($0)'? " } ?? ""
            throw .usage(
                "the provider '\(PlainText.line(provider))' has no scopes for '\(PlainText.line(purpose))'",
                hint: names.isEmpty
                    ? "name them with --scope" : "\(meant)it has some for: \(names.joined(separator: ", "))"
            )
        }
        return found.scopes + others.filter { !found.scopes.contains($0) }
    }
}

extension DaemonConnection {
    /// The provider profiles that the daemon knows.
    fileprivate mutating func profiles() throws(Report) -> ListProviders.Reply {
        try ask(ListProviders.Parameters())
    }

    /// Whether there is an account of this name.
    fileprivate mutating func hasAccount(_ name: String) throws(Report) -> Bool {
        do throws(Report) {
            return try !allStatuses(accounts: [name]).isEmpty
        } catch {
            guard error.isNoSuchAccount else { throw error }
            return false
        }
    }
}
