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
    /// Whether a refresh has ever succeeded: the way we ask is right, so a refusal is about the grant.
    package var hasRefreshed: Bool
    /// Whether the server replaces a refresh token that is used, as its answers to this account have shown; nil before the first answer.
    ///
    /// One answer with a new refresh token makes it true for good: some servers replace it only now and then. It is false only after
    /// answers that all left the refresh token as it was. A change of the account's settings makes it nil: the account may be at
    /// another server then.
    package var isRotating: Bool?

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
        hasRefreshed: Bool = false,
        isRotating: Bool? = nil
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
        self.hasRefreshed = hasRefreshed
        self.isRotating = isRotating
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

    /// Whether the access token has at least `minimumValidity` left at `now`.
    package func holdsAccessToken(for minimumValidity: Duration, at now: Moment) -> Bool {
        guard let remaining = accessToken?.remaining(at: now) else { return false }
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
