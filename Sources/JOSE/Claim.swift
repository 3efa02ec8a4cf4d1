/// A claim that ID tokens carry (OpenID Connect Core §2, RFC 7519 §4.1); the raw value is its name.
package enum Claim: String, Hashable, Sendable {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case authorizedParty = "azp"
    case expiration = "exp"
    case issuedAt = "iat"
    case notBefore = "nbf"
    case nonce
    case accessTokenHash = "at_hash"
    case codeHash = "c_hash"
    case authenticationTime = "auth_time"
    case authenticationContext = "acr"
    case authenticationMethods = "amr"
    case session = "sid"
    case email
    case preferredUsername = "preferred_username"
    case name
    /// Entra: the tenant that the user signed in to.
    case tenant = "tid"
    /// Entra: the user within the tenant, the same for all clients.
    case object = "oid"
}
