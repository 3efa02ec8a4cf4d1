/// The position of a refresh token: its grant, and its generation within the grant.
struct TokenPosition: Sendable, Equatable, Codable {
    /// The number of the token family, from 1 in the order of issue.
    let family: Int
    /// 1 for the grant's first token, plus one at each rotation.
    let generation: Int
}

/// A new grant, with everything that a client needs to start refreshing.
package struct IssuedGrant: Sendable, Equatable, Codable {
    package let family: Int
    package let refreshToken: String
}

/// What a refresh requests for the access token. It does not change the grant.
struct AskedToken: Sendable, Equatable {
    /// The scope, space-separated; nil requests the grant's whole scope (RFC 6749 §6).
    var scope: String?
    /// The resource URIs (RFC 8707 §2.2); empty for none.
    var resources: [String] = []
    /// The audience, as Auth0 and others define it; nil for none.
    var audience: String?
    /// Who acts for the subject (RFC 8693 §4.1); nil for nobody.
    var actor: String?

    /// The token's audiences: `aud` of RFC 7662 §2.2.
    var audiences: [String] { resources + (audience.map { [$0] } ?? []) }
}

/// The tokens in an answer of the token endpoint. Times count from the Unix epoch.
struct IssuedTokens: Sendable, Equatable {
    let accessToken: String
    let accessTokenExpiresAt: Duration
    /// The next refresh token; nil if the one that was sent stays valid (RFC 6749 §6).
    let refreshToken: String?
    let scope: String
    /// The position of the refresh token that is valid from now on.
    let position: TokenPosition
}

/// Why a refresh was refused.
enum RefreshFinding: Sendable, Equatable {
    case unknownToken
    /// The token was issued to another client (RFC 6749 §10.4).
    case wrongClient
    /// The token was replaced before; `revokedFamily` says whether this use ended the grant.
    case spentToken(revokedFamily: Bool)
    case revokedGrant(RevocationCause)
    /// The requested scope is wider than the granted one (RFC 6749 §6).
    case scopeTooWide
    /// A resource is not an absolute URI, or the server knows neither the resource nor the audience (RFC 8707 §2).
    case unknownTarget
}

/// Who ended a grant.
package enum RevocationCause: String, Sendable, Equatable, Codable {
    case client = "client"
    case administrator = "administrator"
    case reuseDetected = "reuse-detected"
}

/// The ledger's decision about a refresh request.
enum RefreshDecision: Sendable, Equatable {
    /// A new access token and the same refresh token.
    case issued(IssuedTokens)
    /// A new access token and a new refresh token.
    case rotated(IssuedTokens)
    /// The token that was just replaced came again within the grace period, and gets the same answer again.
    case graceRepeat(IssuedTokens)
    case refused(RefreshFinding)
}

/// The result of a revocation request (RFC 7009).
enum RevocationDecision: Sendable, Equatable {
    case revokedGrant(family: Int)
    case revokedAccessToken(family: Int)
    /// RFC 7009 §2.2: an unknown token is not an error, because the client's purpose is already met.
    case nothingToRevoke
    /// RFC 7009 §2.1: the token belongs to another client, and the request is refused.
    case wrongClient
}

/// A token that is valid at the time of the request, as introspection describes it (RFC 7662 §2.2).
struct LiveToken: Sendable, Equatable {
    let isRefreshToken: Bool
    let family: Int
    let clientID: String
    let subject: String
    /// Who acts for the subject; nil for nobody.
    let actor: String?
    let scope: String
    /// The audiences of an access token; empty if it is for nobody in particular.
    let audiences: [String]
    /// When it expires, from the Unix epoch; nil for never.
    let expiresAt: Duration?
}

/// The administrator's view of a grant.
package struct GrantSummary: Sendable, Equatable, Codable {
    package let family: Int
    package let clientID: String
    package let subject: String
    package let scope: String
    package let generation: Int
    /// Who revoked the grant; nil while it is valid.
    package let revokedBy: RevocationCause?
}
