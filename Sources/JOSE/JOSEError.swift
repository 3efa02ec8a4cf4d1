package import RefreshCore

/// Why a token, a key or a key set was refused, or could not be made.
///
/// Texts that come from the token are in here as they came: whoever shows them cleans and cuts them.
package enum JOSEError: Error, Hashable, Sendable {
    // The token's form.
    /// Longer than `CompactJWS.sizeLimit`.
    case tooLarge
    /// Not three parts of unpadded base64url (RFC 7515 §7.1) whose first two are JSON objects.
    case malformed
    /// Five parts: a JWE (RFC 7516), for which no client of ours has a key.
    case encrypted
    /// A member name stands twice in one object (RFC 7515 §4 wants it refused).
    case duplicateMember(String)

    // The header.
    /// `alg` is `none`: anybody could have written it.
    case unsigned
    /// `alg` is none that we know.
    case unknownAlgorithm(String)
    /// `alg` is not the one that this client is registered for, or a symmetric one that nobody registered.
    case algorithmNotAllowed(SigningAlgorithm)
    /// `crit` names extensions, and we know none (RFC 7515 §4.1.11).
    case criticalExtension
    /// `typ` says that this is another kind of token (RFC 8725 §3.11).
    case wrongType(String)

    // The signature.
    /// The key set has no key for this token; a set fetched anew may. Nil if the token names none.
    case unknownKey(String?)
    case signatureMismatch

    // The claims.
    case claimMissing(Claim)
    /// The claim has another type or range than its specification gives it.
    case claimMalformed(Claim)
    /// `iss` is not the issuer that the account is at; the associated value is the one found.
    case wrongIssuer(String)
    /// It comes from another policy of the server than the account's; the associated value is the one found.
    case wrongPolicy(String)
    /// The key that fits belongs to another issuer of the same key set.
    case keyOfAnotherIssuer
    /// `aud` does not name this client.
    case wrongAudience
    /// `azp` names another client, or is missing beside several audiences.
    case wrongAuthorizedParty
    case expired(Timestamp)
    case notYetValid(Timestamp)
    /// `iat` lies in the future.
    case issuedInFuture(Timestamp)
    /// `iat` lies too far back for an answer that was just given.
    case issuedLongAgo(Timestamp)
    case nonceMismatch
    case accessTokenMismatch
    case codeMismatch
    /// The user authenticated longer ago than `max_age` allows.
    case authenticatedLongAgo(Timestamp)
    /// `acr` is none of those that are wanted; nil if it is missing.
    case wrongAuthenticationContext(String?)

    // An ID token on refresh, against the one before (OpenID Connect Core §12.2).
    /// This claim must not change while the grant lives.
    case changedOnRefresh(Claim)

    // Keys.
    /// No JSON object with an array `keys`.
    case keySetMalformed
    /// Longer than `JWKSet.sizeLimit`, or more keys than `JWKSet.countLimit`.
    case keySetTooLarge
    /// No PEM or JWK text of a private key that we know.
    case keyMalformed
    /// The private key is locked by a passphrase, and there is nobody to ask.
    case keyIsEncrypted
    /// The key cannot sign with this algorithm.
    case keyDoesNotFit(SigningAlgorithm)
    /// The cryptographic library refused to sign, for a reason it does not say.
    case signingFailed

    /// Whether the same token may be valid under a key set that is fetched anew: keys were rotated, some servers' under an old name.
    package var mayBeKeyRotation: Bool {
        switch self {
        case .unknownKey, .signatureMismatch: true
        case .tooLarge, .malformed, .encrypted, .duplicateMember, .unsigned, .unknownAlgorithm, .algorithmNotAllowed,
            .criticalExtension, .wrongType, .claimMissing, .claimMalformed, .wrongIssuer, .wrongPolicy,
            .keyOfAnotherIssuer,
            .wrongAudience, .wrongAuthorizedParty, .expired, .notYetValid, .issuedInFuture, .issuedLongAgo,
            .nonceMismatch, .accessTokenMismatch, .codeMismatch, .authenticatedLongAgo, .wrongAuthenticationContext,
            .changedOnRefresh, .keySetMalformed, .keySetTooLarge, .keyMalformed, .keyIsEncrypted, .keyDoesNotFit,
            .signingFailed:
            false
        }
    }
}
