/// All that the machine knows about one account's grant. The store keeps this together with the tokens.
package struct RefreshState: Hashable, Sendable {
    /// The generation of the current refresh token.
    package var generation = Generation(0)
    package var phase = Phase.signedOut
    /// When the machine wants the next `deadlineReached` event, by the wall clock; nil if it waits only for other
    /// events.
    package var deadline: Timestamp?
    /// The times of the access token; nil if there is none.
    package var accessToken: AccessTokenTimes?
    /// What is known about when the refresh token expires; nil if nothing is known.
    package var refreshToken: RefreshTokenTimes?
    /// The refresh token before the current one, kept until the current one has been used.
    package var previous: PreviousRefreshToken?
    /// Whether a request with this generation ended without an answer, so that the server may have rotated the token.
    package var isOutcomeUnknown = false
    /// Failures in a row; 0 after a success.
    package var failures = 0
    /// How many equal refusals of this generation came in a row that were not yet believed.
    package var refusals = 0
    /// The refusal without a reason that `refusals` counts; nil if `refusals` is zero or counts another kind.
    package var refusal: RefusalMemory?
    /// Whether the account can refresh: it has a refresh token, or its client is a service account.
    ///
    /// A grant without a refresh token (GitHub's classic apps, Slack without rotation) lasts as long as its access
    /// token.
    package var isRefreshable = true
    /// Whether the server has ever issued tokens to this registration, for a refresh or a sign-in.
    ///
    /// If so, the way we ask is right, and a refusal is about the grant. A change of the account's settings makes this
    /// false.
    package var hasWorked = false
    /// Whether the server rotates the refresh token, as its answers to this account have shown; nil before the first
    /// answer.
    ///
    /// One answer with a new refresh token makes it true for good, because some servers rotate only now and then. It is
    /// false only if all answers left the refresh token as it was. A change of the account's settings makes it nil,
    /// because the account may then use another server.
    package var isRotating: Bool?
    /// Whether nobody gets a token of the account, because an answer brought tokens of another person. The account then
    /// has no access token.
    ///
    /// Only a new grant ends this, or an answer that names the account's own person. The phase does not: an account can
    /// be parked meanwhile.
    package var isWithheld = false
    /// When the account signs out by itself, counted from the sign-in (`RefreshPolicy.forgetAfter`); nil if it stays
    /// signed in.
    package var signOut: RefreshTokenTimes?

    /// The state before the first grant: generation 0, without tokens.
    package static let unused = RefreshState()

    /// The state of a service account before its first token, which is due at once.
    package static func service(at now: Moment) -> RefreshState {
        RefreshState(phase: .scheduled, deadline: now.wall)
    }

    /// Whether the refresh token may still work. Then only a refresh token that has proved to work may replace it.
    package var mayHoldGoodGrant: Bool {
        guard isRefreshable, !isWithheld else { return false }
        return switch phase {
        case .signedOut: false
        case .scheduled, .refreshing, .backingOff, .parked: true
        case .interactionRequired(let interaction): interaction.reason.leavesGrant
        }
    }

    /// Whether the account has a grant that can be parked now. A request under way has to end first, because its answer
    /// may hold the refresh token that the other machine needs.
    ///
    /// A grant that is parked because the store came from another machine is parked again when it is moved: from then
    /// on, it is not resumed together with the others of that store.
    package var mayBeParked: Bool {
        guard isRefreshable else { return false }
        return switch phase {
        case .signedOut, .refreshing, .parked(.moved): false
        case .scheduled, .backingOff, .interactionRequired, .parked(.otherMachine): true
        }
    }

    /// Why a person is needed, also during an attempt that shows whether that is still so; nil if nobody is needed.
    package var interaction: InteractionRequired? {
        switch phase {
        case .interactionRequired(let interaction): interaction
        case .refreshing(let lease): lease.interaction
        case .signedOut, .scheduled, .backingOff, .parked: nil
        }
    }

    /// How long until the account signs out by itself, by the clock that shows less; nil if it stays signed in.
    package func timeToSignOut(at now: Moment) -> Duration? { signOut?.remaining(at: now) }

    /// Whether the time of the account is over by any clock. From then on nobody gets a token of it, and no request
    /// begins. Its tokens are erased when `SignOutRule` says so.
    package func isSignOutDue(at now: Moment) -> Bool { timeToSignOut(at: now) == .zero }

    /// Until when the account's access token may be given out: until it expires, or the account signs out by itself. Nil
    /// if there is no token.
    ///
    /// A token that is derived from another account's ends with that account, too, which this state does not know.
    package func givable(at now: Moment) -> ClockEnds? {
        guard !isWithheld, let token = accessToken else { return nil }
        return ClockEnds(of: token.lifetime, since: token.issuedAt, at: now)
            .earlier(signOut.map { ClockEnds(of: $0.lifetime, since: $0.issuedAt, at: now) })
    }

    /// Whether the access token has at least `minimumValidity` left at `now`.
    package func holdsAccessToken(for minimumValidity: Duration, at now: Moment) -> Bool {
        guard !isWithheld, !isSignOutDue(at: now), let remaining = accessToken?.remaining(at: now) else { return false }
        return remaining > .zero && remaining >= minimumValidity
    }
}

/// A refusal that gives no reason but is about the grant.
package struct RefusalMemory: Hashable, Sendable {
    /// When it came first.
    package var since: Moment
    /// The text by which an equal refusal is recognized.
    package var text: String

    package init(since: Moment, text: String) {
        self.since = since
        self.text = text
    }

    /// Whether a person has to correct a setting if it goes on.
    package var isForSettings: Bool {
        FailureClass(rawValue: String(text.prefix { $0 != " " }))?.isMisconfiguration ?? false
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

/// The states that people see. The raw values are used on the wire and by `authctl status`.
package enum ShownState: String, Hashable, Sendable, CaseIterable {
    /// The access token is valid, or the first refresh will bring one. Nothing is wrong.
    case fresh
    /// A refresh is under way.
    case refreshing
    /// A refresh failed and will be repeated. The access token may still be valid.
    case retrying
    case interactionRequired = "interaction-required"
    /// Nothing is wrong, but the refresh token expires soon, and no use extends it.
    case refreshTokenExpiring = "refresh-token-expiring"
    case signedOut = "signed-out"
    /// The server refuses the way we ask, or its certificate is not trusted.
    case misconfigured
    /// Another machine may use the grant, so it is not used here.
    case parked
}

extension RefreshState {
    /// The state that people see at `now`.
    package func shown(at now: Moment) -> ShownState {
        guard !isSignOutDue(at: now) else { return .signedOut }
        return switch phase {
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
    /// When the account signs out by itself; nil if it does not, or if the refresh token expires earlier.
    package var firstSignOut: Timestamp? {
        guard let end = signOut?.expiresAt, refreshToken.map({ end <= $0.expiresAt }) ?? true else { return nil }
        return end
    }

    /// When the grant ends whatever the account does; nil if that is unknown, or if a use may still move it.
    package var grantEnd: Timestamp? { grantEnds.filter { $0.isExtendedByUse == false }.map(\.expiresAt).min() }

    /// The known ends of the grant: the server's and the owner's.
    var grantEnds: [RefreshTokenTimes] { [refreshToken, signOut].compactMap(\.self) }

    /// Whether the grant is so new that its first refresh is not late yet. Without a network, with a full disk or at a
    /// busy server it can take longer.
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
