package import RefreshCore

/// The tokens of one successful answer of the token endpoint (RFC 6749 §5.1).
package struct TokenResponse: Sendable {
    package let accessToken: AccessToken
    /// Nil if the old one stays valid: the field was absent, null, empty, or the token that was sent (RFC 6749 §6).
    package var refreshToken: RefreshToken?
    package var issuance: Issuance
    /// Whether the answer says how long the access token lives.
    var isLifetimeStated = true
    /// What was granted; nil if the server did not say, which means: what was asked for (RFC 6749 §5.1).
    package var scopes: [String]?
    package var idToken: Secret?
}
