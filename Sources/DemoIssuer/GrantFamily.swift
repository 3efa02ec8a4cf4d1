/// A grant with all its refresh tokens, as the ledger stores it. Times count from the Unix epoch.
struct GrantFamily {
    let clientID: String
    let subject: String
    var scope: String
    /// The scope for a request that names none; nil for the whole scope.
    var usualScope: String?
    /// 1 for the first refresh token, plus one at each rotation.
    var generation = 1
    /// The valid refresh token.
    var refreshToken: OpaqueToken
    /// When it was last rotated; nil before the first rotation.
    var rotatedAt: Duration?
    /// The replaced refresh tokens, oldest first.
    var spent: [OpaqueToken] = []
    /// The access tokens that are still stored, oldest first.
    var access: [OpaqueToken] = []
    /// Who revoked the grant; nil while it is valid.
    var revokedBy: RevocationCause?
}

/// An access token in the ledger.
struct AccessTokenRecord {
    let token: OpaqueToken
    let family: Int
    /// When it expires, from the Unix epoch.
    let expiresAt: Duration
    /// What the client requested.
    let asked: AskedToken
}
