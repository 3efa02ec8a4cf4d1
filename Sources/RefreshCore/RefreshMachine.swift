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
        return SignOutRule.signedOut(&step, at: event) ?? Self.apply(event, &step)
    }

    private static func apply(_ event: Event, _ step: inout RefreshStep) -> [Effect] {
        switch event {
        case .demand(let demand): apply(demand, &step)
        case .answer(let answer): apply(answer, &step)
        case .grant(let grant): apply(grant, &step)
        case .owner(let change): apply(change, &step)
        case .host(let event): apply(event, &step)
        case .source(.changed): SourceRule.sourceChanged(&step)
        case .source(.signedOut(let failure)): SourceRule.sourceSignedOut(&step, failure)
        case .lifetimeLearned(let lifetime, let issuedAt):
            AnswerRule.lifetimeLearned(&step, lifetime, ofTokenIssuedAt: issuedAt)
        }
    }

    private static func apply(_ demand: Event.Demand, _ step: inout RefreshStep) -> [Effect] {
        switch demand {
        case .tokenNeeded: step.mayBeginForCaller ? step.begin() : SignInRule.accessEnded(&step) ?? []
        case .targetNeeded(let target): TargetRule.targetNeeded(&step, target)
        case .refreshRequested: step.mayBeginForPerson ? step.begin() : SignInRule.accessEnded(&step) ?? []
        case .accessTokenRejected(let issuedAt): accessTokenRejected(&step, issuedAt: issuedAt)
        case .targetRejected(let target): TargetRule.targetRejected(&step, target)
        }
    }

    private static func apply(_ answer: Event.Answer, _ step: inout RefreshStep) -> [Effect] {
        switch answer {
        case .tokensIssued(let generation, let issuance):
            AnswerRule.tokensIssued(&step, for: generation, issuance, of: nil)
        case .targetIssued(let target, let generation, let issuance):
            AnswerRule.tokensIssued(&step, for: generation, issuance, of: target)
        case .targetFailed(let target, let generation, let failure):
            TargetRule.targetFailed(&step, target, for: generation, failure)
        case .demandRefused(let generation, let failure):
            TargetRule.failedBesideGrant(&step, nil, for: generation, failure)
        case .refreshFailed(let generation, let failure):
            FailureRule.refreshFailed(&step, for: generation, failure)
        case .leaseReturned(let generation):
            SourceRule.leaseReturned(&step, for: generation)
        case .sourceLacking(let generation, let failure):
            SourceRule.sourceLacking(&step, for: generation, failure)
        }
    }

    private static func apply(_ grant: Event.NewGrant, _ step: inout RefreshStep) -> [Effect] {
        switch grant {
        case .imported(let lifetime):
            SignInRule.grantImported(&step, refreshTokenLifetime: lifetime)
        case .obtained(let issuance, let hasRefreshToken, let sentAt):
            SignInRule.grantObtained(&step, issuance, hasRefreshToken, sentAt: sentAt)
        case .accessTokenObtained(let issuance, let sentAt):
            SignInRule.accessTokenObtained(&step, issuance, sentAt: sentAt)
        case .proved(let issuance, let sentAt):
            SignInRule.grantProved(&step, issuance, sentAt: sentAt)
        }
    }

    private static func apply(_ change: Event.OwnersChange, _ step: inout RefreshStep) -> [Effect] {
        switch change {
        case .parked: SignInRule.parked(&step)
        case .unparked: SignInRule.unparked(&step)
        case .accountUpdated(let asksAnew): accountUpdated(&step, asksAnew: asksAnew)
        case .signedOut: SignInRule.signedOut(&step)
        }
    }

    private static func apply(_ event: Event.HostEvent, _ step: inout RefreshStep) -> [Effect] {
        switch event {
        case .deadlineReached: return deadlineReached(&step)
        case .requestContinues:
            guard case .refreshing = step.state.phase else { return [] }
            return step.rearm(at: step.now.wall + Lease.duration)
        case .requestAbandoned(let crashes):
            guard case .refreshing(let lease) = step.state.phase else { return [] }
            return FailureRule.outcomeLost(&step, lease, crashes: crashes)
        case .connectivityRestored: return FailureRule.connectivityRestored(&step)
        case .signOutReached: return SignOutRule.reached(&step)
        }
    }

    private static func deadlineReached(_ step: inout RefreshStep) -> [Effect] {
        let now = step.now
        switch step.state.phase {
        case .signedOut, .parked:
            return step.rearm(at: nil)
        case .interactionRequired(let interaction):
            guard let wait = interaction.timeToAttempt(at: now) else { return step.rearm(at: nil) }
            // Another network has moved the deadline.
            let isElsewhere = interaction.failure.failureClass == .refusedHere && step.isDeadlineOver
            return wait == .zero || isElsewhere ? step.begin() : step.rearm(at: now.wall + wait)
        case .refreshing(let lease):
            return lease.isOver(at: now)
                ? FailureRule.outcomeLost(&step, lease) : step.rearm(at: now.wall + lease.remaining(at: now))
        case .backingOff(let backOff):
            let remaining = step.remaining(of: backOff)
            if remaining == .zero { return step.begin() }
            step.state.phase = .backingOff(backOff.continued(at: now))
            return step.rearm(at: now.wall + remaining)
        case .scheduled:
            guard step.state.isRefreshable else {
                return SignInRule.accessEnded(&step) ?? announceEnd(&step)
                    ?? step.rearm(at: step.scheduledDeadline)
            }
            if step.isRefreshDue { return step.begin() }
            return announceEnd(&step) ?? step.rearm(at: step.scheduledDeadline)
        }
    }

    /// The effects of announcing that the grant ends soon; nil if there is nothing to announce.
    private static func announceEnd(_ step: inout RefreshStep) -> [Effect]? {
        guard let times = step.state.refreshToken, times.isExpiring(at: step.now), !times.isEndAnnounced else {
            return nil
        }
        step.state.refreshToken?.isEndAnnounced = true
        step.state.deadline = step.scheduledDeadline
        return [.persist(.unchanged), .publish(.refreshTokenExpiring(expiresAt: times.expiresAt))]
    }

    private static func accessTokenRejected(_ step: inout RefreshStep, issuedAt: Moment?) -> [Effect] {
        guard let held = step.state.accessToken else { return [] }
        // Another refresh may have come first, and this report is about the token before.
        guard issuedAt.map({ $0 == held.issuedAt }) ?? held.mayBeRejected(at: step.now) else { return [] }
        step.state.accessToken = nil
        if let ended = SignInRule.accessEnded(&step) { return ended }
        guard step.mayBeginForCaller || step.state.phase == .scheduled else { return [.persist(.unchanged)] }
        return step.begin()
    }

    private static func accountUpdated(_ step: inout RefreshStep, asksAnew: Bool) -> [Effect] {
        // The settings have changed, so we no longer know whether our requests are right.
        step.state.hasWorked = false
        step.state.isRotating = nil
        SignOutRule.keep(&step)
        switch step.state.phase {
        case .backingOff(let backOff) where [.misconfigured, .transient].contains(backOff.kind):
            // The failure is that of the old settings, and says nothing about the new ones. The server's wish still
            // counts.
            guard step.now.elapsed(since: backOff.failedAt) >= backOff.leastDelay else {
                return FailureRule.retrySoon(&step) ?? [.persist(.unchanged)]
            }
            return tryAfresh(&step)
        case .interactionRequired(let interaction)
        where interaction.reason == .rejectedWithoutReason || asksAnew && step.mayBeMended(interaction):
            return tryAfresh(&step)
        case .refreshing(var lease):
            if asksAnew, let interaction = lease.interaction, step.mayBeMended(interaction) { lease.interaction = nil }
            step.state.phase = .refreshing(lease)
            return [.persist(.unchanged)]
        case .scheduled:
            if let times = step.state.accessToken {
                step.state.accessToken?.refreshAfter = RefreshRule.refreshAfter(
                    lifetime: times.lifetime,
                    refreshIn: nil,
                    leadTime: step.policy.leadTime,
                    jitter: step.jitter
                )
                // The settings may ask for another token now, and a service account can ask at no cost.
                if step.policy.isServiceAccount { step.state.accessToken?.refreshAfter = RefreshRule.unaskedInterval }
            }
            step.state.deadline = step.scheduledDeadline
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

extension RefreshMachine {
    /// Forgets the failures, and lets the next attempt follow at once, also if the access token is still good: only an
    /// attempt shows whether the change has helped.
    private static func tryAfresh(_ step: inout RefreshStep) -> [Effect] {
        step.state.failures = 0
        step.state.phase = .scheduled
        step.state.accessToken?.refreshAfter = RefreshRule.unaskedInterval
        return step.rearm(at: step.now.wall)
    }
}

/// Rules for an account whose token is derived from another account's (RFC 8693).
private enum SourceRule {
    /// Nothing was sent, so nothing has changed; the request is due at once.
    static func leaseReturned(_ step: inout RefreshStep, for generation: Generation) -> [Effect] {
        guard case .refreshing(let lease) = step.state.phase, lease.generation == generation else { return [] }
        step.state.phase = .scheduled
        return step.rearm(at: step.now.wall)
    }

    /// Waits for a person: until somebody signs in to the other account, no retry helps.
    static func sourceLacking(
        _ step: inout RefreshStep,
        for generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        guard case .refreshing(let lease) = step.state.phase, lease.generation == generation else { return [] }
        return FailureRule.requireInteraction(&step, .sourceAccount, failure)
    }

    static func sourceChanged(_ step: inout RefreshStep) -> [Effect] {
        guard case .interactionRequired(let interaction) = step.state.phase, interaction.reason == .sourceAccount else {
            return FailureRule.connectivityRestored(&step)
        }
        step.state.phase = .scheduled
        return step.rearm(at: step.now.wall)
    }

    /// The token ends with the account that it is derived from. The new generation makes an answer that is still on its
    /// way a stale one, because it brings a token of the same source.
    static func sourceSignedOut(_ step: inout RefreshStep, _ failure: RefreshFailure) -> [Effect] {
        guard step.state.phase != .signedOut else { return [] }
        let generation = step.state.generation.next
        step.state = RefreshState(generation: generation, hasWorked: step.state.hasWorked)
        return [.persist(.erase)] + FailureRule.requireInteraction(&step, .sourceAccount, failure).dropFirst()
    }
}
