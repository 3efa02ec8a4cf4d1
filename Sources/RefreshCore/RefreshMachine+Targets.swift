/// What is particular about token targets: they spend the account's refresh token, and never decide about its grant.
extension RefreshMachine {
    /// A caller waits for a token of `target`.
    ///
    /// The account's own exchange goes first where it is due or the last one failed: its refusal is about the grant, that of a target may
    /// be about what was asked for. So a target is asked for only with a grant that has proved good and no outcome left open.
    mutating func targetNeeded(_ target: TokenTarget, at now: Moment) -> [Effect] {
        guard state.isRefreshable || state.phase != .scheduled else {
            return [.publish(.targetFailed(target, .withoutRefreshToken("for another token")))]
        }
        guard mayBeginForCaller(at: now) else { return [] }
        let lease = nextLease(at: now)
        guard case .scheduled = state.phase, !isRefreshDue(at: now) else { return begin(lease) }
        return begin(lease, for: target)
    }

    /// A resource server refused the token of `target`: it is erased, and replaced at once if that may be.
    mutating func targetRejected(_ target: TokenTarget, at now: Moment) -> [Effect] {
        let asking = targetNeeded(target, at: now)
        return [.persist(.eraseTarget(target))]
            + (asking.first == .persist(.unchanged) ? asking.dropFirst() : asking[...])
    }

    /// The request for a token of `target` brought none.
    mutating func targetFailed(
        _ target: TokenTarget,
        for generation: Generation,
        _ failure: RefreshFailure,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        let told = Effect.publish(.targetFailed(target, failure))
        return failedBesideGrant(told, for: generation, failure, at: now, jitter: jitter)
    }

    /// A request for something else than the account's own token brought none.
    ///
    /// Only what concerns the account whatever is asked for counts for it: a lost answer, which may have held its next refresh token,
    /// and a server that names the time to come back.
    ///
    /// - Parameter told: what is said of a failure that counts for the request alone.
    mutating func failedBesideGrant(
        _ told: Effect?,
        for generation: Generation,
        _ failure: RefreshFailure,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else {
            return generation == state.generation ? [] : [.publish(.staleAnswerDropped(generation))]
        }
        if let still = stillRequired(by: lease, failure, at: now, jitter: jitter) { return still }
        if failure.failureClass == .unanswered {
            return answerLost(failure, sentAt: lease.startedAt, at: now, jitter: jitter)
        }
        if failure.retryAfter != nil || failure.isThrottled {
            return backOff(.transient, after: failure, at: now, jitter: jitter)
        }
        // The account's next exchange asks for what was demanded as well, and would follow at once.
        let isServerGone = [.unreachable, .unavailable].contains(failure.failureClass)
        if told == nil, isServerGone, isRefreshDue(at: now) {
            return backOff(.transient, after: failure, at: now, jitter: jitter)
        }
        let told = told.map { [$0] } ?? []
        switch failure.failureClass {
        case .grantEnded:
            // Servers say `invalid_grant` of a resource without consent, too (Entra). The account's own exchange, which asks for
            // nothing but the grant, tells whether that is meant.
            let asking = begin(Lease(generation: state.generation, startedAt: now))
            return Array(asking.prefix(1)) + told + asking.dropFirst()
        case .unreachable, .unanswered, .unavailable, .misconfigured, .untrusted, .rejected, .refusedByGateway,
            .userRequired:
            state.phase = .scheduled
            state.deadline = scheduledDeadline(at: now)
            return [.persist(.unchanged)] + told
        }
    }
}
