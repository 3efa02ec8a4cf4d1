/// Decides what follows when a refresh failed.
extension RefreshStep {
    mutating func refreshFailed(
        for generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else {
            return generation == state.generation ? [] : [.publish(.staleAnswerDropped(generation))]
        }
        if let still = stillRequired(by: lease, failure) { return still }
        switch failure.failureClass {
        case .unreachable, .unavailable:
            return backOff(.transient, after: failure)
        case .unanswered:
            return answerLost(failure, sentAt: lease.startedAt)
        case .misconfigured, .untrusted, .rejected, .refusedByGateway:
            // Until the first tokens arrive, our request itself may be wrong.
            guard state.hasWorked, failure.isRefusal else { return backOff(.misconfigured, after: failure) }
            return refusedAfterSuccess(failure)
        case .grantEnded, .userRequired, .refusedHere:
            // A service account has no grant of a person that could end. Only its settings can be wrong.
            guard !policy.isServiceAccount else { return backOff(.misconfigured, after: failure) }
            guard failure.failureClass == .grantEnded else { return requireInteraction(.userRequired, failure) }
            return grantEnded(refusing: generation, failure)
        }
    }

    /// The server says that the grant has ended.
    private mutating func grantEnded(
        refusing generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        let isConfirmed = state.refusals > 0 && state.refusal == nil
        if state.isOutcomeUnknown && !isConfirmed { return confirm(failure) }
        if let fallback = previousWithinGrace(refusing: generation) { return begin(fallback) }
        if hasJustBeenServed && !isConfirmed { return confirm(failure) }
        return requireInteraction(.grantEnded, failure)
    }

    /// A lease on the previous refresh token; nil unless the server is known to accept it still and has just refused
    /// the current one.
    ///
    /// Without a known grace period the previous token is never sent: the server would take it for a replay and end the
    /// grant (RFC 9700 §4.14.2).
    private func previousWithinGrace(refusing generation: Generation) -> Lease? {
        guard generation == state.generation, let previous = state.previous,
            let grace = policy.rotationGrace,
            now.longestElapsed(since: previous.replacedAt) < grace
        else { return nil }
        return Lease(generation: previous.generation, startedAt: now)
    }

    /// The daemon that sent the request has ended.
    ///
    /// - Parameter crashes: how many daemons in a row have crashed during a request of this account.
    mutating func outcomeLost(_ lease: Lease, crashes: Int = 0) -> [Effect] {
        let detail = FailureDetail(
            summary: crashes > 0
                ? "the daemon crashed while it waited for the server's answer"
                : "the daemon stopped before the server's answer was stored"
        )
        let failure = RefreshFailure(.unanswered, detail: detail)
        return stillRequired(by: lease, failure)
            ?? answerLost(failure, sentAt: lease.startedAt, crashes: crashes)
    }

    /// The server may have rotated the refresh token, but the answer with the new one did not arrive.
    ///
    /// - Parameter sentAt: when the request was sent; a grace period of the server began then or later.
    mutating func answerLost(
        _ failure: RefreshFailure,
        sentAt: Moment,
        crashes: Int = 0
    ) -> [Effect] {
        // After one crash, nobody knows which request was its cause. After the second one, the account waits.
        let pause: (kind: BackOff.Kind, attempt: Int)? = crashes > 1 ? (.crashed, crashes - 1) : nil
        // A service account spends no refresh token, so this is like an unreachable server.
        if policy.isServiceAccount {
            return backOff(pause?.kind ?? .transient, after: failure, attempt: pause?.attempt)
        }
        // Earlier failures do not matter here, because servers accept a spent token again only for seconds.
        let isFirst = !state.isOutcomeUnknown
        let attempt = isFirst ? 1 : nil
        state.isOutcomeUnknown = true
        // A refusal counts as repeated only if no answer was lost in between.
        state.refusals = 0
        state.refusal = nil
        if let pause { return backOff(pause.kind, after: failure, attempt: pause.attempt) }
        if let grace = policy.rotationGrace, now.longestElapsed(since: sentAt) < grace {
            let rest = grace - now.longestElapsed(since: sentAt)
            return backOff(
                .transient,
                after: failure,
                attempt: attempt,
                // This happens once. During an outage, the waits grow as usual.
                within: isFirst ? rest.scaled(by: 0.5) : nil
            )
        }
        let mayBeSpent = state.isRotating != false
        return backOff(mayBeSpent ? .doubtful : .transient, after: failure, attempt: attempt)
    }

    mutating func confirm(_ failure: RefreshFailure) -> [Effect] {
        state.refusals = state.refusal == nil ? state.refusals + 1 : 1
        state.refusal = nil
        return backOff(.confirming, after: failure)
    }

    /// Handles a refusal of what the server has accepted before, without a reason that is about the grant.
    ///
    /// Some servers end grants this way, but servers that are being changed and firewalls also refuse this way. The
    /// daemon believes it only after the same refusal for long enough. Even then, it tries the account again from time
    /// to time.
    private mutating func refusedAfterSuccess(_ failure: RefreshFailure) -> [Effect] {
        let text = failure.refusalText
        if let refusal = state.refusal, refusal.text == text, !refusal.since.isFuture(at: now) {
            state.refusals += 1
        } else {
            state.refusal = RefusalMemory(since: now, text: text)
            state.refusals = 1
        }
        let elapsed = state.refusal.map { now.elapsed(since: $0.since) } ?? .zero
        guard state.refusals >= BackOffRule.refusalsToBelieve,
            elapsed >= BackOffRule.disbelief(of: failure)
        else { return backOff(.transient, after: failure.asOutage) }
        // Nobody signs in to a service account.
        let isForSettings = failure.failureClass.isMisconfiguration || policy.isServiceAccount
        return isForSettings
            ? backOff(.misconfigured, after: failure)
            : requireInteraction(.rejectedWithoutReason, failure)
    }

    /// The effects of a failure while a person is already needed, if it does not change why; nil if nobody is needed,
    /// or if it changes why.
    ///
    /// Only a statement of the server about the grant changes it.
    mutating func stillRequired(
        by lease: Lease,
        _ failure: RefreshFailure
    ) -> [Effect]? {
        // A request that was sent shows that the source account needs nobody any more.
        guard var interaction = lease.interaction, interaction.reason != .sourceAccount else { return nil }
        switch failure.failureClass {
        case .userRequired: if interaction.reason != .otherPerson { return nil }
        case .refusedHere:
            let isSame = interaction.failure.failureClass == .refusedHere
            if interaction.reason != .otherPerson, !isSame { return nil }
        case .grantEnded: if interaction.reason == .rejectedWithoutReason { return nil }
        case .unreachable, .unanswered, .unavailable, .misconfigured, .untrusted, .rejected, .refusedByGateway: break
        }
        if failure.failureClass == .unanswered { state.isOutcomeUnknown = true }
        state.failures += 1
        interaction.attemptedAt = now
        interaction.leastDelay = leastDelay(after: failure)
        wait(for: interaction)
        return [.persist(.unchanged), .publish(.interactionStillRequired(interaction, failure))]
    }

    private func leastDelay(after failure: RefreshFailure) -> Duration {
        failure.retryAfter.map { BackOffRule.retryAfter($0, jitter: jitter) } ?? .zero
    }

    /// Waits for the person, and for the next attempt if one is planned.
    private mutating func wait(for interaction: InteractionRequired) {
        state.phase = .interactionRequired(interaction)
        // Spread the attempts, so that the accounts of a server that blocked them all do not return together.
        state.deadline = interaction.timeToAttempt(at: now).map {
            now.wall + $0.scaled(by: 1 + 0.1 * jitter)
        }
    }

    /// Plans the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: how far the wait has grown, from 1; nil uses the number of failures in a row.
    ///   - limit: the longest wait that we choose; nil applies only the usual limits.
    mutating func backOff(
        _ wish: BackOff.Kind,
        after failure: RefreshFailure,
        attempt: Int? = nil,
        within limit: Duration? = nil
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
            let late = timeToResend
            if late > delay { delay = late } else { kind = .transient }
        case .crashed:
            delay = max(
                BackOffRule.misconfigured(failures: attempt ?? state.failures, jitter: jitter),
                timeToResend
            )
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
            // RFC 6585 §4: a 429 need not state a time. Our wait grows, and callers in a loop do not shorten it.
            (kind, delay) = (.serverAsked, max(delay, BackOffRule.callerInterval))
        }
        let backOff = BackOff(failedAt: now, delay: delay, kind: kind, failure: failure)
        state.phase = .backingOff(backOff)
        let retryAt = now.wall + delay
        state.deadline = retryAt
        let change: AccountChange =
            switch wish {
            case .misconfigured: .misconfigured(failure, retryAt: retryAt)
            case .transient, .serverAsked, .confirming, .doubtful, .crashed: .refreshFailed(failure, retryAt: retryAt)
            }
        return [.persist(.unchanged), .publish(change)]
    }

    mutating func requireInteraction(
        _ reason: InteractionReason,
        _ failure: RefreshFailure
    ) -> [Effect] {
        let saysMore: [InteractionReason] = [.userRequired, .rejectedWithoutReason, .otherPerson]
        let isLost = state.isOutcomeUnknown && !saysMore.contains(reason)
        let interaction = InteractionRequired(
            reason: isLost ? .outcomeUnknown : reason,
            since: now.wall,
            failure: failure,
            attemptedAt: now,
            leastDelay: leastDelay(after: failure)
        )
        wait(for: interaction)
        return [.persist(.unchanged), .publish(.interactionRequired(interaction))]
    }

    /// There is another network: it may reach the server, and it may be a place that the server's policies allow.
    mutating func connectivityRestored() -> [Effect] {
        switch state.phase {
        case .backingOff(let backOff):
            switch backOff.kind {
            case .transient, .misconfigured:
                // A captive portal's certificate looks like a misconfiguration until the user has signed in to the
                // portal.
                return retrySoon() ?? []
            case .serverAsked, .confirming, .doubtful, .crashed:
                return []
            }
        case .interactionRequired(let interaction):
            let soon = now.wall + .seconds(2).scaled(by: jitter)
            guard interaction.failure.failureClass == .refusedHere,
                interaction.remaining(of: BackOffRule.callerInterval, at: now) == .zero,
                let deadline = state.deadline, soon < deadline
            else { return [] }
            return rearm(at: soon)
        case .signedOut, .scheduled, .refreshing, .parked:
            return []
        }
    }

    /// Shortens a back-off to at most two seconds; nil if it ends sooner anyway.
    ///
    /// The remaining delay spreads the requests of a machine that resumes. A minimum distance from the failure, as for
    /// callers, keeps a flapping network from causing a flood of requests.
    mutating func retrySoon() -> [Effect]? {
        guard case .backingOff(var backOff) = state.phase else { return nil }
        let soon = now.elapsed(since: backOff.failedAt) + .seconds(2).scaled(by: jitter)
        let delay = max(soon, BackOffRule.callerInterval, backOff.leastDelay)
        guard delay < backOff.delay else { return nil }
        backOff.delay = delay
        state.phase = .backingOff(backOff)
        state.deadline = now.wall + backOff.remaining(at: now)
        return [.persist(.unchanged)]
    }
}
