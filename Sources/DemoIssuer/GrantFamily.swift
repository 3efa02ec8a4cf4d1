/// A grant and the refresh tokens that have carried it, as the ledger keeps them. Times are counted from the Unix epoch.
struct GrantFamily {
    let clientID: String
    let subject: String
    var scope: String
    /// What a request gets that names no scope; nil for all of it.
    var usualScope: String?
    /// 1 for the first refresh token, one more at each rotation.
    var generation = 1
    /// The one good refresh token.
    var refreshToken: OpaqueToken
    /// nil when it has no end.
    var refreshTokenExpiresAt: Duration?
    /// nil before the first rotation.
    var rotatedAt: Duration?
    /// The refresh tokens replaced, oldest first.
    var spent: [OpaqueToken] = []
    /// The access tokens still remembered, oldest first.
    var access: [OpaqueToken] = []
    /// nil while the grant stands.
    var revokedBy: RevocationCause?
}

/// An access token as the ledger keeps it.
struct AccessTokenRecord {
    let token: OpaqueToken
    let family: Int
    /// From the Unix epoch.
    let expiresAt: Duration
    /// What was asked for.
    let asked: AskedToken
}
