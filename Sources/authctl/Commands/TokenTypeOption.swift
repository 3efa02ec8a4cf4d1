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
