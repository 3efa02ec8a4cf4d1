/// What kind of token is exchanged, or wanted (RFC 8693 §3); the raw values are the registered names.
package enum TokenTypeIdentifier: String, Hashable, Sendable, CaseIterable {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    case refreshToken = "urn:ietf:params:oauth:token-type:refresh_token"
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
    case saml1 = "urn:ietf:params:oauth:token-type:saml1"
    case saml2 = "urn:ietf:params:oauth:token-type:saml2"
    case jwt = "urn:ietf:params:oauth:token-type:jwt"
}
