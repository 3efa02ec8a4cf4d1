package import RefreshCore

/// Why a token, a key or a key set was refused or could not be created.
///
/// Texts from the token are included unchanged. Whoever shows them must clean and shorten them.
package enum JOSEError: Error, Hashable, Sendable {
    // The token's form.
    /// Longer than `CompactJWS.sizeLimit`.
    case tooLarge
    /// Not three parts of unpadded base64url (RFC 7515 §7.1) whose first two are JSON objects.
    case malformed
    /// Five parts: a JWE (RFC 7516), which none of our clients can decrypt.
    case encrypted
    /// A member name occurs twice in one object (RFC 7515 §4 requires refusing it).
    case duplicateMember(String)

    // The header.
    /// `alg` is `none`, so anybody could have written the token.
    case unsigned
    /// `alg` is unknown.
    case unknownAlgorithm(String)
    /// `alg` is not the one in this client's registration, or is symmetric without being registered.
    case algorithmNotAllowed(SigningAlgorithm)
    /// `crit` names extensions, and we know none (RFC 7515 §4.1.11).
    case criticalExtension
    /// `typ` says that this is another kind of token (RFC 8725 §3.11).
    case wrongType(String)

    // The signature.
    /// The key set has no key for this token. A newly fetched set may have one. Nil if the token names no key.
    case unknownKey(String?)
    case signatureMismatch

    // The claims.
    case claimMissing(Claim)
    /// The claim's type or range differs from its specification.
    case claimMalformed(Claim)
    /// `iss` is not the account's issuer; the associated value is the one found.
    case wrongIssuer(String)
    /// The token comes from another policy than the account's; the associated value is the one found.
    case wrongPolicy(String)
    /// The matching key belongs to another issuer in the same key set.
    case keyOfAnotherIssuer
    /// `aud` does not name this client.
    case wrongAudience
    /// `azp` names another client, or is missing although there are several audiences.
    case wrongAuthorizedParty
    case expired(Timestamp)
    case notYetValid(Timestamp)
    /// `iat` is in the future.
    case issuedInFuture(Timestamp)
    /// `iat` is too old for a new answer.
    case issuedLongAgo(Timestamp)
    case nonceMismatch
    case accessTokenMismatch
    case codeMismatch
    /// The user authenticated longer ago than `max_age` allows.
    case authenticatedLongAgo(Timestamp)
    /// `acr` is not one of the accepted values; nil if it is missing.
    case wrongAuthenticationContext(String?)

    // An ID token from a refresh, compared with the previous one (OpenID Connect Core §12.2).
    /// This claim must not change while the grant lives.
    case changedOnRefresh(Claim)

    // Keys.
    /// The key set is not a JSON object with an array `keys`.
    case keySetMalformed
    /// The key set is longer than `JWKSet.sizeLimit`, or has more keys than `JWKSet.countLimit`.
    case keySetTooLarge
    /// The text is not a private key in PEM or JWK form of a known kind.
    case keyMalformed
    /// The private key is protected by a passphrase, and there is nobody to ask.
    case keyIsEncrypted
    /// The key cannot sign with this algorithm.
    case keyDoesNotFit(SigningAlgorithm)
    /// The cryptographic library failed to sign, without giving a reason.
    case signingFailed

    /// Whether the token may be valid with a newly fetched key set. Servers rotate keys, and some reuse the old name.
    package var mayBeKeyRotation: Bool {
        if case .unknownKey = self { true } else { self == .signatureMismatch }
    }
}
