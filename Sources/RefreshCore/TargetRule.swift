/// Rules for token targets. Their requests spend the account's refresh token, but never decide about its grant.
extension RefreshStep {
    /// A caller waits for a token of `target`.
    ///
    /// If the account's own refresh is due or failed last time, it goes first. A refusal of it is about the grant,
    /// while a refusal of a target may be about what was asked for. So a target is requested only with a grant that has
    /// worked, and only if no answer was lost.
    mutating func targetNeeded(_ target: TokenTarget) -> [Effect] {
        guard state.isRefreshable || state.phase != .scheduled else {
            let failure = RefreshFailure.noRefreshToken(
                "the server gave no refresh token, so a sign-in is needed for another token"
            )
            return [.publish(.targetFailed(target, failure))]
        }
        guard mayBeginForCaller else { return [] }
        let lease = nextLease
        guard case .scheduled = state.phase, !isRefreshDue else { return begin(lease) }
        return begin(lease, for: target)
    }

    /// A resource server refused the token of `target`. The token is erased, and replaced at once if a request may
    /// start.
    mutating func targetRejected(_ target: TokenTarget) -> [Effect] {
        let asking = targetNeeded(target)
        return [.persist(.eraseTarget(target))]
            + (asking.first == .persist(.unchanged) ? asking.dropFirst() : asking[...])
    }

    /// The request for a token of `target` failed.
    mutating func targetFailed(
        _ target: TokenTarget,
        for generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        let told = Effect.publish(.targetFailed(target, failure))
        return failedBesideGrant(told, for: generation, failure)
    }

    /// A request for something other than the account's own token failed.
    ///
    /// The account itself fails only in two cases: the answer was lost, and it may have held the next refresh token; or
    /// the server says when to come back.
    ///
    /// - Parameter told: what to report if the failure concerns only this request.
    mutating func failedBesideGrant(
        _ told: Effect?,
        for generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else {
            return generation == state.generation ? [] : [.publish(.staleAnswerDropped(generation))]
        }
        if let still = stillRequired(by: lease, failure) { return still }
        if failure.failureClass == .unanswered {
            return answerLost(failure, sentAt: lease.startedAt)
        }
        if failure.retryAfter != nil || failure.isThrottled {
            return backOff(.transient, after: failure)
        }
        // The account's next refresh would ask for the same claims, and would follow at once.
        let isServerGone = [.unreachable, .unavailable].contains(failure.failureClass)
        if told == nil, isServerGone, isRefreshDue {
            return backOff(.transient, after: failure)
        }
        let told = told.map { [$0] } ?? []
        if failure.failureClass == .grantEnded {
            // Entra also says `invalid_grant` if a resource has no consent. The account's own refresh, which asks only
            // for the grant's scope, shows whether the grant has ended.
            let asking = begin(Lease(generation: state.generation, startedAt: now))
            return Array(asking.prefix(1)) + told + asking.dropFirst()
        }
        state.phase = .scheduled
        state.deadline = scheduledDeadline
        return [.persist(.unchanged)] + told
    }
}
