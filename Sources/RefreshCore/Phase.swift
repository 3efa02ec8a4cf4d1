/// Where an account stands.
package enum Phase: Hashable, Sendable {
    /// It holds no refresh token.
    case signedOut
    /// All is well; a refresh follows at the deadline.
    case scheduled
    /// A refresh token is being spent.
    case refreshing(Lease)
    /// A refresh failed; the next attempt follows at the deadline.
    case backingOff(BackOff)
    /// The user must act; no retry helps.
    case interactionRequired(InteractionRequired)
    /// The grant was exported to be moved: it is kept and not used, until somebody says that it stays here.
    case parked
}

/// The exclusive, time-bounded right to spend one generation; on disk before the request leaves.
package struct Lease: Hashable, Sendable {
    /// Longer than an answer is waited for (five minutes), so that two requests for one generation never overlap.
    package static let duration = Duration.seconds(330)

    /// Which refresh token is spent.
    package var generation: Generation
    package var startedAt: Moment
    /// What a person was called for, and still is while it is tried whether that can be taken back; nil if nobody was.
    package var interaction: InteractionRequired?

    package init(generation: Generation, startedAt: Moment, interaction: InteractionRequired? = nil) {
        self.generation = generation
        self.startedAt = startedAt
        self.interaction = interaction
    }

    func isOver(at now: Moment) -> Bool {
        remaining(at: now) == .zero
    }

    func remaining(at now: Moment) -> Duration {
        max(Lease.duration - now.elapsed(since: startedAt), .zero)
    }
}

/// A wait after a failure.
package struct BackOff: Hashable, Sendable {
    package var failedAt: Moment
    /// From `failedAt` to the next attempt.
    package var delay: Duration
    /// What may end the wait early.
    package var kind: Kind
    package var failure: RefreshFailure

    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A caller in need, a person, or a network coming up.
        case transient
        /// A person, a change of the account, or a network coming up; a caller in need if all that failed was the certificate.
        case misconfigured
        /// Nothing: the server named the time (`Retry-After`).
        case serverAsked
        /// Nothing: the pause is there to see whether the server repeats its refusal.
        case confirming
        /// A person, or a caller once the access token has ended: the refresh token may have been spent, and a server that detects a
        /// second use ends the grant.
        case doubtful
    }

    package init(failedAt: Moment, delay: Duration, kind: Kind, failure: RefreshFailure) {
        self.failedAt = failedAt
        self.delay = delay
        self.kind = kind
        self.failure = failure
    }

    /// The part of the wait that nothing may shorten: what the server asked for, even if our own wait is longer.
    var leastDelay: Duration {
        min(failure.retryAfter ?? .zero, BackOffRule.longestRetryAfter, delay)
    }

    /// Whether a caller's need may end the wait early.
    ///
    /// A certificate that is not trusted is often a captive portal's: the right one is back as soon as the user has signed in there.
    var yieldsToCallers: Bool {
        switch kind {
        case .transient: true
        case .misconfigured: failure.failureClass == .untrusted
        case .serverAsked, .confirming, .doubtful: false
        }
    }

    /// What is left of `delay`. A doubtful wait goes by the tokens' times instead (`RefreshMachine.remaining(of:at:)`).
    func remaining(at now: Moment) -> Duration {
        max(delay - now.elapsed(since: failedAt), .zero)
    }

    /// The rest of the wait, counted anew.
    ///
    /// After a reboot with the wall clock set back the failure lies in the future, and a wait counted from it would not end.
    func continued(at now: Moment) -> BackOff {
        guard now.boot.bootID != failedAt.boot.bootID else { return self }
        return BackOff(failedAt: now, delay: remaining(at: now), kind: kind, failure: failure)
    }
}

/// Why the user must act.
package struct InteractionRequired: Hashable, Sendable {
    package var reason: InteractionReason
    package var since: Timestamp
    /// What the server said.
    package var failure: RefreshFailure
    /// The end of the last attempt; nil if it is not known, and `since` stands for it.
    package var attemptedAt: Moment?
    /// The part of the wait for the next attempt that nothing may shorten (`Retry-After`).
    package var leastDelay: Duration

    package init(
        reason: InteractionReason,
        since: Timestamp,
        failure: RefreshFailure,
        attemptedAt: Moment? = nil,
        leastDelay: Duration = .zero
    ) {
        self.reason = reason
        self.since = since
        self.failure = failure
        self.attemptedAt = attemptedAt
        self.leastDelay = leastDelay
    }

    /// How long it is until the account is tried by itself; nil if it is not.
    func timeToAttempt(at now: Moment) -> Duration? {
        switch reason {
        case .rejectedWithoutReason: remaining(of: BackOffRule.hopefulInterval, at: now)
        case .grantEnded, .outcomeUnknown, .userRequired, .noRefreshToken, .sourceAccount: nil
        }
    }

    /// How long it is until a caller's need may have it tried; nil if it may not.
    func timeToCallersAttempt(at now: Moment) -> Duration? {
        switch reason {
        case .rejectedWithoutReason: remaining(of: BackOffRule.callersHopefulInterval, at: now)
        case .grantEnded, .outcomeUnknown: remaining(of: BackOffRule.callersLastInterval, at: now)
        case .userRequired, .noRefreshToken, .sourceAccount: nil
        }
    }

    /// How far ahead its deadline can have been put; nil if it has none.
    package var longestWait: Duration? {
        switch reason {
        case .rejectedWithoutReason: max(BackOffRule.hopefulInterval, leastDelay).scaled(by: 1.1)
        case .grantEnded, .outcomeUnknown, .userRequired, .noRefreshToken, .sourceAccount: nil
        }
    }

    /// What is left of `interval` since the last attempt; zero if that lies in the future of a clock that was set back.
    func remaining(of interval: Duration, at now: Moment) -> Duration {
        let interval = max(interval, leastDelay)
        guard let attemptedAt else { return max(interval - max(now.wall - since, .zero), .zero) }
        return attemptedAt.isFuture(at: now) ? .zero : max(interval - now.elapsed(since: attemptedAt), .zero)
    }
}

/// The reasons for interaction; the raw values are those of the wire.
package enum InteractionReason: String, Hashable, Sendable, CaseIterable {
    /// The server says that the grant has ended: revoked, expired, or already spent.
    case grantEnded
    /// The server has refused again and again without a reason that is about the grant. Never final: the account is tried on.
    case rejectedWithoutReason
    /// An answer was lost, and the server no longer takes the refresh token: it had probably been rotated (RFC 9700 §4.14.2).
    case outcomeUnknown
    /// The server wants the user: sign-in, consent, a second factor.
    case userRequired
    /// The access token has ended or was refused, and the server gave no refresh token with it.
    case noRefreshToken
    /// The account that this one's token is derived from needs a person.
    case sourceAccount
}

extension InteractionReason {
    /// Whether the refresh token may still work once the person has done what the server wants.
    var leavesGrant: Bool {
        switch self {
        case .rejectedWithoutReason, .userRequired: true
        case .grantEnded, .outcomeUnknown, .noRefreshToken, .sourceAccount: false
        }
    }
}
