/// What follows when a refresh brought no tokens.
extension RefreshMachine {
    mutating func outcomeLost(_ lease: Lease, at now: Moment, jitter: Double) -> [Effect] {
        let failure = RefreshFailure(
            .unanswered,
            detail: FailureDetail(summary: "the daemon ended before the server's answer was stored")
        )
        return answerLost(failure, sentAt: lease.startedAt, at: now, jitter: jitter)
    }

    /// The server may have replaced the refresh token, and the answer with the new one did not arrive.
    ///
    /// - Parameter sentAt: when the request left: the server's grace period, if it has one, began then or later.
    mutating func answerLost(
        _ failure: RefreshFailure,
        sentAt: Moment,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        // Nothing was spent: it is as if the server had not been reached.
        if policy.isServiceAccount { return backOff(.transient, after: failure, at: now, jitter: jitter) }
        // However many failures came before: a server that forgives a second use of a spent token does so for seconds only.
        let isFirst = !state.isOutcomeUnknown
        let attempt = isFirst ? 1 : nil
        state.isOutcomeUnknown = true
        // A refusal counts as repeated only if nothing was left open in between.
        state.refusals = 0
        state.refusal = nil
        if let grace = policy.rotationGrace, now.longestElapsed(since: sentAt) < grace {
            let rest = grace - now.longestElapsed(since: sentAt)
            return backOff(
                .transient,
                after: failure,
                attempt: attempt,
                // Once: in an outage the waits grow as ever.
                within: isFirst ? rest.scaled(by: 0.5) : nil,
                at: now,
                jitter: jitter
            )
        }
        // A server that names the time to come back has not done what it was asked for.
        let mayBeSpent = state.isRotating != false && failure.retryAfter == nil
        return backOff(mayBeSpent ? .doubtful : .transient, after: failure, attempt: attempt, at: now, jitter: jitter)
    }

    /// How long a refresh token that may have been spent is kept back.
    ///
    /// If it was spent, using it again can end the whole grant (RFC 9700 §4.14.2), and the access token in hand with it. So it is used
    /// again as late as that token's end, and the refresh token's own, allow.
    private func timeToResend(at now: Moment) -> Duration {
        guard let accessToken = state.accessToken else { return .zero }
        let wait = accessToken.timeToReserve(at: now)
        return min(wait, state.refreshToken?.timeToKeepAlive(at: now) ?? wait)
    }

    /// What is left of a wait; zero once it is over.
    ///
    /// What may have been spent is kept back by the tokens' own times: clocks that were stepped meanwhile count for those as ever.
    func remaining(of backOff: BackOff, at now: Moment) -> Duration {
        switch backOff.kind {
        case .doubtful: timeToResend(at: now)
        case .transient, .misconfigured, .serverAsked, .confirming: backOff.remaining(at: now)
        }
    }

    mutating func confirm(_ failure: RefreshFailure, at now: Moment, jitter: Double) -> [Effect] {
        state.refusals = state.refusal == nil ? state.refusals + 1 : 1
        state.refusal = nil
        return backOff(.confirming, after: failure, at: now, jitter: jitter)
    }

    /// A refusal without a reason: some servers end grants so, and every firewall on a bad day. It is believed when it has been the same
    /// for long enough, and even then the account is tried on.
    mutating func refusedWithoutReason(_ failure: RefreshFailure, at now: Moment, jitter: Double) -> [Effect] {
        let text = failure.refusalText
        if let refusal = state.refusal, refusal.text == text, !refusal.since.isFuture(at: now) {
            state.refusals += 1
        } else {
            state.refusal = RepeatedRefusal(since: now, text: text)
            state.refusals = 1
        }
        let elapsed = state.refusal.map { now.elapsed(since: $0.since) } ?? .zero
        guard state.refusals >= BackOffRule.refusalsToBelieve,
            elapsed >= BackOffRule.disbelief(of: failure.failureClass)
        else { return backOff(.transient, after: failure, at: now, jitter: jitter) }
        return requireInteraction(.rejectedWithoutReason, failure, at: now, jitter: jitter)
    }

    /// The effects of a failure that changes nothing for the person who was called before the attempt; nil if nobody was, or if it does.
    ///
    /// Only what the server says of the grant can change it, and a lost answer, which may have held tokens.
    mutating func stillRequired(
        by lease: Lease,
        _ failure: RefreshFailure,
        at now: Moment,
        jitter: Double
    ) -> [Effect]? {
        guard var interaction = lease.interaction else { return nil }
        switch failure.failureClass {
        case .unanswered, .userRequired: return nil
        case .grantEnded: if interaction.reason == .rejectedWithoutReason { return nil }
        case .unreachable, .unavailable, .misconfigured, .untrusted, .rejected, .refusedByGateway: break
        }
        state.failures += 1
        interaction.attemptedAt = now
        interaction.leastDelay = leastDelay(after: failure, jitter: jitter)
        wait(for: interaction, at: now, jitter: jitter)
        return [.persist(.unchanged), .publish(.interactionStillRequired(interaction, failure))]
    }

    private func leastDelay(after failure: RefreshFailure, jitter: Double) -> Duration {
        failure.retryAfter.map { BackOffRule.retryAfter($0, jitter: jitter) } ?? .zero
    }

    /// Waits for the person, or for the next attempt where there is one.
    private mutating func wait(for interaction: InteractionRequired, at now: Moment, jitter: Double) {
        state.phase = .interactionRequired(interaction)
        // Spread, so that the accounts of a server that blocked them all do not return together.
        state.deadline = interaction.timeToAttempt(at: now).map { now.wall + $0.scaled(by: 1 + 0.1 * jitter) }
    }

    /// - Parameters:
    ///   - attempt: how far the wait has grown, from 1; nil if as far as the failures in a row say.
    ///   - limit: the longest wait that we choose; nil if there is no limit but the usual ones.
    mutating func backOff(
        _ wish: BackOff.Kind,
        after failure: RefreshFailure,
        attempt: Int? = nil,
        within limit: Duration? = nil,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        state.failures += 1
        var kind = wish
        var delay: Duration
        switch wish {
        case .transient, .serverAsked:
            delay = BackOffRule.transient(failures: attempt ?? state.failures, jitter: jitter)
            if let limit { delay = min(delay, limit) }
        case .doubtful:
            delay = BackOffRule.transient(failures: attempt ?? state.failures, jitter: jitter)
            let late = timeToResend(at: now)
            if late > delay { delay = late } else { kind = .transient }
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
        } else if kind == .transient, failure.isThrottled {
            // RFC 6585 §4: a 429 need not name a time. Ours grows, and callers in a loop do not shorten it.
            (kind, delay) = (.serverAsked, max(delay, BackOffRule.callerInterval))
        }
        let backOff = BackOff(failedAt: now, delay: delay, kind: kind, failure: failure)
        state.phase = .backingOff(backOff)
        let retryAt = now.wall + delay
        state.deadline = retryAt
        let change: AccountChange =
            switch wish {
            case .misconfigured: .misconfigured(failure, retryAt: retryAt)
            case .transient, .serverAsked, .confirming, .doubtful: .refreshFailed(failure, retryAt: retryAt)
            }
        return [.persist(.unchanged), .publish(change)]
    }

    mutating func requireInteraction(
        _ reason: InteractionReason,
        _ failure: RefreshFailure,
        at now: Moment,
        jitter: Double = 0
    ) -> [Effect] {
        let isLost = state.isOutcomeUnknown && reason != .userRequired && reason != .rejectedWithoutReason
        let interaction = InteractionRequired(
            reason: isLost ? .outcomeUnknown : reason,
            since: now.wall,
            failure: failure,
            attemptedAt: now,
            leastDelay: leastDelay(after: failure, jitter: jitter)
        )
        wait(for: interaction, at: now, jitter: jitter)
        return [.persist(.unchanged), .publish(.interactionRequired(interaction))]
    }
}
