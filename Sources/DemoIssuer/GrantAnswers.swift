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

/// Who ended a grant.
package enum RevocationCause: String, Sendable, Equatable, Codable {
    case client = "client"
    case administrator = "administrator"
    case reuseDetected = "reuse-detected"
}

/// The ledger's decision about a request for tokens.
enum RefreshDecision: Sendable, Equatable {
    /// A new access token and the same refresh token, or none.
    case issued(IssuedTokens)
    /// A new access token and a new refresh token.
    case rotated(IssuedTokens)
    /// The token that was just replaced came again within the grace period, and gets the same answer again.
    case graceRepeat(IssuedTokens)
    /// The outcome in the log; the error and its description for the client (RFC 6749 §5.2).
    case refused(LogEntry.Outcome, String, String)

    static let unknownToken = refused(.unknownToken, "invalid_grant", "the refresh token is unknown")
    /// The token was issued to another client (RFC 6749 §10.4).
    static let wrongClient = refused(.wrongClient, "invalid_grant", "the refresh token was issued to another client")
    /// The requested scope is wider than the granted one (RFC 6749 §6).
    static let scopeTooWide = refused(.scopeTooWide, "invalid_scope", "the scope asked for exceeds the scope granted")
    /// A resource is not an absolute URI, or the server knows neither the resource nor the audience (RFC 8707 §2).
    static let unknownTarget = refused(
        .unknownTarget,
        "invalid_target",
        "a resource or audience that was asked for is not known"
    )

    /// The token was replaced before.
    ///
    /// - Parameter revokedFamily: whether this use ended the grant.
    static func spentToken(revokedFamily: Bool) -> RefreshDecision {
        let end = revokedFamily ? "; the grant is revoked" : ""
        return refused(.spentTokenUsed, "invalid_grant", "the refresh token was used before" + end)
    }

    static func revokedGrant(_ cause: RevocationCause) -> RefreshDecision {
        let words =
            switch cause {
            case .client: "by the client"
            case .administrator: "by the administrator"
            case .reuseDetected: "because a refresh token was used twice"
            }
        return refused(.revokedGrant, "invalid_grant", "the grant was revoked " + words)
    }

    var outcome: LogEntry.Outcome {
        switch self {
        case .issued: .issued
        case .rotated: .rotated
        case .graceRepeat: .graceRepeat
        case .refused(let outcome, _, _): outcome
        }
    }
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
