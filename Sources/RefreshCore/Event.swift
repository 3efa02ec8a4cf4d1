/// What can happen to an account.
package enum Event: Hashable, Sendable {
    /// The account's deadline has come.
    case deadlineReached
    /// A caller waits for an access token that is not there.
    case tokenNeeded
    /// A caller waits for a token of this target, or one that is held is better replaced soon.
    case targetNeeded(TokenTarget)
    /// A person asked for a refresh now.
    case refreshRequested
    /// A resource server refused the access token (RFC 6750 §3.1) that was issued at `issuedAt`; nil: the caller has not said which.
    case accessTokenRejected(issuedAt: Moment?)
    /// A resource server refused the token of this target.
    case targetRejected(TokenTarget)
    /// The token endpoint answered with tokens to a request that spent this generation.
    case tokensIssued(Generation, Issuance)
    /// The request that spent this generation brought no tokens.
    case refreshFailed(Generation, RefreshFailure)
    /// The token endpoint answered with tokens to a request for this target, which spent this generation.
    case targetIssued(TokenTarget, Generation, Issuance)
    /// The request for this target, which spent this generation, brought no tokens.
    case targetFailed(TokenTarget, Generation, RefreshFailure)
    /// The request for more than the grant is known to have (claims), which spent this generation, brought no tokens: it says nothing
    /// of the grant.
    case demandRefused(Generation, RefreshFailure)
    /// The server was asked how long the access token that was issued at `issuedAt` lives on, and has said it.
    case lifetimeLearned(Duration, issuedAt: Moment)
    /// The deadline has come while the request is still under way: its time limit stands still in a suspend, the lease does not.
    case requestContinues
    /// The daemon that held the lease is gone, and with it the answer.
    case requestAbandoned
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

extension Event {
    /// Whether it may lead to a token, and brings nothing that would be lost with the account's sign-out.
    var asksForTokens: Bool {
        switch self {
        case .deadlineReached, .tokenNeeded, .targetNeeded, .refreshRequested, .connectivityRestored, .sourceChanged:
            true
        case .accessTokenRejected, .targetRejected, .tokensIssued, .refreshFailed, .targetIssued, .targetFailed,
            .demandRefused, .lifetimeLearned, .requestContinues, .requestAbandoned, .grantImported, .grantObtained,
            .accessTokenObtained, .grantProved, .parked, .unparked, .accountUpdated, .leaseReturned, .sourceLacking,
            .signedOut:
            false
        }
    }
}

/// What one successful answer of the token endpoint says about its tokens, without the tokens (RFC 6749 §5.1).
///
/// The machine decides by this; the tokens themselves go from the answer to the store without passing through it.
package struct Issuance: Hashable, Sendable {
    /// `expires_in`, zero if the token has ended already; nil if the server gave none that makes sense.
    package var lifetime: Duration?
    /// What `lifetime` rests on, or why there is none.
    package var lifetimeBasis: LifetimeBasis
    /// `refresh_in`: when the server would like to be asked again; nil if it did not say.
    package var refreshIn: Duration?
    /// Whether the answer carries a refresh token that differs from the one that was spent.
    package var isRotated: Bool
    /// Whether the access token is bound to no key, and the account takes none such (RFC 9449 §5): it is not used.
    package var isUnbound: Bool
    /// How long the refresh token lives from now (`refresh_expires_in` and its kin, or the provider profile); nil if unknown or unlimited.
    package var refreshTokenLifetime: Duration?

    package init(
        lifetime: Duration?,
        lifetimeBasis: LifetimeBasis? = nil,
        refreshIn: Duration? = nil,
        isRotated: Bool = false,
        isUnbound: Bool = false,
        refreshTokenLifetime: Duration? = nil
    ) {
        self.lifetime = lifetime
        self.lifetimeBasis = lifetimeBasis ?? (lifetime == nil ? .notStated : .stated)
        self.refreshIn = refreshIn
        self.isRotated = isRotated
        self.isUnbound = isUnbound
        self.refreshTokenLifetime = refreshTokenLifetime
    }
}

/// What has to be done about a decision, in this order. Everything after `persist` waits until it is durable.
package enum Effect: Hashable, Sendable {
    /// Commit the state, and with it the tokens as told. The first effect of every event that changes the state.
    case persist(TokenChange)
    /// Spend the refresh token of the lease's generation at the token endpoint; nil asks for the account's default access token.
    case send(Lease, for: TokenTarget? = nil)
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
    /// Store the tokens that came with the event, and erase all others, those of targets included: they belong to the grant before.
    case replace
    /// Store the access token that came with the event as this target's, valid for these times, and a refresh token as with `store`.
    case storeTarget(TokenTarget, AccessTokenTimes)
    /// Erase the access token of this target.
    case eraseTarget(TokenTarget)
    /// Erase all of them, those of targets included.
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
    case targetRefreshed(TokenTarget)
    /// A request for a target brought no tokens; the account's state is not concerned.
    case targetFailed(TokenTarget, RefreshFailure)
    /// An attempt failed and will be repeated.
    case refreshFailed(RefreshFailure, retryAt: Timestamp)
    /// The server refuses how we ask: a person should look at the account's settings.
    case misconfigured(RefreshFailure, retryAt: Timestamp)
    case interactionRequired(InteractionRequired)
    /// An attempt has failed, and the person who was called before is still needed.
    case interactionStillRequired(InteractionRequired, RefreshFailure)
    /// The refresh token's end is final and near.
    case refreshTokenExpiring(expiresAt: Timestamp)
    /// The account soon signs out by itself, as its owner has asked for.
    case signOutNear(at: Timestamp)
    case signedOut
    /// The account has signed out as its owner has asked for, a time after the sign-in.
    case signedOutByItself
    /// An answer came for a generation that is not held any more.
    case staleAnswerDropped(Generation)
}
