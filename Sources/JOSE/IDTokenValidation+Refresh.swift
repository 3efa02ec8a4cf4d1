extension IDTokenValidation {
    /// What must not change while a grant lives (OpenID Connect Core §12.2).
    func check(_ claims: IDToken, against previous: IDToken) throws(JOSEError) {
        guard claims.issuer.isIdentical(to: previous.issuer) else { throw .changedOnRefresh(.issuer) }
        guard claims.subject.isIdentical(to: previous.subject) else { throw .changedOnRefresh(.subject) }
        let isKept = previous.audiences.allSatisfy { old in claims.audiences.contains { $0.isIdentical(to: old) } }
        guard isKept else { throw .changedOnRefresh(.audience) }
        guard Self.isSame(claims.authorizedParty, previous.authorizedParty) else {
            throw .changedOnRefresh(.authorizedParty)
        }
        // The time of the sign-in, not of the refresh; a server may say it once only.
        if let time = claims.authenticatedAt, let original = previous.authenticatedAt {
            guard time == original else { throw .changedOnRefresh(.authenticationTime) }
        }
        if let nonce = claims.nonce, let original = previous.nonce {
            guard nonce.isIdentical(to: original) else { throw .changedOnRefresh(.nonce) }
        }
    }

    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        switch (one, other) {
        case (nil, nil): true
        case (let one?, let other?): one.isIdentical(to: other)
        case (nil, _?), (_?, nil): false
        }
    }
}
