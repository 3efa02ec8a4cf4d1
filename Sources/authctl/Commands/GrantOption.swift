internal import Basics

/// The values of `--grant`: how a service account gets its tokens.
enum GrantOption: String, CaseIterable, Sendable {
    case clientCredentials = "client-credentials"
    case jwtBearer = "jwt-bearer"
    case tokenExchange = "token-exchange"

    /// The value of `grant_type` on the wire.
    var grantType: String {
        switch self {
        case .clientCredentials: "client_credentials"
        case .jwtBearer: Self.prefix + "jwt-bearer"
        case .tokenExchange: Self.prefix + "token-exchange"
        }
    }

    /// The prefix of the names of grants that were defined after RFC 6749.
    private static let prefix = "urn:ietf:params:oauth:grant-type:"

    /// A grant's name for people, from its wire name.
    static func words(for grantType: String) -> String {
        PlainText.line(grantType.hasPrefix(prefix) ? String(grantType.dropFirst(prefix.count)) : grantType)
    }
}

/// The kinds of tokens, by the last part of their names in RFC 8693 §3.
enum TokenTypeOption: String, CaseIterable, Sendable {
    case accessToken = "access_token"
    case idToken = "id_token"
    case jwt
    case refreshToken = "refresh_token"
    case saml1
    case saml2

    private static let prefix = "urn:ietf:params:oauth:token-type:"

    /// The full name on the wire.
    var identifier: String { Self.prefix + rawValue }

    /// The full name of a type that a person names in full or by its last part.
    static func identifier(_ name: String) -> String { name.contains(":") ? name : prefix + name }

    /// A type's name for people, from its wire name.
    static func words(for identifier: String) -> String {
        PlainText.line(identifier.hasPrefix(prefix) ? String(identifier.dropFirst(prefix.count)) : identifier)
    }
}
