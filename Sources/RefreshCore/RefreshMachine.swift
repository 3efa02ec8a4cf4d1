/// Decides what happens to one account: it maps (state, event, now) to (state, effects), and does nothing else.
///
/// It reads no clock, draws no random number and sees no token. The caller commits the state before it acts on the
/// effects; see `Effect`.
package struct RefreshMachine: Sendable {
    package private(set) var state: RefreshState
    package let policy: RefreshPolicy

    package init(state: RefreshState, policy: RefreshPolicy) {
        self.state = state
        self.policy = policy
    }

    /// Applies `event` to the state and returns what has to be done.
    ///
    /// - Parameters:
    ///   - jitter: 0..<1, drawn again for each call.
    /// - Returns: the effects in their order; empty if the event changes nothing.
    package mutating func handle(_ event: Event, at now: Moment, jitter: Double) -> [Effect] {
        var step = RefreshStep(state: state, policy: policy, now: now, jitter: jitter)
        defer { state = step.state }
        return step.signedOut(at: event) ?? step.apply(event)
    }
}

extension RefreshStep {
    fileprivate mutating func apply(_ event: Event) -> [Effect] {
        switch event {
        case .demand(let demand): apply(demand)
        case .answer(let answer): apply(answer)
        case .grant(let grant): apply(grant)
        case .owner(let change): apply(change)
        case .host(let event): apply(event)
        case .source(.changed): sourceChanged()
        case .source(.signedOut(let failure)): sourceSignedOut(failure)
        case .lifetimeLearned(let lifetime, let issuedAt):
            lifetimeLearned(lifetime, ofTokenIssuedAt: issuedAt)
        }
    }

    private mutating func apply(_ demand: Event.Demand) -> [Effect] {
        switch demand {
        case .tokenNeeded: mayBeginForCaller ? begin() : accessEnded() ?? []
        case .targetNeeded(let target): targetNeeded(target)
        case .refreshRequested: mayBeginForPerson ? begin() : accessEnded() ?? []
        case .accessTokenRejected(let issuedAt): accessTokenRejected(issuedAt: issuedAt)
        case .targetRejected(let target): targetRejected(target)
        }
    }

    private mutating func apply(_ answer: Event.Answer) -> [Effect] {
        switch answer {
        case .tokensIssued(let generation, let issuance):
            tokensIssued(for: generation, issuance, of: nil)
        case .targetIssued(let target, let generation, let issuance):
            tokensIssued(for: generation, issuance, of: target)
        case .targetFailed(let target, let generation, let failure):
            targetFailed(target, for: generation, failure)
        case .demandRefused(let generation, let failure):
            failedBesideGrant(nil, for: generation, failure)
        case .refreshFailed(let generation, let failure):
            refreshFailed(for: generation, failure)
        case .leaseReturned(let generation):
            leaseReturned(for: generation)
        case .sourceLacking(let generation, let failure):
            sourceLacking(for: generation, failure)
        }
    }

    private mutating func apply(_ grant: Event.NewGrant) -> [Effect] {
        switch grant {
        case .imported(let lifetime):
            grantImported(refreshTokenLifetime: lifetime)
        case .obtained(let issuance, let hasRefreshToken, let sentAt):
            grantObtained(issuance, hasRefreshToken, sentAt: sentAt)
        case .accessTokenObtained(let issuance, let sentAt):
            accessTokenObtained(issuance, sentAt: sentAt)
        case .proved(let issuance, let sentAt):
            grantProved(issuance, sentAt: sentAt)
        }
    }

    private mutating func apply(_ change: Event.OwnersChange) -> [Effect] {
        switch change {
        case .parked: parked()
        case .unparked: unparked()
        case .accountUpdated(let asksAnew): accountUpdated(asksAnew: asksAnew)
        case .signedOut: signedOut()
        }
    }

    private mutating func apply(_ event: Event.HostEvent) -> [Effect] {
        switch event {
        case .deadlineReached: return deadlineReached()
        case .requestContinues:
            guard case .refreshing = state.phase else { return [] }
            return rearm(at: now.wall + Lease.duration)
        case .requestAbandoned(let crashes):
            guard case .refreshing(let lease) = state.phase else { return [] }
            return outcomeLost(lease, crashes: crashes)
        case .connectivityRestored: return connectivityRestored()
        case .signOutReached: return signOutReached()
        }
    }

    private mutating func deadlineReached() -> [Effect] {
        switch state.phase {
        case .signedOut, .parked:
            return rearm(at: nil)
        case .interactionRequired(let interaction):
            guard let wait = interaction.timeToAttempt(at: now) else { return rearm(at: nil) }
            // Another network has moved the deadline.
            let isElsewhere = interaction.failure.failureClass == .refusedHere && isDeadlineOver
            return wait == .zero || isElsewhere ? begin() : rearm(at: now.wall + wait)
        case .refreshing(let lease):
            return lease.isOver(at: now)
                ? outcomeLost(lease) : rearm(at: now.wall + lease.remaining(at: now))
        case .backingOff(let backOff):
            let rest = remaining(of: backOff)
            if rest == .zero { return begin() }
            state.phase = .backingOff(backOff.continued(at: now))
            return rearm(at: now.wall + rest)
        case .scheduled:
            guard state.isRefreshable else {
                return accessEnded() ?? announceEnd()
                    ?? rearm(at: scheduledDeadline)
            }
            if isRefreshDue { return begin() }
            return announceEnd() ?? rearm(at: scheduledDeadline)
        }
    }

    /// The effects of announcing that the grant ends soon; nil if there is nothing to announce.
    private mutating func announceEnd() -> [Effect]? {
        guard let times = state.refreshToken, times.isExpiring(at: now), !times.isEndAnnounced else {
            return nil
        }
        state.refreshToken?.isEndAnnounced = true
        state.deadline = scheduledDeadline
        return [.persist(.unchanged), .publish(.refreshTokenExpiring(expiresAt: times.expiresAt))]
    }

    private mutating func accessTokenRejected(issuedAt: Moment?) -> [Effect] {
        guard let held = state.accessToken else { return [] }
        // Another refresh may have come first, and this report is about the token before.
        guard issuedAt.map({ $0 == held.issuedAt }) ?? held.mayBeRejected(at: now) else { return [] }
        state.accessToken = nil
        if let ended = accessEnded() { return ended }
        guard mayBeginForCaller || state.phase == .scheduled else { return [.persist(.unchanged)] }
        return begin()
    }

    private mutating func accountUpdated(asksAnew: Bool) -> [Effect] {
        // The settings have changed, so we no longer know whether our requests are right.
        state.hasWorked = false
        state.isRotating = nil
        keepSignOut()
        switch state.phase {
        case .backingOff(let backOff) where [.misconfigured, .transient].contains(backOff.kind):
            // The failure is that of the old settings, and says nothing about the new ones. The server's wish still
            // counts.
            guard now.elapsed(since: backOff.failedAt) >= backOff.leastDelay else {
                return retrySoon() ?? [.persist(.unchanged)]
            }
            return tryAfresh()
        case .interactionRequired(let interaction)
        where interaction.reason == .rejectedWithoutReason || asksAnew && mayBeMended(interaction):
            return tryAfresh()
        case .refreshing(var lease):
            if asksAnew, let interaction = lease.interaction, mayBeMended(interaction) { lease.interaction = nil }
            state.phase = .refreshing(lease)
            return [.persist(.unchanged)]
        case .scheduled:
            if let times = state.accessToken {
                state.accessToken?.refreshAfter = RefreshRule.refreshAfter(
                    lifetime: times.lifetime,
                    refreshIn: nil,
                    leadTime: policy.leadTime,
                    jitter: jitter
                )
                // The settings may ask for another token now, and a service account can ask at no cost.
                if policy.isServiceAccount { state.accessToken?.refreshAfter = RefreshRule.unaskedInterval }
            }
            state.deadline = scheduledDeadline
            return [.persist(.unchanged)]
        case .signedOut, .backingOff, .interactionRequired, .parked:
            return [.persist(.unchanged)]
        }
    }
}

extension RefreshStep {
    /// Whether another request may get what the server refused when it called for a person.
    ///
    /// A refresh token that was sent without an answer may be spent. No change of the account makes a second use of it
    /// harmless (RFC 9700 §4.14.2). Without a refresh token, or with another person's, no request helps.
    fileprivate func mayBeMended(_ interaction: InteractionRequired) -> Bool {
        guard !state.isOutcomeUnknown, interaction.remaining(of: .zero, at: now) == .zero else { return false }
        return switch interaction.reason {
        case .grantEnded, .rejectedWithoutReason, .userRequired, .sourceAccount: true
        case .outcomeUnknown, .noRefreshToken, .otherPerson: false
        }
    }
}

extension RefreshStep {
    /// Forgets the failures, and lets the next attempt follow at once, also if the access token is still good: only an
    /// attempt shows whether the change has helped.
    private mutating func tryAfresh() -> [Effect] {
        state.failures = 0
        state.phase = .scheduled
        state.accessToken?.refreshAfter = RefreshRule.unaskedInterval
        return rearm(at: now.wall)
    }
}

/// Rules for an account whose token is derived from another account's (RFC 8693).
extension RefreshStep {
    /// Nothing was sent, so nothing has changed; the request is due at once.
    mutating func leaseReturned(for generation: Generation) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else { return [] }
        state.phase = .scheduled
        return rearm(at: now.wall)
    }

    /// Waits for a person: until somebody signs in to the other account, no retry helps.
    mutating func sourceLacking(
        for generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else { return [] }
        return requireInteraction(.sourceAccount, failure)
    }

    mutating func sourceChanged() -> [Effect] {
        guard case .interactionRequired(let interaction) = state.phase, interaction.reason == .sourceAccount else {
            return connectivityRestored()
        }
        state.phase = .scheduled
        return rearm(at: now.wall)
    }

    /// The token ends with the account that it is derived from. The new generation makes an answer that is still on its
    /// way a stale one, because it brings a token of the same source.
    mutating func sourceSignedOut(_ failure: RefreshFailure) -> [Effect] {
        guard state.phase != .signedOut else { return [] }
        let generation = state.generation.next
        state = RefreshState(generation: generation, hasWorked: state.hasWorked)
        return [.persist(.erase)] + requireInteraction(.sourceAccount, failure).dropFirst()
    }
}
