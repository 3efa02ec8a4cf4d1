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
