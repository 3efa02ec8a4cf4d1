/// What follows when a refresh brought no tokens.
extension RefreshMachine {
    mutating func outcomeLost(at now: Moment, jitter: Double) -> [Effect] {
        let failure = RefreshFailure(
            .unanswered,
            detail: FailureDetail(summary: "the daemon ended before the server's answer was stored")
        )
        return answerLost(failure, at: now, jitter: jitter)
    }

    mutating func answerLost(_ failure: RefreshFailure, at now: Moment, jitter: Double) -> [Effect] {
        // Nothing was spent: it is as if the server had not been reached.
        if policy.isServiceAccount { return backOff(.transient, after: failure, at: now, jitter: jitter) }
        // However many failures came before: a server that forgives a second use of a spent token does so for seconds only.
        let attempt = state.isOutcomeUnknown ? nil : 1
        state.isOutcomeUnknown = true
        // A refusal counts as repeated only if nothing was left open in between.
        state.refusals = 0
        return backOff(.transient, after: failure, attempt: attempt, at: now, jitter: jitter)
    }

    mutating func confirm(_ failure: RefreshFailure, at now: Moment, jitter: Double) -> [Effect] {
        state.refusals += 1
        return backOff(.confirming, after: failure, at: now, jitter: jitter)
    }

    /// - Parameter attempt: how far the wait has grown, from 1; nil if as far as the failures in a row say.
    mutating func backOff(
        _ wish: BackOff.Kind,
        after failure: RefreshFailure,
        attempt: Int? = nil,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        state.failures += 1
        var kind = wish
        var delay: Duration
        switch wish {
        case .transient, .serverAsked:
            delay = BackOffRule.transient(failures: attempt ?? state.failures, jitter: jitter)
        case .misconfigured:
            delay = BackOffRule.misconfigured(failures: state.failures, jitter: jitter)
        case .confirming:
            delay = BackOffRule.confirmation(
                lifetime: state.accessToken?.lifetime,
                grace: policy.rotationGrace
            )
        }
        if let retryAfter = failure.retryAfter {
            let asked = BackOffRule.retryAfter(retryAfter, jitter: jitter)
            if asked >= delay { (kind, delay) = (.serverAsked, asked) }
        }
        let backOff = BackOff(failedAt: now, delay: delay, kind: kind, failure: failure)
        state.phase = .backingOff(backOff)
        let retryAt = now.wall + delay
        state.deadline = retryAt
        let change: AccountChange =
            switch wish {
            case .misconfigured: .misconfigured(failure, retryAt: retryAt)
            case .transient, .serverAsked, .confirming: .refreshFailed(failure, retryAt: retryAt)
            }
        return [.persist(.unchanged), .publish(change)]
    }

    mutating func requireInteraction(
        _ reason: InteractionReason,
        _ failure: RefreshFailure,
        at now: Moment
    ) -> [Effect] {
        let interaction = InteractionRequired(
            reason: state.isOutcomeUnknown && reason != .userRequired ? .outcomeUnknown : reason,
            since: now.wall,
            failure: failure
        )
        state.phase = .interactionRequired(interaction)
        state.deadline = nil
        return [.persist(.unchanged), .publish(.interactionRequired(interaction))]
    }
}
