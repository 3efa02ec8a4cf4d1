package import RefreshCore

/// What an ID token must be to be believed (OpenID Connect Core §3.1.3.7, §3.1.3.8, §12.2): set up from the account and the
/// request that was sent, then asked about the token that came back.
package struct IDTokenValidation: Sendable {
    package var issuer: Issuer
    /// What `iss` may be instead: Entra's shared authorities sign for all tenants, as
    /// `https://login.microsoftonline.com/{tenantid}/v2.0`. Nil for all other servers.
    package var issuerTemplate: String?
    /// Other spellings of the issuer that the server is known to write: Google's `accounts.google.com`.
    package var issuerAliases: [String] = []
    /// The policy that the account runs at its server; nil if it does not matter.
    package var policy: IDTokenPolicy?
    package var clientID: String
    /// `id_token_signed_response_alg` of the registration (RFC 7591). Nil takes every algorithm with a public key; a symmetric one
    /// is taken only if it stands here.
    package var registeredAlgorithm: SigningAlgorithm?
    /// The key of symmetric algorithms.
    package var clientSecret: Secret?
    /// What the request sent; nil if it sent none.
    package var nonce: Secret?
    /// What came with the token; compared with `at_hash` if the token has it.
    package var accessToken: Secret?
    /// What the token was exchanged for; compared with `c_hash` if the token has it.
    package var code: Secret?
    /// Whether the token must have `c_hash`: it came with the code (OpenID Connect Core §3.3.2.11).
    package var requiresCodeHash = false
    /// `max_age` of the request; with it the token must say when the user authenticated.
    package var maxAge: Duration?
    /// What `acr` has to be one of; empty if it does not matter.
    package var acceptableContexts: [String] = []
    /// The token before, if this one came from a refresh.
    package var previous: IDToken?

    /// Tolerance for times in tokens. Servers in one cluster differ by seconds, and `Date` is rounded to one; what our own clock is
    /// wrong by is not in it: that is `skew`.
    package static let leeway = Duration.seconds(60)
    /// How long ago a token may have been made that was just received. It is made with its answer; an hour leaves room for a
    /// server that keeps one for the code's lifetime, and none for a token from another day.
    package static let ageLimit = Duration.seconds(3600)

    package init(issuer: Issuer, clientID: String) {
        self.issuer = issuer
        self.clientID = clientID
    }

    /// The claims of `token`, if everything about it is right.
    ///
    /// - Parameters:
    ///   - keys: the issuer's, from its own `jwks_uri`.
    ///   - skew: the server's clock minus ours, if its `Date` told.
    /// - Throws: `JOSEError`. If it `mayBeKeyRotation`, the key set should be fetched anew, once, and the token be tried again.
    package func validate(
        _ token: Secret,
        keys: JWKSet,
        now: Timestamp,
        skew: Duration = .zero
    ) throws(JOSEError) -> IDToken {
        let jws = try CompactJWS(token)
        try checkType(jws.header)
        let key = try checkSignature(of: jws, keys)
        let claims = try IDToken(jws.payload)
        try checkIssuer(claims, signedBy: key)
        try policy?.check(jws.payload)
        try checkAudience(claims)
        try checkTimes(claims, now: now + skew)
        try checkBindings(claims, jws.algorithm)
        try checkAuthentication(claims, now: now + skew)
        if let previous { try check(claims, against: previous) }
        return claims
    }

    /// RFC 8725 §3.11: a logout token or an access token of the same server must not pass for an ID token.
    private func checkType(_ header: JSONObject) throws(JOSEError) {
        guard header.has("typ") else { return }
        guard let type = header.text("typ") else { throw .malformed }
        // RFC 7515 §4.1.9: a media type, with or without its prefix.
        guard ["jwt", "application/jwt"].contains(type.lowercased()) else { throw .wrongType(type) }
    }

    /// The key that signed the token; nil if it was the client secret.
    private func checkSignature(of jws: CompactJWS, _ keys: JWKSet) throws(JOSEError) -> JSONWebKey? {
        let algorithm = jws.algorithm
        guard registeredAlgorithm.map({ $0 == algorithm }) ?? !algorithm.isSymmetric else {
            throw .algorithmNotAllowed(algorithm)
        }
        guard !algorithm.isSymmetric else {
            guard let clientSecret, !clientSecret.isEmpty else { throw .algorithmNotAllowed(algorithm) }
            let isValid = SharedKey(clientSecret).isValid(jws.signature, of: jws.signingInput, by: algorithm.hash)
            guard isValid else { throw .signatureMismatch }
            return nil
        }
        let candidates = keys.candidates(keyID: jws.keyID, algorithm: algorithm)
        guard !candidates.isEmpty else { throw .unknownKey(jws.keyID) }
        let signer = candidates.first { $0.key.isValid(jws.signature, of: jws.signingInput, by: algorithm) }
        guard let signer else { throw .signatureMismatch }
        return signer
    }

    /// §3.1.3.7 rules 3 to 5. Another audience is trusted only if the issuer says that the token was made for this client.
    private func checkAudience(_ claims: IDToken) throws(JOSEError) {
        guard claims.audiences.contains(where: { $0.isIdentical(to: clientID) }) else { throw .wrongAudience }
        guard let party = claims.authorizedParty else {
            guard claims.audiences.count == 1 else { throw .wrongAuthorizedParty }
            return
        }
        guard party.isIdentical(to: clientID) else { throw .wrongAuthorizedParty }
    }

    /// §3.1.3.7 rules 9 and 10, RFC 7519 §4.1.5.
    private func checkTimes(_ claims: IDToken, now: Timestamp) throws(JOSEError) {
        guard now < claims.expiresAt + Self.leeway else { throw .expired(claims.expiresAt) }
        if let start = claims.notBefore, start > now + Self.leeway { throw .notYetValid(start) }
        guard claims.issuedAt <= now + Self.leeway else { throw .issuedInFuture(claims.issuedAt) }
        guard claims.issuedAt >= now - Self.ageLimit else { throw .issuedLongAgo(claims.issuedAt) }
    }

    /// That the token belongs to this request, this access token and this code (§3.1.3.7 rule 11, §3.1.3.8, §3.3.2.11).
    private func checkBindings(_ claims: IDToken, _ algorithm: SigningAlgorithm) throws(JOSEError) {
        if let nonce {
            guard let found = claims.nonce else { throw .claimMissing(.nonce) }
            // `Secret` compares in constant time.
            guard Secret(found) == nonce else { throw .nonceMismatch }
        }
        if let accessToken, let hash = claims.accessTokenHash {
            guard hash.isIdentical(to: Self.hash(accessToken, algorithm)) else { throw .accessTokenMismatch }
        }
        guard !requiresCodeHash || claims.codeHash != nil else { throw .claimMissing(.codeHash) }
        if let code, let hash = claims.codeHash {
            guard hash.isIdentical(to: Self.hash(code, algorithm)) else { throw .codeMismatch }
        }
    }

    private static func hash(_ secret: Secret, _ algorithm: SigningAlgorithm) -> String {
        unsafe secret.withBytes { unsafe algorithm.halfHash(of: $0) }
    }

    /// §3.1.3.7 rules 12 and 13.
    private func checkAuthentication(_ claims: IDToken, now: Timestamp) throws(JOSEError) {
        if let maxAge {
            guard let time = claims.authenticatedAt else { throw .claimMissing(.authenticationTime) }
            guard time + maxAge + Self.leeway >= now else { throw .authenticatedLongAgo(time) }
        }
        let context = claims.authenticationContext
        guard
            acceptableContexts.isEmpty || acceptableContexts.contains(where: { context?.isIdentical(to: $0) ?? false })
        else { throw .wrongAuthenticationContext(context) }
    }
}

extension IDTokenValidation {
    /// What Entra writes into issuers where the tenant's id belongs.
    private static let tenantPlace = "{tenantid}"

    /// §3.1.3.7 rule 2: the issuer, byte for byte, or what its provider is known to write instead.
    func checkIssuer(_ claims: IDToken, signedBy key: JSONWebKey?) throws(JOSEError) {
        guard let issuerTemplate, !isOneTenant(of: issuerTemplate) else {
            guard isConfigured(claims.issuer) else { throw .wrongIssuer(claims.issuer) }
            return
        }
        // Entra's key set names for each key the issuers that it signs for; a key of one tenant must not speak for another.
        if let signer = key?.issuer {
            guard fill(signer, claims.tenant)?.isIdentical(to: claims.issuer) ?? false else {
                throw .keyOfAnotherIssuer
            }
        }
        let own = fill(issuerTemplate, claims.tenant)
        guard isConfigured(claims.issuer) || own?.isIdentical(to: claims.issuer) ?? false else {
            throw .wrongIssuer(claims.issuer)
        }
    }

    private func isConfigured(_ found: String) -> Bool {
        found.isIdentical(to: issuer.url) || issuerAliases.contains { found.isIdentical(to: $0) }
    }

    /// Whether the account's own issuer names a tenant by its id: then no other tenant will do.
    private func isOneTenant(of template: String) -> Bool {
        let ends = template.split(separator: Self.tenantPlace, omittingEmptySubsequences: false)
        guard ends.count == 2, issuer.url.hasPrefix(ends[0]), issuer.url.hasSuffix(ends[1]) else { return false }
        return Self.isTenantID(issuer.url.dropFirst(ends[0].count).dropLast(ends[1].count))
    }

    /// `template` for the tenant `tenant`; nil if that is no tenant's id, which might be half a URL.
    private func fill(_ template: String, _ tenant: String?) -> String? {
        guard template.contains(Self.tenantPlace) else { return template }
        guard let tenant, Self.isTenantID(tenant) else { return nil }
        return template.replacing(Self.tenantPlace, with: tenant)
    }

    /// A UUID in its usual form.
    private static func isTenantID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 36 && text.utf8.allSatisfy { "0123456789abcdefABCDEF-".utf8.contains($0) }
    }
}

extension IDTokenValidation {
    /// The claims of a token that came with a refresh, if it is about the same user at the same issuer, for this client (OpenID Connect
    /// Core §12.2).
    ///
    /// The signature is not looked at: the token came from the token endpoint itself (§3.1.3.7 rule 6), and to fetch keys for it would keep
    /// a rotated refresh token out of the store meanwhile.
    package func continued(_ token: Secret, subject: String) throws(JOSEError) -> IDToken {
        let payload = try CompactJWS(token).payload
        let claims = try IDToken(payload)
        try checkIssuer(claims, signedBy: nil)
        try policy?.check(payload)
        guard claims.subject.isIdentical(to: subject) else { throw .changedOnRefresh(.subject) }
        guard claims.audiences.contains(where: { $0.isIdentical(to: clientID) }) else { throw .wrongAudience }
        return claims
    }
}

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
