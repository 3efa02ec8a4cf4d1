internal import RefreshCore

extension ProviderProfile: Decodable {
    private enum Key: String, CaseIterable {
        case name, documentation, variables, issuer
        case clientIDHint = "client_id_hint"
        case issuerTemplate = "issuer_template"
        case issuerAliases = "issuer_aliases"
        case tokenEndpoint = "token_endpoint"
        case refreshEndpoint = "refresh_endpoint"
        case revocationEndpoint = "revocation_endpoint"
        case introspectionEndpoint = "introspection_endpoint"
        case exchangeEndpoint = "exchange_endpoint"
        case gitUsername = "git_username"
        case gitAuthorization = "git_authorization"
        case authentication
        case clientSecretScheme = "client_secret_scheme"
        case assertionAudience = "assertion_audience"
        case refreshParameters = "refresh_parameters"
        case revocationParameters = "revocation_parameters"
        case headers
        case correlationHeader = "correlation_header"
        case scopeSeparator = "scope_separator"
        case tokenPath = "token_path"
        case tokenFields = "token_fields"
        case bodyFormat = "body_format"
        case defaultLifetime = "default_lifetime"
        case zeroLifetime = "zero_lifetime"
        case refreshTokenLifetime = "refresh_token_lifetime"
        case refreshTokenLifetimeStart = "refresh_token_lifetime_from"
        case rotationGrace = "rotation_grace"
        case narrowedScopes = "narrowed_scopes"
        case grantEnded = "grant_ended"
        case caFile = "ca_file"
        case maxConcurrentRefreshes = "max_concurrent_refreshes"
        case maxRefreshesPerSecond = "max_refreshes_per_second"
        case validateAtMost = "validate_at_most"
        case endSessionRedirectParameter = "end_session_redirect_parameter"
        case notes, sasl
        case requiredSettings = "required_settings"
        case scopesByPurpose = "scopes_for"
    }

    /// All keys that a profile may have.
    package static let keys: [String] =
        Key.allCases.map(\.rawValue) + ServerEndpoints.names.map(\.name) + SignInProfile.Key.allCases.map(\.rawValue)
        + RefreshForm.Key.allCases.map(\.rawValue) + ExchangeForm.Key.allCases.map(\.rawValue)
        + RevocationForm.Key.allCases.map(\.rawValue) + SignInPolicies.Key.allCases.map(\.rawValue)

    /// Reads a profile from YAML or JSON.
    ///
    /// - Throws: `DecodingError` at a key that is unknown, or whose value has the wrong type or cannot be used.
    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: Self.keys)
        self.init(name: try fields.required(Key.name.rawValue))
        documentation = try fields.optional(Key.documentation.rawValue)
        clientIDHint = try fields.optional(Key.clientIDHint.rawValue)
        issuer = try url(fields, Key.issuer.rawValue, "must be an https URL without a query and a fragment") {
            try? Issuer(url: $0)
        }
        issuerTemplate = try fields.optional(Key.issuerTemplate.rawValue)
        issuerAliases = try fields.words(Key.issuerAliases.rawValue)
        tokenEndpoint = try endpoint(fields, Key.tokenEndpoint.rawValue)
        refreshEndpoint = try endpoint(fields, Key.refreshEndpoint.rawValue)
        revocationEndpoint = try endpoint(fields, Key.revocationEndpoint.rawValue)
        introspectionEndpoint = try endpoint(fields, Key.introspectionEndpoint.rawValue)
        exchangeEndpoint = try endpoint(fields, Key.exchangeEndpoint.rawValue)
        gitUsername = try fields.word(Key.gitUsername.rawValue)
        gitAuthorization = try fields.choice(Key.gitAuthorization.rawValue) ?? .basic
        for (name, path) in ServerEndpoints.names {
            endpoints[keyPath: path] = try endpoint(fields, name)
        }
        authentication = try fields.choice(Key.authentication.rawValue)
        clientSecretScheme = try fields.choice(Key.clientSecretScheme.rawValue) ?? .basic
        assertionAudience = try fields.choice(Key.assertionAudience.rawValue)
        refreshParameters = try ProviderProfile.parameters(fields, .refreshParameters)
        revocationParameters = try ProviderProfile.parameters(fields, .revocationParameters)
        scopeSeparator = try fields.converted(Key.scopeSeparator.rawValue, "must be one character") {
            $0.count == 1 ? $0 : nil
        }
        tokenPath = try fields.converted(Key.tokenPath.rawValue, "must be names joined by dots") { text in
            let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            return names.contains("") ? nil : names
        }
        tokenFields = try fields.words(Key.tokenFields.rawValue)
        bodyFormat = try fields.choice(Key.bodyFormat.rawValue) ?? .form
        defaultLifetime = try ProviderProfile.duration(fields, .defaultLifetime)
        zeroLifetime = try fields.choice(Key.zeroLifetime.rawValue) ?? .ended
        refreshTokenLifetime = try ProviderProfile.duration(fields, .refreshTokenLifetime)
        refreshTokenLifetimeStart = try fields.choice(Key.refreshTokenLifetimeStart.rawValue) ?? .use
        rotationGrace = try ProviderProfile.duration(fields, .rotationGrace)
        narrowedScopes = try fields.choice(Key.narrowedScopes.rawValue)
        grantEnded = try fields.optional(Key.grantEnded.rawValue) ?? []
        validateAtMost = try ProviderProfile.duration(fields, .validateAtMost)
        caFile = try fields.converted(Key.caFile.rawValue, "must be an absolute path") { $0.hasPrefix("/") ? $0 : nil }
        variables = try fields.optional(Key.variables.rawValue) ?? []
        if let key = fillStandards() {
            throw fields.error(key, "must be an https URL whose variables are all listed in \"variables\"")
        }
        signIn = try SignInProfile(fields)
        policies = try SignInPolicies(fields, variables: variables)
        refreshForm = try RefreshForm(fields)
        exchangeForm = try ExchangeForm(fields)
        revocationForm = try RevocationForm(fields)
        endSessionRedirectParameter = try fields.word(Key.endSessionRedirectParameter.rawValue)
        sasl = try fields.has(Key.sasl.rawValue) ? fields.choices(Key.sasl.rawValue) : nil
        let (notes, scopes, settings) = (Key.notes, Key.scopesByPurpose, Key.requiredSettings)
        try readKnowledge(fields, notes.rawValue, scopes.rawValue, settings.rawValue)
        try readHeaders(fields)
        try readLimits(fields)
    }

    private mutating func readHeaders(_ fields: StrictFields) throws {
        headers = try fields.optional(Key.headers.rawValue) ?? [:]
        for (name, value) in headers where !Self.isHeader(name: name, value: value) {
            throw fields.error(Key.headers.rawValue, "cannot set the header '\(name)'")
        }
        correlationHeader = try fields.optional(Key.correlationHeader.rawValue)
        if let name = correlationHeader, !Self.isHeader(name: name, value: "") {
            throw fields.error(Key.correlationHeader.rawValue, "cannot set the header '\(name)'")
        }
    }

    /// Headers that the request sets itself, or that would change where it goes.
    private static let reservedHeaders: Set<String> = [
        "authorization", "proxy-authorization", "host", "content-length", "content-type", "transfer-encoding",
        "connection", "accept", "accept-encoding", "expect", "te", "upgrade", "cookie",
    ]

    /// The names and values that extra headers of a profile may have.
    private static func isHeader(name: String, value: String) -> Bool {
        let isToken = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default:
                false
            }
        }
        return !name.isEmpty && name.utf8.allSatisfy(isToken) && !reservedHeaders.contains(name.lowercased())
            && value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    private mutating func readLimits(_ fields: StrictFields) throws {
        maxConcurrentRefreshes = try fields.optional(Key.maxConcurrentRefreshes.rawValue)
        guard maxConcurrentRefreshes ?? 1 >= 1 else {
            throw fields.error(Key.maxConcurrentRefreshes.rawValue, "must be at least 1")
        }
        maxRefreshesPerSecond = try fields.optional(Key.maxRefreshesPerSecond.rawValue)
        guard maxRefreshesPerSecond ?? 1 > 0 else {
            throw fields.error(Key.maxRefreshesPerSecond.rawValue, "must be more than 0")
        }
    }

    private static func parameters(_ fields: StrictFields, _ key: Key) throws -> [String: String] {
        let parameters: [String: String] = try fields.optional(key.rawValue) ?? [:]
        if let reserved = ReservedParameter.first(in: parameters) {
            throw fields.error(key.rawValue, reservedParameter: reserved)
        }
        return parameters
    }

    private mutating func endpoint(_ fields: StrictFields, _ name: String) throws -> Endpoint? {
        try url(fields, name, "must be an https URL") { Endpoint($0) }
    }

    /// Reads a URL. If it contains variables, it is kept as a template, and the result is nil.
    private mutating func url<Value>(
        _ fields: StrictFields,
        _ name: String,
        _ rule: String,
        _ convert: (String) -> Value?
    ) throws -> Value? {
        if let text: String = try fields.optional(name), text.contains("{") {
            templates[name] = text
            return nil
        }
        return try fields.converted(name, rule, convert)
    }

    private static func duration(_ fields: StrictFields, _ key: Key) throws -> Duration? {
        try fields.converted(key.rawValue, "must be a time span such as 90d, 12h, 5m or 30s") { Duration(written: $0) }
    }
}

/// Reads the fields of a mapping in which all keys must be known.
///
/// It is used for the files that people write. `Codable` alone ignores unknown keys, and so hides typing mistakes.
package struct StrictFields {
    private let container: KeyedDecodingContainer<FieldName>

    /// - Throws: `DecodingError.dataCorrupted` at the first key, in alphabetical order, that is not in `known`.
    package init(_ decoder: any Decoder, known: [String]) throws {
        container = try decoder.container(keyedBy: FieldName.self)
        let unknown = container.allKeys.map(\.stringValue).filter { !known.contains($0) }.sorted()
        if let name = unknown.first { throw error(name, "is not a known key") }
    }

    /// - Throws: `DecodingError` if the key is absent or its value has another type.
    package func required<Value: Decodable>(_ name: String) throws -> Value {
        try container.decode(Value.self, forKey: FieldName(stringValue: name))
    }

    /// Whether the key is there, with any value.
    func has(_ name: String) -> Bool { container.contains(FieldName(stringValue: name)) }

    /// Nil if the key is absent or null.
    package func optional<Value: Decodable>(_ name: String) throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: FieldName(stringValue: name))
    }

    /// The key's text after conversion; nil if the key is absent.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with `rule` if `convert` returns nil.
    package func converted<Value>(
        _ name: String,
        _ rule: String,
        _ convert: (String) -> Value?
    ) throws -> Value? {
        guard let text: String = try optional(name) else { return nil }
        guard let value = convert(text) else { throw error(name, rule) }
        return value
    }

    /// The error for the value of the key `name`.
    ///
    /// - Parameter rule: follows the quoted key: `"pkce" must be one of s256, none`. Lower case, no full stop.
    package func error(_ name: String, _ rule: String) -> DecodingError {
        let path = container.codingPath + [FieldName(stringValue: name)]
        return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: "\"\(name)\" \(rule)"))
    }

    /// The error for a key whose value names a parameter that the request itself sets.
    func error(_ name: String, reservedParameter parameter: String) -> DecodingError {
        error(name, "cannot contain '\(parameter)', which the request itself sets")
    }
}

/// A field name that is known only when the document is read.
private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
