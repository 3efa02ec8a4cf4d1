/// What can happen to an account.
package enum Event: Hashable, Sendable {
    case demand(Demand)
    case answer(Answer)
    case grant(NewGrant)
    case owner(OwnersChange)
    case host(HostEvent)
    case source(SourceEvent)
    /// The server was asked how long the access token issued at `issuedAt` stays valid, and answered.
    case lifetimeLearned(Duration, issuedAt: Moment)

    /// Somebody wants a token.
    package enum Demand: Hashable, Sendable {
        /// A caller waits for an access token, and none is valid for long enough.
        case tokenNeeded
        /// A caller needs a token of this target, or the token in hand should be replaced soon.
        case targetNeeded(TokenTarget)
        /// A person asked for a refresh now.
        case refreshRequested
        /// A resource server refused the access token (RFC 6750 §3.1) that was issued at `issuedAt`; nil: the caller has
        /// not said which.
        case accessTokenRejected(issuedAt: Moment?)
        /// A resource server refused the token of this target.
        case targetRejected(TokenTarget)
    }

    /// A request has ended. Each names the generation of the refresh token that it was made with.
    package enum Answer: Hashable, Sendable {
        case tokensIssued(Generation, Issuance)
        case refreshFailed(Generation, RefreshFailure)
        case targetIssued(TokenTarget, Generation, Issuance)
        case targetFailed(TokenTarget, Generation, RefreshFailure)
        /// A request for claims that the grant may not have failed. This says nothing about the grant.
        case demandRefused(Generation, RefreshFailure)
        /// Nothing was sent: the account that this token is derived from had no token. It has one now.
        case leaseReturned(Generation)
        /// Nothing was sent: the account that this token is derived from needs a person.
        case sourceLacking(Generation, RefreshFailure)
    }

    /// There is another grant.
    package enum NewGrant: Hashable, Sendable {
        /// A refresh token was imported; nil if its lifetime is unknown.
        case imported(refreshTokenLifetime: Duration?)
        /// A sign-in brought an access token, and a refresh token unless the server issues none. The code was sent at
        /// `sentAt`.
        case obtained(Issuance, hasRefreshToken: Bool, sentAt: Moment)
        /// A sign-in by the same person brought an access token and no refresh token. The code was sent at `sentAt`.
        case accessTokenObtained(Issuance, sentAt: Moment)
        /// A refresh token was imported, and the server has already issued tokens for it. It was sent at `sentAt`.
        case proved(Issuance, sentAt: Moment)
    }

    /// The account's owner has changed something.
    package enum OwnersChange: Hashable, Sendable {
        /// The grant is moving to another machine and must not be used here.
        case parked
        /// The grant does not move after all.
        case unparked
        /// The account's registration or policy was changed. If `asksAnew`, its refreshes are other requests now, and
        /// the server's refusal of the old ones says nothing about them.
        case accountUpdated(asksAnew: Bool)
        /// The user signed out.
        case signedOut
    }

    /// Time has passed, or something has become of the machine or the daemon.
    package enum HostEvent: Hashable, Sendable {
        /// The account's deadline has been reached.
        case deadlineReached
        /// The deadline was reached while the request is still under way. The request's time limit stands still during a
        /// suspend; the lease's does not.
        case requestContinues
        /// The daemon that held the lease has ended, so its answer is lost. `crashes` is how many daemons in a row have
        /// crashed during a request of this account; 0 if this one ended in another way.
        case requestAbandoned(crashes: Int)
        /// A network came up, or the machine resumed. Servers that were unreachable may be reachable now.
        case connectivityRestored
        /// The time of the sign-out that the owner configured, or of its announcement, has come. After a restart of the
        /// machine, which only the wall clock outlasts, that clock has gone undisturbed for `SignOutRule.agreement`.
        case signOutReached
    }

    /// Something has become of the account that this account's token is derived from.
    package enum SourceEvent: Hashable, Sendable {
        /// It has a token again, or now needs a person.
        case changed
        case signedOut(RefreshFailure)
    }
}

/// What one successful answer of the token endpoint says about its tokens, without the tokens themselves (RFC 6749
/// §5.1).
///
/// The machine decides by this. The tokens go from the answer straight to the store.
package struct Issuance: Hashable, Sendable {
    /// `expires_in`; zero if the token has already expired; nil if the server sent no usable value.
    package var lifetime: Duration?
    /// Where `lifetime` comes from, or why it is nil.
    package var lifetimeBasis: LifetimeBasis
    /// `refresh_in`: when the server wants the next refresh; nil if it did not say.
    package var refreshIn: Duration?
    /// Whether the answer carries a refresh token that differs from the one sent.
    package var isRotated: Bool
    /// Why the access token is not used; nil if it is.
    package var flaw: AccessTokenFinding?
    /// Whose tokens these are, as far as the answer says.
    package var person: NamedPerson
    /// How long the refresh token stays valid from now (`refresh_expires_in` and similar fields, or the provider
    /// profile); nil if unknown or unlimited.
    package var refreshTokenLifetime: Duration?

    package init(
        lifetime: Duration?,
        lifetimeBasis: LifetimeBasis? = nil,
        refreshIn: Duration? = nil,
        isRotated: Bool = false,
        flaw: AccessTokenFinding? = nil,
        person: NamedPerson = .nobody,
        refreshTokenLifetime: Duration? = nil
    ) {
        self.lifetime = lifetime
        self.lifetimeBasis = lifetimeBasis ?? (lifetime == nil ? .notStated : .stated)
        self.refreshIn = refreshIn
        self.isRotated = isRotated
        self.flaw = flaw
        self.person = person
        self.refreshTokenLifetime = refreshTokenLifetime
    }
}

/// Whom the ID token of an answer names. Many answers to a refresh have none (OpenID Connect Core §12.2).
package enum NamedPerson: Hashable, Sendable {
    /// Nobody, or nobody who can be recognized.
    case nobody
    /// The account's own person.
    case own
    /// Somebody else, by name or else by subject.
    case other(String)
}

/// What the caller has to do after a decision, in this order. Everything after `persist` waits until the commit is
/// durable.
package enum Effect: Hashable, Sendable {
    /// Commit the state and this change of the tokens. It is the first effect of every event that changes the state.
    case persist(TokenChange)
    /// Send the refresh token of the lease's generation to the token endpoint; a nil target asks for the account's
    /// default access token.
    case send(Lease, for: TokenTarget? = nil)
    /// Tell subscribers and the journal.
    case publish(AccountChange)
}

/// What a commit does to the stored tokens. It erases refresh tokens of all generations except the state's current and
/// previous one.
package enum TokenChange: Hashable, Sendable {
    case unchanged
    /// Store the tokens that came with the event; a refresh token is stored under the state's generation.
    case store
    /// Store only the refresh token that came with the event. The new access token is not used, so the stored one stays.
    /// If the account is withheld, the tokens of targets are erased.
    case storeGrant
    /// Store the tokens that came with the event, and erase all others, including those of targets. They belong to the
    /// previous grant.
    case replace
    /// Store the access token that came with the event as this target's, with these times. A refresh token is stored as
    /// with `store`.
    case storeTarget(TokenTarget, AccessTokenTimes)
    /// Erase the access token of this target.
    case eraseTarget(TokenTarget)
    /// Erase all tokens, including those of targets.
    case erase
}

/// A change that is reported to subscribers and the journal.
package enum AccountChange: Hashable, Sendable {
    case grantImported
    case signedIn
    /// A sign-in brought an access token; the account keeps its refresh token.
    case accessTokenObtained
    case parked
    case unparked
    case tokenRefreshed
    case targetRefreshed(TokenTarget)
    /// A request for a target failed; the account's state does not change.
    case targetFailed(TokenTarget, RefreshFailure)
    /// An attempt failed and will be repeated at `retryAt`.
    case refreshFailed(RefreshFailure, retryAt: Timestamp)
    /// The server refuses the way we ask. A person should check the account's settings.
    case misconfigured(RefreshFailure, retryAt: Timestamp)
    case interactionRequired(InteractionRequired)
    /// An attempt failed, and the account still needs the person.
    case interactionStillRequired(InteractionRequired, RefreshFailure)
    /// The refresh token expires soon, and no use extends it.
    case refreshTokenExpiring(expiresAt: Timestamp)
    /// The account soon signs out by itself, as its owner configured.
    case signOutNear(at: Timestamp)
    case signedOut
    /// The account has signed out by itself, at the configured time after the sign-in.
    case signedOutByItself
    /// An answer came for a generation that is no longer current.
    case staleAnswerDropped(Generation)
}
