package import RefreshCore

/// The conditions under which an ID token is trusted (OpenID Connect Core §3.1.3.7, §3.1.3.8, §12.2). It is created
/// from the account and the request, and then validates the token in the answer.
package struct IDTokenValidation: Sendable {
    package var issuer: Issuer
    /// What `iss` may be instead; nil for most servers. Entra's shared authorities sign for all tenants as
    /// `https://login.microsoftonline.com/{tenantid}/v2.0`.
    package var issuerTemplate: String?
    /// Other forms of the issuer that the server is known to use, such as Google's `accounts.google.com`.
    package var issuerAliases: [String] = []
    /// The policy of the account, if its provider has policies.
    package var policies = SignInPolicies()
    package var clientID: String
    /// `id_token_signed_response_alg` of the registration (RFC 7591). Nil accepts every algorithm with a public key. A
    /// symmetric algorithm is accepted only if it is set here.
    package var registeredAlgorithm: SigningAlgorithm?
    /// The key for symmetric algorithms.
    package var clientSecret: Secret?
    /// The nonce in the request; nil if there was none.
    package var nonce: Secret?
    /// The access token that came with the ID token. It is compared with `at_hash`, if the ID token has that.
    package var accessToken: Secret?
    /// The code that the ID token came for. It is compared with `c_hash`, if the ID token has that.
    package var code: Secret?
    /// Whether the token must have `c_hash`, because it came together with the code (OpenID Connect Core §3.3.2.11).
    package var requiresCodeHash = false
    /// `max_age` of the request. If it is set, the token must say when the user authenticated.
    package var maxAge: Duration?
    /// The accepted values of `acr`; empty if it does not matter.
    package var acceptableContexts: [String] = []
    /// The previous ID token, if this one came from a refresh.
    package var previous: IDToken?

    /// The tolerance for times in tokens. Servers in one cluster differ by seconds, and `Date` is rounded to a second.
    /// The error of our own clock is not part of it; that is `skew`.
    package static let leeway = Duration.seconds(60)
    /// How old a new token may be. Servers create it with the answer. An hour leaves room for a server that creates it
    /// with the code, but excludes a token from another day.
    package static let ageLimit = Duration.seconds(3600)

    package init(issuer: Issuer, clientID: String) {
        self.issuer = issuer
        self.clientID = clientID
    }

    /// The conditions for all ID tokens of `client`.
    package init(_ client: RequestingClient) {
        self.init(issuer: client.issuer, clientID: client.registration.clientID)
        guard let profile = client.profile else { return }
        (issuerTemplate, issuerAliases, policies) = (profile.issuerTemplate, profile.issuerAliases, profile.policies)
    }

    /// Validates `token` and returns its claims.
    ///
    /// - Parameters:
    ///   - keys: the issuer's keys from its `jwks_uri`.
    ///   - skew: the server's clock minus ours, if its `Date` showed that.
    /// - Throws: `JOSEError`. If it `mayBeKeyRotation`, fetch the key set again, once, and repeat the validation.
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
        try policies.check(jws.payload)
        try checkAudience(claims)
        try checkTimes(claims, now: now + skew)
        try checkBindings(claims, jws.algorithm)
        try checkAuthentication(claims, now: now + skew)
        if let previous { try check(claims, against: previous) }
        return claims
    }

    /// RFC 8725 §3.11: a logout token or an access token of the same server must not be accepted as an ID token.
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

    /// Checks §3.1.3.7 rules 3 to 5. A token with several audiences is accepted only if the issuer says that it was
    /// made for this client.
    private func checkAudience(_ claims: IDToken) throws(JOSEError) {
        guard claims.audiences.contains(where: { $0.isIdentical(to: clientID) }) else { throw .wrongAudience }
        guard let party = claims.authorizedParty else {
            guard claims.audiences.count == 1 else { throw .wrongAuthorizedParty }
            return
        }
        guard party.isIdentical(to: clientID) else { throw .wrongAuthorizedParty }
    }

    /// Checks §3.1.3.7 rules 9 and 10, and RFC 7519 §4.1.5.
    private func checkTimes(_ claims: IDToken, now: Timestamp) throws(JOSEError) {
        guard now < claims.expiresAt + Self.leeway else { throw .expired(claims.expiresAt) }
        if let start = claims.notBefore, start > now + Self.leeway { throw .notYetValid(start) }
        guard claims.issuedAt <= now + Self.leeway else { throw .issuedInFuture(claims.issuedAt) }
        guard claims.issuedAt >= now - Self.ageLimit else { throw .issuedLongAgo(claims.issuedAt) }
    }

    /// Checks that the token belongs to this request, this access token and this code (§3.1.3.7 rule 11, §3.1.3.8,
    /// §3.3.2.11).
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

    /// Checks §3.1.3.7 rules 12 and 13.
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
    /// Entra's placeholder for the tenant's ID in issuers.
    private static let tenantPlace = "{tenantid}"

    /// Checks §3.1.3.7 rule 2: the issuer, byte by byte, or what its provider is known to write instead.
    func checkIssuer(_ claims: IDToken, signedBy key: JSONWebKey?) throws(JOSEError) {
        try checkIssuer(claims.issuer, tenant: claims.tenant, signedBy: key)
    }

    private func checkIssuer(
        _ found: String,
        tenant: String?,
        signedBy key: JSONWebKey?
    ) throws(JOSEError) {
        guard let issuerTemplate, !isOneTenant(of: issuerTemplate) else {
            guard isConfigured(found) else { throw .wrongIssuer(found) }
            return
        }
        // Entra's key set lists for each key the issuer that it signs for. A key of one tenant must not sign for
        // another.
        if let signer = key?.issuer {
            guard fill(signer, tenant)?.isIdentical(to: found) ?? false else {
                throw .keyOfAnotherIssuer
            }
        }
        let own = fill(issuerTemplate, tenant)
        guard isConfigured(found) || own?.isIdentical(to: found) ?? false else { throw .wrongIssuer(found) }
    }

    private func isConfigured(_ found: String) -> Bool {
        found.isIdentical(to: issuer.url) || issuerAliases.contains { found.isIdentical(to: $0) }
    }

    /// Whether the account's issuer contains a tenant's ID, so that no other tenant is accepted.
    private func isOneTenant(of template: String) -> Bool {
        let ends = template.split(separator: Self.tenantPlace, omittingEmptySubsequences: false)
        guard ends.count == 2, issuer.url.hasPrefix(ends[0]), issuer.url.hasSuffix(ends[1]) else { return false }
        return Self.isTenantID(issuer.url.dropFirst(ends[0].count).dropLast(ends[1].count))
    }

    /// `template` for the tenant `tenant`; nil if `tenant` is not a tenant's ID. Other text could change the URL.
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
    /// The claims of a token from a refresh, if it has the same user, issuer and client as before (OpenID Connect Core
    /// §12.2).
    ///
    /// The signature is not checked, because the token came directly from the token endpoint (§3.1.3.7 rule 6).
    /// Fetching keys for it would delay storing a rotated refresh token.
    ///
    /// - Parameter subject: the user; nil if that is not known yet.
    package func continued(_ token: Secret, subject: String?) throws(JOSEError) -> IDToken {
        let payload = try CompactJWS(token).payload
        let claims = try IDToken(payload)
        try checkIssuer(claims, signedBy: nil)
        try policies.check(payload)
        guard claims.audiences.contains(where: { $0.isIdentical(to: clientID) }) else { throw .wrongAudience }
        if let subject, !claims.subject.isIdentical(to: subject) { throw .changedOnRefresh(.subject) }
        return claims
    }
}

extension IDTokenValidation {
    /// The claims of a signed answer of the UserInfo endpoint, as JSON (OpenID Connect Core §5.3.2).
    ///
    /// - Throws: `JOSEError`. If it `mayBeKeyRotation`, fetch the key set again, once.
    package func userInfo(_ token: Secret, keys: JWKSet) throws(JOSEError) -> [UInt8] {
        let jws = try CompactJWS(token)
        let key = try checkSignature(of: jws, keys)
        let claims = jws.payload
        // The standard recommends both, and says what they must be.
        if let found = claims.text("iss") { try checkIssuer(found, tenant: claims.text("tid"), signedBy: key) }
        let audiences = claims.texts("aud") ?? claims.text("aud").map { [$0] } ?? []
        guard audiences.isEmpty || audiences.contains(where: { $0.isIdentical(to: clientID) }) else {
            throw .wrongAudience
        }
        return jws.payloadBytes
    }
}

extension IDTokenValidation {
    /// Checks the claims that must not change while a grant lives (OpenID Connect Core §12.2).
    func check(_ claims: IDToken, against previous: IDToken) throws(JOSEError) {
        guard claims.issuer.isIdentical(to: previous.issuer) else { throw .changedOnRefresh(.issuer) }
        guard claims.subject.isIdentical(to: previous.subject) else { throw .changedOnRefresh(.subject) }
        let isKept = previous.audiences.allSatisfy { old in claims.audiences.contains { $0.isIdentical(to: old) } }
        guard isKept else { throw .changedOnRefresh(.audience) }
        guard Self.isSame(claims.authorizedParty, previous.authorizedParty) else {
            throw .changedOnRefresh(.authorizedParty)
        }
        // It is the time of the sign-in, not of the refresh. A server may state it only once.
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
