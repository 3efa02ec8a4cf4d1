/// Decides what happens to one account: (state, event, now) to (state, effects), and nothing else.
///
/// It reads no clock, draws no random number and sees no token. Whoever runs it commits the state before acting on the effects;
/// see `Effect`.
package struct RefreshMachine: Sendable {
    package internal(set) var state: RefreshState
    package let policy: RefreshPolicy

    package init(state: RefreshState, policy: RefreshPolicy) {
        self.state = state
        self.policy = policy
    }

    /// Takes note of `event` and says what has to be done.
    ///
    /// - Parameters:
    ///   - jitter: 0..<1, drawn anew for each call.
    /// - Returns: the effects in their order; empty if the event changes nothing.
    package mutating func handle(_ event: Event, at now: Moment, jitter: Double) -> [Effect] {
        switch event {
        case .deadlineReached:
            return deadlineReached(at: now, jitter: jitter)
        case .tokenNeeded:
            return mayBeginForCaller(at: now) ? begin(at: now) : accessEnded(at: now) ?? []
        case .targetNeeded(let target):
            return targetNeeded(target, at: now)
        case .refreshRequested:
            // What a person asks for is told anew, whatever was told before.
            let lease = Lease(generation: state.generation, startedAt: now)
            return mayBeginForPerson(at: now) ? begin(lease) : accessEnded(at: now) ?? []
        case .accessTokenRejected:
            return accessTokenRejected(at: now)
        case .targetRejected(let target):
            return targetRejected(target, at: now)
        case .tokensIssued(let generation, let issuance):
            return tokensIssued(for: generation, issuance, of: nil, at: now, jitter: jitter)
        case .targetIssued(let target, let generation, let issuance):
            return tokensIssued(for: generation, issuance, of: target, at: now, jitter: jitter)
        case .targetFailed(let target, let generation, let failure):
            return targetFailed(target, for: generation, failure, at: now, jitter: jitter)
        case .demandRefused(let generation, let failure):
            return failedBesideGrant(nil, for: generation, failure, at: now, jitter: jitter)
        case .refreshFailed(let generation, let failure):
            return refreshFailed(for: generation, failure, at: now, jitter: jitter)
        case .lifetimeLearned(let lifetime, let issuedAt):
            return lifetimeLearned(lifetime, ofTokenIssuedAt: issuedAt, at: now, jitter: jitter)
        case .requestContinues:
            guard case .refreshing = state.phase else { return [] }
            return rearm(at: now.wall + Lease.duration)
        case .requestAbandoned:
            guard case .refreshing(let lease) = state.phase else { return [] }
            return outcomeLost(lease, at: now, jitter: jitter)
        case .grantImported(let lifetime):
            return grantImported(refreshTokenLifetime: lifetime, at: now)
        case .grantObtained(let issuance, let hasRefreshToken, let sentAt):
            return grantObtained(issuance, hasRefreshToken, sentAt: sentAt, at: now, jitter: jitter)
        case .accessTokenObtained(let issuance, let sentAt):
            return accessTokenObtained(issuance, sentAt: sentAt, at: now, jitter: jitter)
        case .grantProved(let issuance, let sentAt):
            return grantProved(issuance, sentAt: sentAt, at: now, jitter: jitter)
        case .parked:
            return parked()
        case .unparked:
            return unparked(at: now)
        case .accountUpdated:
            return accountUpdated(at: now, jitter: jitter)
        case .connectivityRestored:
            return connectivityRestored(at: now, jitter: jitter)
        case .leaseReturned(let generation):
            return leaseReturned(for: generation, at: now)
        case .sourceLacking(let generation, let failure):
            return sourceLacking(for: generation, failure, at: now)
        case .sourceChanged:
            return sourceChanged(at: now, jitter: jitter)
        case .signedOut:
            return signedOut()
        }
    }

    private mutating func deadlineReached(at now: Moment, jitter: Double) -> [Effect] {
        switch state.phase {
        case .signedOut, .parked:
            return rearm(at: nil)
        case .interactionRequired(let interaction):
            guard let wait = interaction.timeToAttempt(at: now) else { return rearm(at: nil) }
            return wait == .zero ? begin(at: now) : rearm(at: now.wall + wait)
        case .refreshing(let lease):
            return lease.isOver(at: now)
                ? outcomeLost(lease, at: now, jitter: jitter) : rearm(at: now.wall + lease.remaining(at: now))
        case .backingOff(let backOff):
            let remaining = remaining(of: backOff, at: now)
            if remaining == .zero { return begin(at: now) }
            state.phase = .backingOff(backOff.continued(at: now))
            return rearm(at: now.wall + remaining)
        case .scheduled:
            guard state.isRefreshable else { return accessEnded(at: now) ?? rearm(at: scheduledDeadline(at: now)) }
            if isRefreshDue(at: now) { return begin(at: now) }
            return announceEnd(at: now) ?? rearm(at: scheduledDeadline(at: now))
        }
    }

    func isRefreshDue(at now: Moment) -> Bool {
        guard let accessToken = state.accessToken else { return true }
        if accessToken.isDue(at: now) { return true }
        return state.refreshToken?.timeToKeepAlive(at: now) == .zero
    }

    /// A caller's need may end a back-off early, but not more often than every two seconds, and never a wait the server asked for. Where a
    /// person is needed, it may have tried now and then whether the server still says so.
    func mayBeginForCaller(at now: Moment) -> Bool {
        guard state.isRefreshable else { return false }
        return switch state.phase {
        case .scheduled: true
        case .backingOff(let backOff):
            remaining(of: backOff, at: now) == .zero
                || mayEndForCaller(backOff, at: now)
                    && now.elapsed(since: backOff.failedAt) >= max(BackOffRule.callerInterval, backOff.leastDelay)
        case .interactionRequired(let interaction): interaction.timeToCallersAttempt(at: now) == .zero
        case .signedOut, .refreshing, .parked: false
        }
    }

    private func mayEndForCaller(_ backOff: BackOff, at now: Moment) -> Bool {
        // Without an access token there is nothing left that a second use of the refresh token could end early.
        let isFree = backOff.kind == .doubtful && !state.holdsAccessToken(for: .zero, at: now)
        return backOff.yieldsToCallers || isFree
    }

    /// A person may also try what is misconfigured or needs interaction: something outside may have been mended.
    private func mayBeginForPerson(at now: Moment) -> Bool {
        guard state.isRefreshable else { return false }
        return switch state.phase {
        case .scheduled: true
        case .interactionRequired(let interaction): interaction.remaining(of: .zero, at: now) == .zero
        case .backingOff(let backOff):
            switch backOff.kind {
            case .transient, .misconfigured, .doubtful: now.elapsed(since: backOff.failedAt) >= backOff.leastDelay
            case .serverAsked, .confirming: backOff.remaining(at: now) == .zero
            }
        // A service account has nobody who signs in: this is how its owner has it go on after a sign-out.
        case .signedOut: policy.isServiceAccount
        case .refreshing, .parked: false
        }
    }

    private mutating func begin(at now: Moment) -> [Effect] {
        begin(nextLease(at: now))
    }

    /// A lease on the current refresh token that leaves a person called who is.
    func nextLease(at now: Moment) -> Lease {
        Lease(generation: state.generation, startedAt: now, interaction: state.interaction)
    }

    /// - Parameter target: what is asked for; nil for the account's default access token.
    mutating func begin(_ lease: Lease, for target: TokenTarget? = nil) -> [Effect] {
        state.phase = .refreshing(lease)
        state.deadline = lease.startedAt.wall + Lease.duration
        return [.persist(.unchanged), .send(lease, for: target)]
    }

    private mutating func accessTokenRejected(at now: Moment) -> [Effect] {
        guard state.accessToken?.mayBeRejected(at: now) == true else { return [] }
        state.accessToken = nil
        if let ended = accessEnded(at: now) { return ended }
        guard mayBeginForCaller(at: now) else { return [.persist(.unchanged)] }
        return begin(at: now)
    }

    /// A grant from outside replaces everything; its first refresh, due at once, proves it.
    private mutating func grantImported(refreshTokenLifetime: Duration?, at now: Moment) -> [Effect] {
        let lifetime = [refreshTokenLifetime, policy.refreshTokenLifetime].compactMap { $0 }.first { $0 > .zero }
        // When the person signed in is not known; the end cannot be later than that of a sign-in now.
        let isExtended: Bool? = policy.isRefreshTokenLifetimeAbsolute && refreshTokenLifetime == nil ? false : nil
        state = RefreshState(
            generation: state.generation.next,
            phase: .scheduled,
            deadline: now.wall,
            refreshToken: lifetime.map { RefreshTokenTimes(issuedAt: now, lifetime: $0, isExtendedByUse: isExtended) },
            hasWorked: state.hasWorked,
            isRotating: state.isRotating
        )
        return [.persist(.replace), .publish(.grantImported)]
    }

    private mutating func accountUpdated(at now: Moment, jitter: Double) -> [Effect] {
        // The way we ask has changed: nothing is known of it any more.
        state.hasWorked = false
        state.isRotating = nil
        switch state.phase {
        case .backingOff(let backOff) where backOff.kind == .misconfigured:
            return retry(soonAfter: now, jitter: jitter) ?? [.persist(.unchanged)]
        case .scheduled:
            if let times = state.accessToken {
                state.accessToken?.refreshAfter = RefreshRule.refreshAfter(
                    lifetime: times.lifetime,
                    refreshIn: nil,
                    leadTime: policy.leadTime,
                    jitter: jitter
                )
                // What the client asks for itself may be another thing now, and costs nothing to ask for.
                if policy.isServiceAccount { state.accessToken?.refreshAfter = RefreshRule.shortestInterval }
            }
            state.deadline = scheduledDeadline(at: now)
            return [.persist(.unchanged)]
        case .signedOut, .refreshing, .backingOff, .interactionRequired, .parked:
            return [.persist(.unchanged)]
        }
    }

    mutating func connectivityRestored(at now: Moment, jitter: Double) -> [Effect] {
        guard case .backingOff(let backOff) = state.phase else { return [] }
        switch backOff.kind {
        case .transient, .misconfigured:
            // A captive portal's certificate looks like a misconfiguration until the user has passed it.
            return retry(soonAfter: now, jitter: jitter) ?? []
        case .serverAsked, .confirming, .doubtful:
            return []
        }
    }

    /// Brings a back-off's end near: within two seconds, so that a woken machine does not ask for everything at once, but not
    /// nearer to the failure than a caller may, so that a flapping network does not hammer. Nil if the end is near already.
    private mutating func retry(soonAfter now: Moment, jitter: Double) -> [Effect]? {
        guard case .backingOff(var backOff) = state.phase else { return nil }
        let soon = now.elapsed(since: backOff.failedAt) + .seconds(2).scaled(by: jitter)
        let delay = max(soon, BackOffRule.callerInterval, backOff.leastDelay)
        guard delay < backOff.delay else { return nil }
        backOff.delay = delay
        state.phase = .backingOff(backOff)
        state.deadline = now.wall + backOff.remaining(at: now)
        return [.persist(.unchanged)]
    }

    /// A new generation makes every answer that is still on its way a stale one.
    private mutating func signedOut() -> [Effect] {
        state = RefreshState(generation: state.generation.next)
        return [.persist(.erase), .publish(.signedOut)]
    }

    /// The earliest of: refresh of the access token, use of the refresh token before it dies of idleness, announcement of its end.
    ///
    /// Counted from `now`: the wall clock may have been stepped since the tokens were issued. Without an access token it is `now`.
    func scheduledDeadline(at now: Moment) -> Timestamp {
        guard let accessToken = state.accessToken else { return now.wall }
        guard state.isRefreshable else { return now.wall + accessToken.remaining(at: now) }
        var wait = accessToken.timeToRefresh(at: now)
        if let keepAlive = state.refreshToken?.timeToKeepAlive(at: now) { wait = min(wait, keepAlive) }
        if let times = state.refreshToken, !times.isEndAnnounced, let announcement = times.timeToAnnouncement(at: now) {
            wait = min(wait, announcement)
        }
        return now.wall + wait
    }

    /// The effects of telling that the refresh token's end is near; nil if there is nothing to tell.
    private mutating func announceEnd(at now: Moment) -> [Effect]? {
        guard let times = state.refreshToken, times.isExpiring(at: now), !times.isEndAnnounced else { return nil }
        state.refreshToken?.isEndAnnounced = true
        state.deadline = scheduledDeadline(at: now)
        return [.persist(.unchanged), .publish(.refreshTokenExpiring(expiresAt: times.expiresAt))]
    }

    mutating func rearm(at deadline: Timestamp?) -> [Effect] {
        state.deadline = deadline
        return [.persist(.unchanged)]
    }
}

/// What becomes of an account whose token is derived from another account's (RFC 8693).
extension RefreshMachine {
    /// Nothing was sent, so nothing is known; the request is due at once.
    mutating func leaseReturned(for generation: Generation, at now: Moment) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else { return [] }
        state.phase = .scheduled
        return rearm(at: now.wall)
    }

    /// No retry helps before a person has signed in to the other account.
    mutating func sourceLacking(for generation: Generation, _ failure: RefreshFailure, at now: Moment) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else { return [] }
        return requireInteraction(.sourceAccount, failure, at: now)
    }

    mutating func sourceChanged(at now: Moment, jitter: Double) -> [Effect] {
        guard case .interactionRequired(let interaction) = state.phase, interaction.reason == .sourceAccount else {
            return connectivityRestored(at: now, jitter: jitter)
        }
        state.phase = .scheduled
        return rearm(at: now.wall)
    }
}
