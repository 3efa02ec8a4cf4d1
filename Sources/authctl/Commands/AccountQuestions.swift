internal import AuthRefreshInterface

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
