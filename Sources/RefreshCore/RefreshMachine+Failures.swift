/// What follows when a refresh brought no tokens.
extension RefreshMachine {
    mutating func outcomeLost(at now: Moment, jitter: Double) -> [Effect] {
        state.isOutcomeUnknown = true
        state.refusals = 0
        let failure = RefreshFailure(
            .unanswered,
            detail: FailureDetail(summary: "the daemon ended before the server's answer was stored")
        )
        return backOff(.transient, after: failure, at: now, jitter: jitter)
    }

    mutating func confirm(_ failure: RefreshFailure, at now: Moment, jitter: Double) -> [Effect] {
        state.refusals += 1
        return backOff(.confirming, after: failure, at: now, jitter: jitter)
    }

    mutating func backOff(
        _ wish: BackOff.Kind,
        after failure: RefreshFailure,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        state.failures += 1
        var kind = wish
        var delay: Duration
        switch wish {
        case .transient, .serverAsked:
            delay = BackOffRule.transient(failures: state.failures, jitter: jitter)
        case .misconfigured:
            delay = BackOffRule.misconfigured(failures: state.failures, jitter: jitter)
        case .confirming:
            delay = BackOffRule.confirmation(remaining: state.accessToken?.remaining(at: now) ?? .zero)
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
