internal import Terminal

/// `--grant`: how a service account obtains its tokens.
enum GrantOption: String, CaseIterable, Sendable {
    case clientCredentials = "client-credentials"
    case jwtBearer = "jwt-bearer"
    case tokenExchange = "token-exchange"

    /// `grant_type`, as the wire has it.
    var grantType: String {
        switch self {
        case .clientCredentials: "client_credentials"
        case .jwtBearer: Self.prefix + "jwt-bearer"
        case .tokenExchange: Self.prefix + "token-exchange"
        }
    }

    /// What the names of grants begin with that came after RFC 6749.
    private static let prefix = "urn:ietf:params:oauth:grant-type:"

    /// A grant's name on the wire, for people.
    static func words(for grantType: String) -> String {
        PlainText.line(grantType.hasPrefix(prefix) ? String(grantType.dropFirst(prefix.count)) : grantType)
    }
}

/// A kind of token, as RFC 8693 §3 names it at the end of a longer name.
enum TokenTypeOption: String, CaseIterable, Sendable {
    case accessToken = "access_token"
    case idToken = "id_token"
    case jwt
    case refreshToken = "refresh_token"
    case saml1
    case saml2

    private static let prefix = "urn:ietf:params:oauth:token-type:"

    /// The name on the wire.
    var identifier: String { Self.prefix + rawValue }

    /// A type's name on the wire, for people.
    static func words(for identifier: String) -> String {
        PlainText.line(identifier.hasPrefix(prefix) ? String(identifier.dropFirst(prefix.count)) : identifier)
    }
}
