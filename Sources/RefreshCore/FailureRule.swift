/// Decides what follows when a refresh failed.
enum FailureRule {
    static func refreshFailed(
        _ step: inout RefreshStep,
        for generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        guard case .refreshing(let lease) = step.state.phase, lease.generation == generation else {
            return generation == step.state.generation ? [] : [.publish(.staleAnswerDropped(generation))]
        }
        if let still = stillRequired(&step, by: lease, failure) { return still }
        switch failure.failureClass {
        case .unreachable, .unavailable:
            return backOff(&step, .transient, after: failure)
        case .unanswered:
            return answerLost(&step, failure, sentAt: lease.startedAt)
        case .misconfigured, .untrusted, .rejected, .refusedByGateway:
            // Until the first tokens arrive, our request itself may be wrong.
            guard step.state.hasWorked, failure.isRefusal else { return backOff(&step, .misconfigured, after: failure) }
            return refusedAfterSuccess(&step, failure)
        case .grantEnded, .userRequired, .refusedHere:
            // A service account has no grant of a person that could end. Only its settings can be wrong.
            guard !step.policy.isServiceAccount else { return backOff(&step, .misconfigured, after: failure) }
            guard failure.failureClass == .grantEnded else { return requireInteraction(&step, .userRequired, failure) }
            return grantEnded(&step, refusing: generation, failure)
        }
    }

    /// The server says that the grant has ended.
    private static func grantEnded(
        _ step: inout RefreshStep,
        refusing generation: Generation,
        _ failure: RefreshFailure
    ) -> [Effect] {
        let isConfirmed = step.state.refusals > 0 && step.state.refusal == nil
        if step.state.isOutcomeUnknown && !isConfirmed { return confirm(&step, failure) }
        if let fallback = previousWithinGrace(refusing: generation, step) { return step.begin(fallback) }
        if step.hasJustBeenServed && !isConfirmed { return confirm(&step, failure) }
        return requireInteraction(&step, .grantEnded, failure)
    }

    /// A lease on the previous refresh token; nil unless the server is known to accept it still and has just refused
    /// the current one.
    ///
    /// Without a known grace period the previous token is never sent: the server would take it for a replay and end the
    /// grant (RFC 9700 §4.14.2).
    private static func previousWithinGrace(refusing generation: Generation, _ step: RefreshStep) -> Lease? {
        guard generation == step.state.generation, let previous = step.state.previous,
            let grace = step.policy.rotationGrace,
            step.now.longestElapsed(since: previous.replacedAt) < grace
        else { return nil }
        return Lease(generation: previous.generation, startedAt: step.now)
    }

    /// The daemon that sent the request has ended.
    ///
    /// - Parameter crashes: how many daemons in a row have crashed during a request of this account.
    static func outcomeLost(_ step: inout RefreshStep, _ lease: Lease, crashes: Int = 0) -> [Effect] {
        let detail = FailureDetail(
            summary: crashes > 0
                ? "the daemon crashed while it waited for the server's answer"
                : "the daemon stopped before the server's answer was stored"
        )
        let failure = RefreshFailure(.unanswered, detail: detail)
        return stillRequired(&step, by: lease, failure)
            ?? answerLost(&step, failure, sentAt: lease.startedAt, crashes: crashes)
    }

    /// The server may have rotated the refresh token, but the answer with the new one did not arrive.
    ///
    /// - Parameter sentAt: when the request was sent; a grace period of the server began then or later.
    static func answerLost(
        _ step: inout RefreshStep,
        _ failure: RefreshFailure,
        sentAt: Moment,
        crashes: Int = 0
    ) -> [Effect] {
        // After one crash, nobody knows which request was its cause. After the second one, the account waits.
        let pause: (kind: BackOff.Kind, attempt: Int)? = crashes > 1 ? (.crashed, crashes - 1) : nil
        // A service account spends no refresh token, so this is like an unreachable server.
        if step.policy.isServiceAccount {
            return backOff(&step, pause?.kind ?? .transient, after: failure, attempt: pause?.attempt)
        }
        // Earlier failures do not matter here, because servers accept a spent token again only for seconds.
        let isFirst = !step.state.isOutcomeUnknown
        let attempt = isFirst ? 1 : nil
        step.state.isOutcomeUnknown = true
        // A refusal counts as repeated only if no answer was lost in between.
        step.state.refusals = 0
        step.state.refusal = nil
        if let pause { return backOff(&step, pause.kind, after: failure, attempt: pause.attempt) }
        if let grace = step.policy.rotationGrace, step.now.longestElapsed(since: sentAt) < grace {
            let rest = grace - step.now.longestElapsed(since: sentAt)
            return backOff(
                &step,
                .transient,
                after: failure,
                attempt: attempt,
                // This happens once. During an outage, the waits grow as usual.
                within: isFirst ? rest.scaled(by: 0.5) : nil
            )
        }
        let mayBeSpent = step.state.isRotating != false
        return backOff(&step, mayBeSpent ? .doubtful : .transient, after: failure, attempt: attempt)
    }

    static func confirm(_ step: inout RefreshStep, _ failure: RefreshFailure) -> [Effect] {
        step.state.refusals = step.state.refusal == nil ? step.state.refusals + 1 : 1
        step.state.refusal = nil
        return backOff(&step, .confirming, after: failure)
    }

    /// Handles a refusal of what the server has accepted before, without a reason that is about the grant.
    ///
    /// Some servers end grants this way, but servers that are being changed and firewalls also refuse this way. The
    /// daemon believes it only after the same refusal for long enough. Even then, it tries the account again from time
    /// to time.
    private static func refusedAfterSuccess(_ step: inout RefreshStep, _ failure: RefreshFailure) -> [Effect] {
        let text = failure.refusalText
        if let refusal = step.state.refusal, refusal.text == text, !refusal.since.isFuture(at: step.now) {
            step.state.refusals += 1
        } else {
            step.state.refusal = RefusalMemory(since: step.now, text: text)
            step.state.refusals = 1
        }
        let elapsed = step.state.refusal.map { step.now.elapsed(since: $0.since) } ?? .zero
        guard step.state.refusals >= BackOffRule.refusalsToBelieve,
            elapsed >= BackOffRule.disbelief(of: failure)
        else { return backOff(&step, .transient, after: failure.asOutage) }
        // Nobody signs in to a service account.
        let isForSettings = failure.failureClass.isMisconfiguration || step.policy.isServiceAccount
        return isForSettings
            ? backOff(&step, .misconfigured, after: failure)
            : requireInteraction(&step, .rejectedWithoutReason, failure)
    }

    /// The effects of a failure while a person is already needed, if it does not change why; nil if nobody is needed,
    /// or if it changes why.
    ///
    /// Only a statement of the server about the grant changes it.
    static func stillRequired(
        _ step: inout RefreshStep,
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
        if failure.failureClass == .unanswered { step.state.isOutcomeUnknown = true }
        step.state.failures += 1
        interaction.attemptedAt = step.now
        interaction.leastDelay = leastDelay(after: failure, step)
        wait(&step, for: interaction)
        return [.persist(.unchanged), .publish(.interactionStillRequired(interaction, failure))]
    }

    private static func leastDelay(after failure: RefreshFailure, _ step: RefreshStep) -> Duration {
        failure.retryAfter.map { BackOffRule.retryAfter($0, jitter: step.jitter) } ?? .zero
    }

    /// Waits for the person, and for the next attempt if one is planned.
    private static func wait(_ step: inout RefreshStep, for interaction: InteractionRequired) {
        step.state.phase = .interactionRequired(interaction)
        // Spread the attempts, so that the accounts of a server that blocked them all do not return together.
        step.state.deadline = interaction.timeToAttempt(at: step.now).map {
            step.now.wall + $0.scaled(by: 1 + 0.1 * step.jitter)
        }
    }

    /// Plans the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: how far the wait has grown, from 1; nil uses the number of failures in a row.
    ///   - limit: the longest wait that we choose; nil applies only the usual limits.
    static func backOff(
        _ step: inout RefreshStep,
        _ wish: BackOff.Kind,
        after failure: RefreshFailure,
        attempt: Int? = nil,
        within limit: Duration? = nil
    ) -> [Effect] {
        step.state.failures += 1
        var kind = wish
        var delay: Duration
        switch wish {
        case .transient, .serverAsked:
            delay = BackOffRule.transient(failures: attempt ?? step.state.failures, jitter: step.jitter)
            if let limit { delay = min(delay, limit) }
        case .doubtful:
            delay = BackOffRule.transient(failures: attempt ?? step.state.failures, jitter: step.jitter)
            let late = step.timeToResend
            if late > delay { delay = late } else { kind = .transient }
        case .crashed:
            delay = max(
                BackOffRule.misconfigured(failures: attempt ?? step.state.failures, jitter: step.jitter),
                step.timeToResend
            )
        case .misconfigured:
            delay = BackOffRule.misconfigured(failures: step.state.failures, jitter: step.jitter)
        case .confirming:
            delay = BackOffRule.confirmation(
                lifetime: step.state.accessToken?.lifetime,
                grace: step.policy.rotationGrace
            )
        }
        if let retryAfter = failure.retryAfter {
            let asked = BackOffRule.retryAfter(retryAfter, jitter: step.jitter)
            if asked >= delay { (kind, delay) = (.serverAsked, asked) }
        } else if kind == .transient, failure.isThrottled {
            // RFC 6585 §4: a 429 need not state a time. Our wait grows, and callers in a loop do not shorten it.
            (kind, delay) = (.serverAsked, max(delay, BackOffRule.callerInterval))
        }
        let backOff = BackOff(failedAt: step.now, delay: delay, kind: kind, failure: failure)
        step.state.phase = .backingOff(backOff)
        let retryAt = step.now.wall + delay
        step.state.deadline = retryAt
        let change: AccountChange =
            switch wish {
            case .misconfigured: .misconfigured(failure, retryAt: retryAt)
            case .transient, .serverAsked, .confirming, .doubtful, .crashed: .refreshFailed(failure, retryAt: retryAt)
            }
        return [.persist(.unchanged), .publish(change)]
    }

    static func requireInteraction(
        _ step: inout RefreshStep,
        _ reason: InteractionReason,
        _ failure: RefreshFailure
    ) -> [Effect] {
        let saysMore: [InteractionReason] = [.userRequired, .rejectedWithoutReason, .otherPerson]
        let isLost = step.state.isOutcomeUnknown && !saysMore.contains(reason)
        let interaction = InteractionRequired(
            reason: isLost ? .outcomeUnknown : reason,
            since: step.now.wall,
            failure: failure,
            attemptedAt: step.now,
            leastDelay: leastDelay(after: failure, step)
        )
        wait(&step, for: interaction)
        return [.persist(.unchanged), .publish(.interactionRequired(interaction))]
    }

    /// There is another network: it may reach the server, and it may be a place that the server's policies allow.
    static func connectivityRestored(_ step: inout RefreshStep) -> [Effect] {
        switch step.state.phase {
        case .backingOff(let backOff):
            switch backOff.kind {
            case .transient, .misconfigured:
                // A captive portal's certificate looks like a misconfiguration until the user has signed in to the
                // portal.
                return retrySoon(&step) ?? []
            case .serverAsked, .confirming, .doubtful, .crashed:
                return []
            }
        case .interactionRequired(let interaction):
            let soon = step.now.wall + .seconds(2).scaled(by: step.jitter)
            guard interaction.failure.failureClass == .refusedHere,
                interaction.remaining(of: BackOffRule.callerInterval, at: step.now) == .zero,
                let deadline = step.state.deadline, soon < deadline
            else { return [] }
            return step.rearm(at: soon)
        case .signedOut, .scheduled, .refreshing, .parked:
            return []
        }
    }

    /// Shortens a back-off to at most two seconds; nil if it ends sooner anyway.
    ///
    /// The remaining delay spreads the requests of a machine that resumes. A minimum distance from the failure, as for
    /// callers, keeps a flapping network from causing a flood of requests.
    static func retrySoon(_ step: inout RefreshStep) -> [Effect]? {
        guard case .backingOff(var backOff) = step.state.phase else { return nil }
        let soon = step.now.elapsed(since: backOff.failedAt) + .seconds(2).scaled(by: step.jitter)
        let delay = max(soon, BackOffRule.callerInterval, backOff.leastDelay)
        guard delay < backOff.delay else { return nil }
        backOff.delay = delay
        step.state.phase = .backingOff(backOff)
        step.state.deadline = step.now.wall + backOff.remaining(at: step.now)
        return [.persist(.unchanged)]
    }
}
