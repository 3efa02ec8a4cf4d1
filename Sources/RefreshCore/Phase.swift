/// The phase of an account.
package enum Phase: Hashable, Sendable {
    /// The account holds no refresh token.
    case signedOut
    /// Nothing is wrong; a refresh follows at the deadline.
    case scheduled
    /// A refresh request is under way.
    case refreshing(Lease)
    /// A refresh failed; the next attempt follows at the deadline.
    case backingOff(BackOff)
    /// The user must act; no retry helps.
    case interactionRequired(InteractionRequired)
    /// Another machine may use the grant. The account keeps it but does not use it until somebody says that it stays
    /// here.
    case parked(ParkReason)

    package var isParked: Bool {
        if case .parked = self { true } else { false }
    }
}

/// Why an account is parked. The raw values are stored, and used on the wire.
package enum ParkReason: String, Hashable, Sendable, CaseIterable {
    /// The grant was exported to be moved.
    case moved
    /// The store came from another machine.
    case otherMachine
}

/// The exclusive, time-limited right to spend one generation. It is on disk before the request leaves.
package struct Lease: Hashable, Sendable {
    /// Longer than we wait for an answer (five minutes), so that two requests for one generation never overlap.
    package static let duration = Duration.seconds(330)

    /// The generation of the refresh token that is spent.
    package var generation: Generation
    package var startedAt: Moment
    /// Why a person is needed. It stays set while an attempt shows whether that is still so; nil if nobody is needed.
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
        /// A caller, a person, or a network that comes up may end it early.
        case transient
        /// A person, a change of the account, or a network that comes up may end it early. If only the certificate
        /// failed, a caller may, too.
        case misconfigured
        /// Nothing may end it early: the server set the time (`Retry-After`).
        case serverAsked
        /// Nothing may end it early: the pause shows whether the server repeats its refusal.
        case confirming
        /// A person may end it early, or a caller after the access token has expired. The refresh token may have been
        /// spent, and a server that detects a second use ends the grant.
        case doubtful
        /// Nothing may end it early: the daemon crashed during a request of the account, more than once.
        case crashed
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
    /// An untrusted certificate is often that of a captive portal. The right one is back as soon as the user has signed
    /// in to the portal.
    var yieldsToCallers: Bool {
        switch kind {
        case .transient: true
        case .misconfigured: failure.failureClass == .untrusted
        case .serverAsked, .confirming, .doubtful, .crashed: false
        }
    }

    /// What is left of `delay`. For a doubtful wait, use `RefreshMachine.remaining(of:at:)`, which uses the tokens'
    /// times.
    func remaining(at now: Moment) -> Duration {
        max(delay - now.elapsed(since: failedAt), .zero)
    }

    /// The rest of the wait, counted from `now`.
    ///
    /// If the wall clock was set back before a reboot, the failure is in the future, and a wait counted from it would
    /// not end.
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
    /// When the last attempt ended; nil if unknown, and then `since` is used.
    package var attemptedAt: Moment?
    /// The part of the wait before the next attempt that nothing may shorten (`Retry-After`).
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

    /// Whether the refusal may pass without the person.
    private var mayPass: Bool { reason == .rejectedWithoutReason || failure.failureClass == .refusedHere }

    /// How long until the daemon tries the account by itself; nil if it does not.
    func timeToAttempt(at now: Moment) -> Duration? {
        mayPass ? remaining(of: BackOffRule.hopefulInterval, at: now) : nil
    }

    /// How long until a caller may cause an attempt; nil if callers may not.
    func timeToCallersAttempt(at now: Moment) -> Duration? {
        if mayPass { return remaining(of: BackOffRule.callersHopefulInterval, at: now) }
        switch reason {
        case .grantEnded, .outcomeUnknown: return remaining(of: BackOffRule.callersLastInterval, at: now)
        case .rejectedWithoutReason, .userRequired, .noRefreshToken, .sourceAccount, .otherPerson: return nil
        }
    }

    /// How far ahead the deadline can be at most; nil if there is no deadline.
    package var longestWait: Duration? {
        mayPass ? max(BackOffRule.hopefulInterval, leastDelay).scaled(by: 1.1) : nil
    }

    /// What is left of `interval` since the last attempt; zero if the last attempt is in the future because a clock was
    /// set back.
    func remaining(of interval: Duration, at now: Moment) -> Duration {
        let interval = max(interval, leastDelay)
        guard let attemptedAt else { return max(interval - max(now.wall - since, .zero), .zero) }
        return attemptedAt.isFuture(at: now) ? .zero : max(interval - now.elapsed(since: attemptedAt), .zero)
    }
}

/// The reasons for interaction. The raw values are used on the wire.
package enum InteractionReason: String, Hashable, Sendable, CaseIterable {
    /// The server says that the grant has ended: revoked, expired, or already spent.
    case grantEnded
    /// The server has repeated a refusal that gives no reason but is about the grant. This is never final: the daemon
    /// keeps trying.
    case rejectedWithoutReason
    /// An answer was lost, and the server no longer accepts the refresh token. It had probably been rotated (RFC 9700
    /// §4.14.2).
    case outcomeUnknown
    /// The server requires the user: sign-in, consent or a second factor.
    case userRequired
    /// The access token has expired or was refused, and there is no refresh token.
    case noRefreshToken
    /// The account that this account's token is derived from needs a person.
    case sourceAccount
    /// A refresh brought tokens of another person than the account's.
    case otherPerson
}

extension InteractionReason {
    /// Whether the refresh token may still work after the person has done what the server wants.
    var leavesGrant: Bool {
        switch self {
        case .rejectedWithoutReason, .userRequired: true
        case .grantEnded, .outcomeUnknown, .noRefreshToken, .sourceAccount, .otherPerson: false
        }
    }
}
