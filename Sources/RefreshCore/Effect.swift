/// What has to be done about a decision, in this order. Everything after `persist` waits until it is durable.
package enum Effect: Hashable, Sendable {
    /// Commit the state, and with it the tokens as told. The first effect of every event that changes the state.
    case persist(TokenChange)
    /// Spend the refresh token of the lease's generation at the token endpoint.
    case send(Lease)
    /// Tell subscribers and the journal.
    case publish(AccountChange)
}

/// What a commit does to the stored tokens. Refresh tokens of other generations than the state's current and previous one go.
package enum TokenChange: Hashable, Sendable {
    case unchanged
    /// Store the tokens that came with the event; a refresh token under the state's generation.
    case store
    /// Erase all of them.
    case erase
}

/// A change that others are told of.
package enum AccountChange: Hashable, Sendable {
    case grantImported
    case tokenRefreshed
    /// An attempt failed and will be repeated.
    case refreshFailed(RefreshFailure, retryAt: Timestamp)
    /// The server refuses how we ask: a person should look at the account's settings.
    case misconfigured(RefreshFailure, retryAt: Timestamp)
    case interactionRequired(InteractionRequired)
    /// The refresh token's end is final and near.
    case refreshTokenExpiring(expiresAt: Timestamp)
    case signedOut
    /// An answer came for a generation that is not held any more.
    case staleAnswerDropped(Generation)
}
