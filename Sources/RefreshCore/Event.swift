/// What can happen to an account.
package enum Event: Hashable, Sendable {
    /// The account's deadline has come.
    case deadlineReached
    /// A caller waits for an access token that is not there.
    case tokenNeeded
    /// A caller waits for a token of this set, or one that is held is better replaced soon.
    case tokenSetNeeded(TokenSet)
    /// A person asked for a refresh now.
    case refreshRequested
    /// A resource server refused the access token (RFC 6750 §3.1).
    case accessTokenRejected
    /// A resource server refused the token of this set.
    case tokenSetRejected(TokenSet)
    /// The token endpoint answered with tokens to a request that spent this generation.
    case tokensIssued(Generation, Issuance)
    /// The request that spent this generation brought no tokens.
    case refreshFailed(Generation, RefreshFailure)
    /// The token endpoint answered with tokens to a request for this set, which spent this generation.
    case tokenSetIssued(TokenSet, Generation, Issuance)
    /// The request for this set, which spent this generation, brought no tokens.
    case tokenSetFailed(TokenSet, Generation, RefreshFailure)
    /// The request for more than the grant is known to have (claims), which spent this generation, brought no tokens: it says nothing
    /// of the grant.
    case demandRefused(Generation, RefreshFailure)
    /// The server was asked how long the access token that was issued at `issuedAt` lives on, and has said it.
    case lifetimeLearned(Duration, issuedAt: Moment)
    /// The deadline has come while the request is still under way: its time limit stands still in a suspend, the lease does not.
    case exchangeContinues
    /// The daemon that held the lease is gone, and with it the answer.
    case exchangeAbandoned
    /// A refresh token was brought in from outside; nil if its lifetime is unknown.
    case grantImported(refreshTokenLifetime: Duration?)
    /// A sign-in brought tokens: an access token, and a refresh token unless the server gives none; the code was sent at `sentAt`.
    case grantObtained(Issuance, hasRefreshToken: Bool, sentAt: Moment)
    /// A sign-in of the person whose grant it is brought an access token and no refresh token; the code was sent at `sentAt`.
    case accessTokenObtained(Issuance, sentAt: Moment)
    /// A refresh token was brought in from outside, and the server has given tokens for it; it was sent at `sentAt`.
    case grantProved(Issuance, sentAt: Moment)
    /// The grant is on its way to another machine: it must not be used here.
    case parked
    /// The grant stays here after all.
    case unparked
    /// The account's registration or policy was changed.
    case accountUpdated
    /// A network came up, or the machine woke: what could not be reached may be reachable now.
    case connectivityRestored
    /// The request that was to spend this generation was not sent: the account that its token is derived from had none at hand, and has
    /// one now.
    case leaseReturned(Generation)
    /// The same, and that account needs a person.
    case sourceLacking(Generation, RefreshFailure)
    /// The account that this one's token is derived from has a token again, or needs a person now.
    case sourceChanged
    /// The user signed out.
    case signedOut
}
