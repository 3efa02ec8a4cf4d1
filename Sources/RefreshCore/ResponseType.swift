/// What a client asks an authorization endpoint for (OAuth 2.0 Multiple Response Type Encoding Practices §3, §5). The
/// raw values are those of `response_type`.
package enum ResponseType: String, Hashable, Sendable, CaseIterable {
    case code
    /// The hybrid flow: code and ID token at once. The ID token says which code belongs to it (OpenID Connect Core
    /// §3.3).
    case codeAndIDToken = "code id_token"
    /// The implicit flow: it says who signed in, and gives nothing that could be refreshed (OpenID Connect Core §3.2).
    case idToken = "id_token"

    package var hasCode: Bool { self != .idToken }
    package var hasIDToken: Bool { self != .code }
}
