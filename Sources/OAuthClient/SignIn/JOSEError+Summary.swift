internal import JOSE

extension JOSEError {
    /// What is wrong, for people.
    var summary: String {
        switch self {
        case .tooLarge: "it is too long"
        case .malformed, .duplicateMember: "it is malformed"
        case .encrypted: "it is encrypted"
        case .unsigned: "nobody signed it (alg none)"
        case .unknownAlgorithm: "its algorithm is not known here"
        case .algorithmNotAllowed: "its algorithm is not the one that this client is registered for"
        case .criticalExtension: "it uses an extension that is not known here"
        case .wrongType: "it is a token of another kind"
        case .unknownKey: "it is signed with a key that the server does not publish"
        case .signatureMismatch: "its signature is wrong"
        case .claimMissing: "it lacks a claim that it must have"
        case .claimMalformed: "one of its claims is malformed"
        case .wrongIssuer: "it is another issuer's"
        case .keyOfAnotherIssuer: "it is signed with another issuer's key"
        case .wrongAudience: "it was made for another client"
        case .wrongAuthorizedParty: "it was made for several clients, and not for this one"
        case .expired: "it has expired: compare this machine's clock with the server's"
        case .notYetValid, .issuedInFuture: "it is from the future: compare this machine's clock with the server's"
        case .issuedLongAgo: "it was made long ago"
        case .nonceMismatch: "it was made for another sign-in"
        case .accessTokenMismatch: "it was made for another access token"
        case .codeMismatch: "it was made for another code"
        case .authenticatedLongAgo: "the person signed in at the server longer ago than was asked for"
        case .wrongAuthenticationContext: "the person did not sign in as strongly as was asked for"
        case .changedOnRefresh: "a claim changed that must not"
        case .keySetMalformed, .keySetTooLarge: "the server's keys cannot be read"
        case .keyMalformed, .keyIsEncrypted, .keyDoesNotFit, .signingFailed: "the client's key cannot be used"
        }
    }

    /// The claim, name or value that it is about; nil if there is none. May be text of the token.
    var detail: String? {
        switch self {
        case .duplicateMember(let text), .unknownAlgorithm(let text), .wrongType(let text), .wrongIssuer(let text): text
        case .algorithmNotAllowed(let algorithm), .keyDoesNotFit(let algorithm): algorithm.rawValue
        case .claimMissing(let claim), .claimMalformed(let claim), .changedOnRefresh(let claim): claim.rawValue
        case .unknownKey(let text), .wrongAuthenticationContext(let text): text
        case .tooLarge, .malformed, .encrypted, .unsigned, .criticalExtension, .signatureMismatch, .keyOfAnotherIssuer,
            .wrongAudience, .wrongAuthorizedParty, .expired, .notYetValid, .issuedInFuture, .issuedLongAgo,
            .nonceMismatch, .accessTokenMismatch, .codeMismatch, .authenticatedLongAgo, .keySetMalformed,
            .keySetTooLarge, .keyMalformed, .keyIsEncrypted, .signingFailed:
            nil
        }
    }
}
