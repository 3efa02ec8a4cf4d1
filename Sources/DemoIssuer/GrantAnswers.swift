/// Where a refresh token stands: the grant it belongs to and which of that grant's tokens it is.
struct TokenPosition: Sendable, Equatable, Codable {
    /// Number of the token family, counted from 1 in the order of issue.
    let family: Int
    /// 1 for the token a grant began with, one more at each rotation.
    let generation: Int
}

/// A grant just issued: what a client needs to start refreshing.
package struct IssuedGrant: Sendable, Equatable, Codable {
    package let family: Int
    package let refreshToken: String
}

/// What a refresh asks of the access token; the grant keeps what it has.
struct AskedToken: Sendable, Equatable {
    /// Space-separated; nil asks for the grant's whole scope (RFC 6749 §6).
    var scope: String?
    /// Resource URIs (RFC 8707 §2.2); empty asks for none in particular.
    var resources: [String] = []
    /// As Auth0 and others take it; nil asks for none in particular.
    var audience: String?
    /// Who acts on the subject's behalf (RFC 8693 §4.1); nil for nobody.
    var actor: String?

    /// Who the token is for: `aud` of RFC 7662 §2.2.
    var audiences: [String] { resources + (audience.map { [$0] } ?? []) }
}

/// A pair of tokens as the token endpoint hands it out. Times are counted from the Unix epoch.
struct IssuedTokens: Sendable, Equatable {
    let accessToken: String
    let accessTokenExpiresAt: Duration
    /// The refresh token to use next; nil when the one just used stays valid (RFC 6749 §6).
    let refreshToken: String?
    /// nil when the refresh token has no end.
    let refreshTokenExpiresAt: Duration?
    let scope: String
    /// The position of the refresh token that is good from now on.
    let position: TokenPosition
}

/// Why a refresh was not granted.
enum RefreshRefusal: Sendable, Equatable {
    case unknownToken
    /// The token was issued to another client (RFC 6749 §10.4).
    case wrongClient
    /// The token was replaced earlier; `revokedFamily` tells whether this use has cost the grant.
    case spentToken(revokedFamily: Bool)
    case expiredToken
    case revokedGrant(RevocationCause)
    /// The scope asked for is wider than the one granted (RFC 6749 §6).
    case scopeTooWide
    /// A resource is no absolute URI, or neither it nor the audience is known to the server (RFC 8707 §2).
    case unknownTarget
}

/// Who ended a grant.
package enum RevocationCause: String, Sendable, Equatable, Codable {
    case client = "client"
    case administrator = "administrator"
    case reuseDetected = "reuse-detected"
}

/// What the ledger decided about one refresh request.
enum RefreshDecision: Sendable, Equatable {
    /// New access token, same refresh token.
    case issued(IssuedTokens)
    /// New access token, new refresh token.
    case rotated(IssuedTokens)
    /// The token just replaced came again within the grace period: the tokens that had replaced it, once more.
    case graceRepeat(IssuedTokens)
    case refused(RefreshRefusal)
}

/// What a revocation request did (RFC 7009).
enum RevocationDecision: Sendable, Equatable {
    case revokedGrant(family: Int)
    case revokedAccessToken(family: Int)
    /// RFC 7009 §2.2: an unknown token is no error, since the client's purpose is already met.
    case nothingToRevoke
    /// RFC 7009 §2.1: the token was issued to another client, and the request is refused.
    case wrongClient
}

/// A token that is good at the moment of asking, as introspection describes it (RFC 7662 §2.2).
struct LiveToken: Sendable, Equatable {
    let isRefreshToken: Bool
    let family: Int
    let clientID: String
    let subject: String
    /// Who acts on the subject's behalf; nil for nobody.
    let actor: String?
    let scope: String
    /// Who an access token is for; empty means nobody in particular.
    let audiences: [String]
    /// From the Unix epoch; nil means no end.
    let expiresAt: Duration?
}

/// One grant as the administrator sees it.
package struct GrantSummary: Sendable, Equatable, Codable {
    package let family: Int
    package let clientID: String
    package let subject: String
    package let scope: String
    package let generation: Int
    /// nil while the grant stands.
    package let revokedBy: RevocationCause?
}
