/// What the token endpoint's answers mean.
extension RefreshMachine {
    /// - Parameter target: what was asked for; nil for the account's default access token.
    mutating func tokensIssued(
        for generation: Generation,
        _ issuance: Issuance,
        of target: TokenTarget?,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        var lease: Lease?
        if case .refreshing(let held) = state.phase, held.generation == generation { lease = held }
        // Matched by generation, in whatever phase: an answer that comes after its lease has run out carries the only refresh
        // token that the server still takes.
        guard generation == state.generation || lease != nil else { return [.publish(.staleAnswerDropped(generation))] }

        var issuance = issuance
        // Nothing was spent, so nothing was rotated.
        if policy.isServiceAccount { issuance.isRotated = false }
        let sentAt = lease?.startedAt.asSeen(at: now) ?? now
        if issuance.isRotated {
            // The server's grace period started while the request was out: counted from its start, it is not overrun.
            state.previous = PreviousRefreshToken(generation: generation, replacedAt: sentAt)
            state.generation = max(state.generation, generation).next
        } else {
            // RFC 6749 §6: a missing refresh_token means that the one which was spent stays valid.
            state.generation = generation
            state.previous = nil
        }
        if !policy.isServiceAccount { state.isRotating = issuance.isRotated || state.isRotating == true }
        adoptRefreshToken(of: issuance, sentAt: sentAt)
        var times = accessTokenTimes(of: issuance, sentAt: sentAt, jitter: jitter)
        let flaw = AccessTokenFlaw(issuance, times)
        if target == nil, flaw == nil {
            // Asked earlier, the server would give the same again.
            if issuance.refreshIn == nil, let held = state.accessToken, times.endsWith(held, at: now) {
                times.refreshAfter = times.lifetime
            }
            state.accessToken = times
        }
        state.hasWorked = true
        state.isOutcomeUnknown = false
        let failures = state.failures
        state.failures = 0
        state.refusals = 0
        state.refusal = nil
        if state.phase != .parked {
            state.phase = .scheduled
            state.deadline = scheduledDeadline(at: now)
        }
        if let flaw { return grantKept(without: flaw, for: target, after: failures, at: now, jitter: jitter) }
        guard let target else { return [.persist(.store), .publish(.tokenRefreshed)] }
        return [.persist(.storeTarget(target, times)), .publish(.targetRefreshed(target))]
    }

    /// The effects of an answer whose access token is not used: the one that is held stays, and another is asked for as after a failure.
    /// Without a pause, a server that goes on answering so would be asked in a loop.
    private mutating func grantKept(
        without flaw: AccessTokenFlaw,
        for target: TokenTarget?,
        after failures: Int,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        if let target { return [.persist(.storeGrant), .publish(.targetFailed(target, flaw.failure))] }
        guard state.phase != .parked else { return [.persist(.storeGrant)] }
        state.failures = failures
        return [.persist(.storeGrant)] + backOff(flaw.wait, after: flaw.failure, at: now, jitter: jitter).dropFirst()
    }

    /// - Parameter lifetime: what is left of it.
    mutating func lifetimeLearned(
        _ lifetime: Duration,
        ofTokenIssuedAt issuedAt: Moment,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        guard let held = state.accessToken, held.issuedAt == issuedAt, held.basis != .stated else { return [] }
        let issuance = Issuance(lifetime: now.elapsed(since: issuedAt) + lifetime)
        state.accessToken = accessTokenTimes(of: issuance, sentAt: issuedAt, jitter: jitter)
        guard state.phase == .scheduled else { return [.persist(.unchanged)] }
        return rearm(at: scheduledDeadline(at: now))
    }

    func accessTokenTimes(of issuance: Issuance, sentAt: Moment, jitter: Double) -> AccessTokenTimes {
        let lifetime = issuance.lifetime ?? RefreshRule.assumedLifetime
        return AccessTokenTimes(
            issuedAt: sentAt,
            lifetime: lifetime,
            refreshAfter: RefreshRule.refreshAfter(
                lifetime: lifetime,
                refreshIn: issuance.refreshIn,
                leadTime: policy.leadTime,
                jitter: jitter
            ),
            basis: issuance.lifetimeBasis
        )
    }

    mutating func adoptRefreshToken(of issuance: Issuance, sentAt: Moment) {
        // RFC 6749 §4.4.3: there should be none, and one that came nevertheless is not kept.
        guard !policy.isServiceAccount else { return }
        if let told = issuance.refreshTokenLifetime, told > .zero {
            state.refreshToken =
                state.refreshToken?.renewed(lifetime: told, at: sentAt)
                ?? RefreshTokenTimes(issuedAt: sentAt, lifetime: told)
        } else if policy.isRefreshTokenLifetimeAbsolute, let known = policy.refreshTokenLifetime {
            // A rotated token inherits the end of the one before: only a sign-in, which leaves no times behind, starts a new life.
            let kept = state.refreshToken.flatMap { $0.isExtendedByUse == true ? nil : $0.used(at: sentAt) }
            state.refreshToken = kept ?? RefreshTokenTimes(issuedAt: sentAt, lifetime: known, isExtendedByUse: false)
        } else if let known = policy.refreshTokenLifetime {
            // A profile's figure is an idle time: each use starts it again.
            state.refreshToken = RefreshTokenTimes(issuedAt: sentAt, lifetime: known, isExtendedByUse: true)
        } else {
            state.refreshToken = issuance.isRotated ? nil : state.refreshToken?.used(at: sentAt)
        }
    }

    mutating func refreshFailed(
        for generation: Generation,
        _ failure: RefreshFailure,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else {
            return generation == state.generation ? [] : [.publish(.staleAnswerDropped(generation))]
        }
        // Whatever the server thinks of a person's grant: there is none, and what can be mended are the settings.
        guard !policy.isServiceAccount || !failure.failureClass.isAboutGrant else {
            return backOff(.misconfigured, after: failure, at: now, jitter: jitter)
        }
        if let still = stillRequired(by: lease, failure, at: now, jitter: jitter) { return still }
        switch failure.failureClass {
        case .unreachable, .unavailable:
            return backOff(.transient, after: failure, at: now, jitter: jitter)
        case .unanswered:
            return answerLost(failure, sentAt: lease.startedAt, at: now, jitter: jitter)
        case .misconfigured, .untrusted:
            return backOff(.misconfigured, after: failure, at: now, jitter: jitter)
        case .rejected, .refusedByGateway:
            // Before the first tokens, the way we ask may be what is wrong.
            guard state.hasWorked else { return backOff(.misconfigured, after: failure, at: now, jitter: jitter) }
            return refusedWithoutReason(failure, at: now, jitter: jitter)
        case .grantEnded:
            let isConfirmed = state.refusals > 0 && state.refusal == nil
            if state.isOutcomeUnknown && !isConfirmed { return confirm(failure, at: now, jitter: jitter) }
            if let fallback = previousWithinGrace(refusing: generation, at: now) { return begin(fallback) }
            return requireInteraction(.grantEnded, failure, at: now, jitter: jitter)
        case .userRequired:
            return requireInteraction(.userRequired, failure, at: now, jitter: jitter)
        }
    }

    /// A lease on the previous refresh token, while the server is known to take it still and the current one was refused unused.
    ///
    /// Without a known grace period it is never sent: it would look like a replay, and end the grant (RFC 9700 §4.14.2).
    private func previousWithinGrace(refusing generation: Generation, at now: Moment) -> Lease? {
        guard generation == state.generation, let previous = state.previous, let grace = policy.rotationGrace,
            now.longestElapsed(since: previous.replacedAt) < grace
        else { return nil }
        return Lease(generation: previous.generation, startedAt: now)
    }
}

/// Why the access token of a successful answer is not used.
private enum AccessTokenFlaw {
    /// It has ended already: some servers give the last moment of their old token.
    case ended
    case unbound

    init?(_ issuance: Issuance, _ times: AccessTokenTimes) {
        if issuance.isUnbound {
            self = .unbound
        } else if times.lifetime == .zero {
            self = .ended
        } else {
            return nil
        }
    }

    var failure: RefreshFailure {
        switch self {
        case .ended:
            let summary = "the server gave an access token that has ended already"
            return RefreshFailure(.unavailable, detail: FailureDetail(summary: summary))
        case .unbound: return .unboundToken()
        }
    }

    /// How long until the server is asked again.
    var wait: BackOff.Kind {
        switch self {
        case .ended: .transient
        case .unbound: .misconfigured
        }
    }
}
