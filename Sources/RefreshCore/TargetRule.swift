/// What is particular about token targets: they spend the account's refresh token, and never decide about its grant.
enum TargetRule {
    /// A caller waits for a token of `target`.
    ///
    /// The account's own exchange goes first where it is due or the last one failed: its refusal is about the grant, that of a target may
    /// be about what was asked for. So a target is asked for only with a grant that has proved good and no outcome left open.
    static func targetNeeded(_ step: inout RefreshStep, _ target: TokenTarget) -> [Effect] {
        guard step.state.isRefreshable || step.state.phase != .scheduled else {
            return [.publish(.targetFailed(target, .withoutRefreshToken("for another token")))]
        }
        guard step.mayBeginForCaller else { return [] }
        let lease = step.nextLease
        guard case .scheduled = step.state.phase, !step.isRefreshDue else { return step.begin(lease) }
        return step.begin(lease, for: target)
    }

    /// A resource server refused the token of `target`: it is erased, and replaced at once if that may be.
    static func targetRejected(_ step: inout RefreshStep, _ target: TokenTarget) -> [Effect] {
        let asking = targetNeeded(&step, target)
        return [.persist(.eraseTarget(target))]
            + (asking.first == .persist(.unchanged) ? asking.dropFirst() : asking[...])
    }

    /// The request for a token of `target` brought none.
    static func targetFailed(
        _ step: inout RefreshStep,
        _ target: TokenTarget,
        for generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        let told = Effect.publish(.targetFailed(target, failure))
        return failedBesideGrant(&step, told, for: generation, failure)
    }

    /// A request for something else than the account's own token brought none.
    ///
    /// Only what concerns the account whatever is asked for counts for it: a lost answer, which may have held its next refresh token,
    /// and a server that names the time to come back.
    ///
    /// - Parameter told: what is said of a failure that counts for the request alone.
    static func failedBesideGrant(
        _ step: inout RefreshStep,
        _ told: Effect?,
        for generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        guard case .refreshing(let lease) = step.state.phase, lease.generation == generation else {
            return generation == step.state.generation ? [] : [.publish(.staleAnswerDropped(generation))]
        }
        if let still = FailureRule.stillRequired(&step, by: lease, failure) { return still }
        if failure.failureClass == .unanswered {
            return FailureRule.answerLost(&step, failure, sentAt: lease.startedAt)
        }
        if failure.retryAfter != nil || failure.isThrottled {
            return FailureRule.backOff(&step, .transient, after: failure)
        }
        // The account's next exchange asks for what was demanded as well, and would follow at once.
        let isServerGone = [.unreachable, .unavailable].contains(failure.failureClass)
        if told == nil, isServerGone, step.isRefreshDue {
            return FailureRule.backOff(&step, .transient, after: failure)
        }
        let told = told.map { [$0] } ?? []
        switch failure.failureClass {
        case .grantEnded:
            // Servers say `invalid_grant` of a resource without consent, too (Entra). The account's own exchange, which asks for
            // nothing but the grant, tells whether that is meant.
            let asking = step.begin(Lease(generation: step.state.generation, startedAt: step.now))
            return Array(asking.prefix(1)) + told + asking.dropFirst()
        case .unreachable, .unanswered, .unavailable, .misconfigured, .untrusted, .rejected, .refusedByGateway,
            .userRequired:
            step.state.phase = .scheduled
            step.state.deadline = step.scheduledDeadline
            return [.persist(.unchanged)] + told
        }
    }
}
