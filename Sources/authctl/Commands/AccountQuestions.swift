internal import AuthRefreshInterface
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
    private(set) var clientSecret: SecretText?
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
        hasNoClientId: Bool,
        isForPerson: Bool = true
    ) throws(AuthctlError) {
        self.name = name
        issuer = options.issuer
        provider = options.provider
        variables = try options.variables() ?? [:]
        clientId = options.clientId
        scopes = options.scopes ?? []
        self.purpose = purpose
        redirectPort = options.redirectPort
        hasRedirect = options.redirectUri != nil || options.redirectScheme != nil
        self.isForPerson = isForPerson
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
        // Whoever said all that there has to be is asked for nothing that can be left out.
        isDialogue = !missing.isEmpty
        if name == nil { name = try Self.answer("Name of the account: ") }
        guard missing != [] || issuer == nil else { return }
        let profiles = try daemon.ask(.listProviders, ListProviders.Parameters(), for: ListProviders.Reply.self)
            .providers
        if issuer == nil, provider == nil { try askProvider(profiles) }
        let profile = profiles.first { $0.name == provider }
        for variable in profile?.variables ?? [] where variables[variable.name] == nil && isWanted(variable, profile) {
            try ask(for: variable)
        }
        try askClient(profile)
        if isForPerson, let profile { try askSignIn(profile) }
    }

    private mutating func askClient(_ profile: ProviderDescription?) throws(AuthctlError) {
        guard !hasNoClientId, clientId == nil else { return }
        if let place = profile?.clientIdHint ?? profile?.documentation {
            StandardError.show("A client id comes from: \(PlainText.line(place))\n")
        }
        tell(profile?.notes, about: ["client", "redirects"])
        clientId = try Self.answer("Client id: ")
        if !hasSecret, profile?.clientAuthentication?.hasPrefix("client_secret") == true {
            clientSecret = try HiddenPrompt.ask("Client secret (it is not shown): ", .clientSecret)
        }
    }

    /// Asks for what the provider leaves no choice about, and what the tokens are for.
    private mutating func askSignIn(_ profile: ProviderDescription) throws(AuthctlError) {
        let required = profile.requiredSettings ?? []
        let isOpen = scopes.isEmpty && purpose == nil
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
            if let found = known.first(where: { $0.purpose == answer }) {
                scopes = found.scopes
                return
            }
            let words = Self.words(answer)
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

extension DaemonConnection {
    /// The scopes of a purpose, as the provider's profile has them, with `others` behind them.
    ///
    /// Of a provider that is not known there are none: the daemon refuses it, and says which ones it knows.
    ///
    /// - Throws: `usage` if the provider has no such purpose; anything about the connection.
    mutating func scopes(for purpose: String, of provider: String?, besides others: [String]) throws(AuthctlError)
        -> [String]
    {
        guard let provider else { throw AccountAddCommand.purposeNeedsProvider }
        let profiles = try ask(.listProviders, ListProviders.Parameters(), for: ListProviders.Reply.self).providers
        guard let profile = profiles.first(where: { $0.name == provider }) else { return others }
        let known = profile.scopesFor ?? []
        guard let found = known.first(where: { $0.purpose == purpose }) else {
            let names = known.map { PlainText.line($0.purpose) }.joined(separator: ", ")
            throw .usage(
                message: "the provider '\(PlainText.line(provider))' has no scopes for '\(PlainText.line(purpose))'",
                hint: names.isEmpty ? "name them with --scope" : "it has some for: \(names)"
            )
        }
        return found.scopes + others.filter { !found.scopes.contains($0) }
    }
}
