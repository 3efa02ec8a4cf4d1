import RefreshCore

extension SignInProfile {
    enum Key: String, CaseIterable {
        case authorizationParameters = "authorization_parameters"
        case scopes
        case scopeParameter = "scope_parameter"
        case pkce, redirects
        case redirectURI = "redirect_uri"
        case redirectPort = "redirect_port"
        case redirectScheme = "redirect_scheme"
        case responseMode = "response_mode"
        case codeParameter = "code_parameter"
        case callbackFields = "callback_fields"
        case idToken = "id_token"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields) throws {
        authorizationParameters = try fields.optional(Key.authorizationParameters.rawValue) ?? [:]
        if let name = ReservedParameter.first(
            in: authorizationParameters,
            among: ReservedParameter.authorizationNames
        ) {
            throw fields.error(
                Key.authorizationParameters.rawValue,
                "has a name that the request itself uses: \(name)"
            )
        }
        scopes = try fields.words(Key.scopes.rawValue)
        scopeParameter = try fields.converted(Key.scopeParameter.rawValue, "is no parameter's name") {
            $0.isWord ? $0 : nil
        }
        pkce = try fields.choice(Key.pkce.rawValue) ?? .s256
        redirects = try fields.choices(Key.redirects.rawValue)
        responseMode = try fields.choice(Key.responseMode.rawValue)
        codeParameters = try fields.words(Key.codeParameter.rawValue)
        callbackFields = try fields.words(Key.callbackFields.rawValue)
        idToken = try fields.choice(Key.idToken.rawValue)
        try readRedirect(fields)
    }

    private mutating func readRedirect(_ fields: StrictFields) throws {
        redirectURI = try fields.converted(Key.redirectURI.rawValue, "is no absolute URI without a fragment") {
            RegisteredRedirect.isURI($0) ? $0 : nil
        }
        redirectPort = try fields.optional(Key.redirectPort.rawValue)
        if let port = redirectPort, !RegisteredRedirect.isPort(port) {
            throw fields.error(Key.redirectPort.rawValue, "is no port")
        }
        redirectScheme = try fields.converted(Key.redirectScheme.rawValue, "is no URI scheme of one's own") {
            RegisteredRedirect.isScheme($0) ? $0 : nil
        }
    }
}

extension StrictFields {
    /// The key's value, one of an enumeration's raw values; nil if the key is absent.
    func choice<Choice: RawRepresentable & CaseIterable>(_ name: String) throws -> Choice?
    where Choice.RawValue == String {
        try converted(name, "must be \(Self.list(Choice.self))") { Choice(rawValue: $0) }
    }

    /// The key's values, each one of an enumeration's; empty if the key is absent.
    func choices<Choice: RawRepresentable & CaseIterable>(_ name: String) throws -> [Choice]
    where Choice.RawValue == String {
        let texts: [String] = try optional(name) ?? []
        return try texts.map { text in
            guard let choice = Choice(rawValue: text) else {
                throw error(name, "must be a list of \(Self.list(Choice.self))")
            }
            return choice
        }
    }

    /// A list of printable ASCII words; one word may stand without its brackets. Empty if the key is absent.
    func words(_ name: String) throws -> [String] {
        let list: [String]? = try? optional(name)
        let words = try list ?? (optional(name) as String?).map { [$0] } ?? []
        guard words.allSatisfy(\.isWord) else { throw error(name, "must be a list of words") }
        return words
    }

    private static func list<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> String
    where Choice.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }
}

extension String {
    /// Whether this is printable ASCII without spaces, and not empty.
    var isWord: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
