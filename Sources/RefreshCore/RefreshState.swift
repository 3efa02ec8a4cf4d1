/// All that the machine knows about one account's grant: what the store keeps of it, but for the tokens themselves.
package struct RefreshState: Hashable, Sendable {
    /// Which refresh token is current.
    package var generation: Generation
    package var phase: Phase
    /// When the machine wants to be asked again, by the wall clock; nil if only an event can change anything.
    package var deadline: Timestamp?
    /// The access token that is held; nil if there is none.
    package var accessToken: AccessTokenTimes?
    /// What is known about the refresh token's end; nil if nothing.
    package var refreshToken: RefreshTokenTimes?
    /// The refresh token before the current one, kept until the current one has been used.
    package var previous: PreviousRefreshToken?
    /// Whether an exchange of this generation ended without an answer, so that the server may have rotated it away.
    package var isOutcomeUnknown: Bool
    /// Failures in a row; 0 after a success.
    package var failures: Int
    /// How often in a row the server has refused this generation in the same way without being believed.
    package var refusals: Int
    /// The refusal without a reason that `refusals` counts; nil if it counts another kind, or nothing.
    package var refusal: RepeatedRefusal?
    /// Whether there is something to refresh with: a refresh token, or what a service account's client has. A grant without (GitHub's
    /// classic apps, Slack's without rotation) lasts as long as its access token.
    package var isRefreshable: Bool
    /// Whether the server has ever answered this registration with tokens, be it to a refresh or to a sign-in: the way we ask is right, so
    /// a refusal is about the grant. A change of the account's settings makes it false.
    package var hasWorked: Bool
    /// Whether the server replaces a refresh token that is used, as its answers to this account have shown; nil before the first answer.
    ///
    /// One answer with a new refresh token makes it true for good: some servers replace it only now and then. It is false only after
    /// answers that all left the refresh token as it was. A change of the account's settings makes it nil: the account may be at
    /// another server then.
    package var isRotating: Bool?
    /// When the account signs out by itself, counted from the sign-in (`RefreshPolicy.forgetAfter`); nil if it stays.
    package var signOut: RefreshTokenTimes?

    /// A grant that has not been used: generation 0, without tokens.
    package init(
        generation: Generation = Generation(0),
        phase: Phase = .signedOut,
        deadline: Timestamp? = nil,
        accessToken: AccessTokenTimes? = nil,
        refreshToken: RefreshTokenTimes? = nil,
        previous: PreviousRefreshToken? = nil,
        isOutcomeUnknown: Bool = false,
        failures: Int = 0,
        refusals: Int = 0,
        refusal: RepeatedRefusal? = nil,
        isRefreshable: Bool = true,
        hasWorked: Bool = false,
        isRotating: Bool? = nil,
        signOut: RefreshTokenTimes? = nil
    ) {
        self.generation = generation
        self.phase = phase
        self.deadline = deadline
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.previous = previous
        self.isOutcomeUnknown = isOutcomeUnknown
        self.failures = failures
        self.refusals = refusals
        self.refusal = refusal
        self.isRefreshable = isRefreshable
        self.hasWorked = hasWorked
        self.isRotating = isRotating
        self.signOut = signOut
    }

    /// A service account's before its first token, which is due at once.
    package static func service(at now: Moment) -> RefreshState {
        RefreshState(phase: .scheduled, deadline: now.wall)
    }

    /// Whether the refresh token may still work: nothing less than a proved one takes its place.
    package var mayHoldGoodGrant: Bool {
        guard isRefreshable else { return false }
        return switch phase {
        case .signedOut: false
        case .scheduled, .refreshing, .backingOff, .parked: true
        case .interactionRequired(let interaction): interaction.reason.leavesGrant
        }
    }

    /// What a person is wanted for, also while it is tried whether that can be taken back; nil if nobody is.
    package var interaction: InteractionRequired? {
        switch phase {
        case .interactionRequired(let interaction): interaction
        case .refreshing(let lease): lease.interaction
        case .signedOut, .scheduled, .backingOff, .parked: nil
        }
    }

    /// How long the owner still lets the account hold tokens; nil if for good.
    package func timeToSignOut(at now: Moment) -> Duration? { signOut?.remaining(at: now) }

    /// Whether the time of the account is over. From then on nobody gets a token of it, even if a full disk still keeps it from being
    /// erased.
    package func isSignOutDue(at now: Moment) -> Bool { timeToSignOut(at: now) == .zero }

    /// Whether the access token has at least `minimumValidity` left at `now`.
    package func holdsAccessToken(for minimumValidity: Duration, at now: Moment) -> Bool {
        guard !isSignOutDue(at: now), let remaining = accessToken?.remaining(at: now) else { return false }
        return remaining > .zero && remaining >= minimumValidity
    }
}

/// A refusal without a reason that is about the grant.
package struct RepeatedRefusal: Hashable, Sendable {
    /// When it was given first.
    package var since: Moment
    /// What tells it from another.
    package var text: String

    package init(since: Moment, text: String) {
        self.since = since
        self.text = text
    }
}

/// The refresh token that the current one replaced.
package struct PreviousRefreshToken: Hashable, Sendable {
    package var generation: Generation
    package var replacedAt: Moment

    package init(generation: Generation, replacedAt: Moment) {
        self.generation = generation
        self.replacedAt = replacedAt
    }
}

/// The states that people are shown; the raw values are those of the wire and of `authctl status`.
package enum ShownState: String, Hashable, Sendable, CaseIterable {
    /// The access token is valid, or will be with the first refresh, and all is well.
    case fresh
    /// A refresh is under way.
    case refreshing
    /// A refresh failed and will be repeated; the access token may still be valid.
    case retrying
    case interactionRequired = "interaction-required"
    /// All is well, but the refresh token's end is final and near.
    case refreshTokenExpiring = "refresh-token-expiring"
    case signedOut = "signed-out"
    /// The server refuses how we ask, or cannot be trusted.
    case misconfigured
    /// The grant was exported to be moved to another machine, and is not used here.
    case parked
}

extension RefreshState {
    /// What people are shown of this state at `now`.
    package func shown(at now: Moment) -> ShownState {
        switch phase {
        case .signedOut: .signedOut
        case .scheduled:
            if accessToken.map({ $0.remaining(at: now) > .zero }) == true {
                grantEnds.contains { $0.isExpiring(at: now) } ? .refreshTokenExpiring : .fresh
            } else if !isRefreshable {
                .interactionRequired
            } else {
                isFirstRefreshNear(at: now) ? .refreshing : .retrying
            }
        case .refreshing(let lease):
            lease.interaction != nil ? .interactionRequired : failures > 0 ? .retrying : .refreshing
        case .backingOff(let backOff):
            backOff.failure.isMisconfiguration(kind: backOff.kind) ? .misconfigured : .retrying
        case .interactionRequired: .interactionRequired
        case .parked: .parked
        }
    }
}

extension RefreshState {
    /// When the account signs out by itself, if that comes before the refresh token's end; nil if it does not.
    package var firstSignOut: Timestamp? {
        guard let end = signOut?.expiresAt, refreshToken.map({ end <= $0.expiresAt }) ?? true else { return nil }
        return end
    }

    /// The ends that are known of the grant: the server's, and the owner's.
    var grantEnds: [RefreshTokenTimes] { [refreshToken, signOut].compactMap(\.self) }

    /// Whether the grant is so new that its first refresh cannot be called late: no network, a full disk or a busy server may hold
    /// it back for longer.
    private func isFirstRefreshNear(at now: Moment) -> Bool {
        guard accessToken == nil, let deadline else { return false }
        return now.wall - deadline < .seconds(5)
    }
}

extension RefreshFailure {
    fileprivate func isMisconfiguration(kind: BackOff.Kind) -> Bool {
        kind == .misconfigured || failureClass.isMisconfiguration
    }
}
