package import RefreshCore

extension IDTokenValidation {
    /// The claims of a token that came with a refresh, if it is about the same user at the same issuer, for this client (OpenID Connect
    /// Core §12.2).
    ///
    /// The signature is not looked at: the token came from the token endpoint itself (§3.1.3.7 rule 6), and to fetch keys for it would keep
    /// a rotated refresh token out of the store meanwhile.
    package func continued(_ token: Secret, subject: String) throws(JOSEError) -> IDToken {
        let claims = try IDToken(CompactJWS(token).payload)
        try checkIssuer(claims, signedBy: nil)
        guard claims.subject.isIdentical(to: subject) else { throw .changedOnRefresh(.subject) }
        guard claims.audiences.contains(where: { $0.isIdentical(to: clientID) }) else { throw .wrongAudience }
        return claims
    }
}
