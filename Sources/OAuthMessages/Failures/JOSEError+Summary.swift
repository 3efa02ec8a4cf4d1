extension JOSEError {
    /// What is wrong with the token or the key: "it is malformed".
    package var summary: String {
        switch self {
        case .tooLarge: "it is too long"
        case .malformed, .duplicateMember: "it is malformed"
        case .encrypted: "it is encrypted"
        case .unsigned: "it is not signed (alg none)"
        case .unknownAlgorithm: "its algorithm is not supported"
        case .algorithmNotAllowed: "its algorithm is not the one that this client is registered for"
        case .criticalExtension: "it uses an extension that is not supported"
        case .wrongType: "it is a token of another kind"
        case .unknownKey: "it is signed with a key that the server does not publish"
        case .signatureMismatch: "its signature is wrong"
        case .claimMissing: "it lacks a claim that it must have"
        case .claimMalformed: "one of its claims is malformed"
        case .wrongIssuer: "it comes from another issuer"
        case .wrongPolicy: "it comes from another policy of the server than the account's"
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
        case .changedOnRefresh: "a claim changed that must stay the same"
        case .keySetMalformed, .keySetTooLarge: "the server's keys cannot be read"
        case .keyMalformed, .keyIsEncrypted, .keyDoesNotFit, .signingFailed: "the client's key cannot be used"
        }
    }
}
