/// What an authorization endpoint is asked for (OAuth 2.0 Multiple Response Type Encoding Practices §3, §5); the raw values are those of
/// `response_type`.
package enum ResponseType: String, Hashable, Sendable, CaseIterable {
    case code
    /// The hybrid flow: both at once, and the ID token says which code came with it (OpenID Connect Core §3.3).
    case codeAndIDToken = "code id_token"
    /// The implicit flow: who signed in, and nothing that could be refreshed (OpenID Connect Core §3.2).
    case idToken = "id_token"

    package var hasCode: Bool { self != .idToken }
    package var hasIDToken: Bool { self != .code }
}
