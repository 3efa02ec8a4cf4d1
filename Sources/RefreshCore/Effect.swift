/// What has to be done about a decision, in this order. Everything after `persist` waits until it is durable.
package enum Effect: Hashable, Sendable {
    /// Commit the state, and with it the tokens as told. The first effect of every event that changes the state.
    case persist(TokenChange)
    /// Spend the refresh token of the lease's generation at the token endpoint; nil asks for the account's default access token.
    case send(Lease, for: TokenSet? = nil)
    /// Tell subscribers and the journal.
    case publish(AccountChange)
}

/// What a commit does to the stored tokens. Refresh tokens of other generations than the state's current and previous one go.
package enum TokenChange: Hashable, Sendable {
    case unchanged
    /// Store the tokens that came with the event; a refresh token under the state's generation.
    case store
    /// Store the refresh token that came with the event, as with `store`; the access token has ended, and what is held stays.
    case storeGrant
    /// Store the tokens that came with the event, and erase all others, those of sets included: they belong to the grant before.
    case replace
    /// Store the access token that came with the event as this set's, valid for these times, and a refresh token as with `store`.
    case storeSet(TokenSet, AccessTokenTimes)
    /// Erase the access token of this set.
    case eraseSet(TokenSet)
    /// Erase all of them, those of sets included.
    case erase
}

/// A change that others are told of.
package enum AccountChange: Hashable, Sendable {
    case grantImported
    case signedIn
    /// A sign-in brought an access token; the refresh token from before is kept.
    case accessTokenObtained
    case parked
    case unparked
    case tokenRefreshed
    case tokenSetRefreshed(TokenSet)
    /// A request for a set brought no tokens; the account's state is not concerned.
    case tokenSetFailed(TokenSet, RefreshFailure)
    /// An attempt failed and will be repeated.
    case refreshFailed(RefreshFailure, retryAt: Timestamp)
    /// The server refuses how we ask: a person should look at the account's settings.
    case misconfigured(RefreshFailure, retryAt: Timestamp)
    case interactionRequired(InteractionRequired)
    /// An attempt has failed, and the person who was called before is still needed.
    case interactionStillRequired(InteractionRequired, RefreshFailure)
    /// The refresh token's end is final and near.
    case refreshTokenExpiring(expiresAt: Timestamp)
    case signedOut
    /// An answer came for a generation that is not held any more.
    case staleAnswerDropped(Generation)
}
