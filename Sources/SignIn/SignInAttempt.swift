package import RefreshCore

/// Decides what happens in one sign-in: (phase, event, now) to (phase, effects), and nothing else.
///
/// It reads no clock, draws no random number and sees no token but the code, which it hands on once.
package struct SignInAttempt: Sendable {
    /// How long a person may take. Ten minutes are enough to find a telephone for a second factor, and what most servers grant their own
    /// pages.
    package static let lifetime = Duration.seconds(600)
    /// The longest life of a device code that is waited for; RFC 8628 §3.2 shows half an hour.
    package static let deviceLifetimeMax = Duration.seconds(1800)
    /// How long a store that cannot be written is waited for, once the tokens are there.
    static let storingMax = Duration.seconds(60)

    package let plan: SignInPlan
    package private(set) var phase = SignInPhase.preparing
    private var endsAfter = Self.lifetime

    package init(plan: SignInPlan) {
        self.plan = plan
    }

    /// When the person has to be back, by the wall clock at `now`.
    package func expiresAt(at now: Moment) -> Timestamp {
        now.wall + (endsAfter - now.elapsed(since: plan.startedAt))
    }

    /// How long until `timePassed` has to be told; nil if time changes nothing.
    package func remaining(at now: Moment) -> Duration? {
        let rest = max(endsAfter - now.elapsed(since: plan.startedAt), .zero)
        switch phase {
        case .preparing, .waiting: return rest
        case .polling(let polling): return min(polling.remaining(at: now) ?? rest, rest)
        case .storing(let since): return max(Self.storingMax - now.elapsed(since: since), .zero)
        // The exchange has a time limit of its own.
        case .exchanging, .ended: return nil
        }
    }

    /// Takes note of `event` and says what has to be done.
    ///
    /// - Returns: the effects in their order; empty if the event changes nothing.
    package mutating func handle(_ event: SignInEvent, at now: Moment) -> [SignInEffect] {
        if case .ended = phase {
            // What arrives for a sign-in that is over is nobody's, tokens included.
            if case .responseArrived = event { return [.refuse(.alreadyAnswered)] }
            return []
        }
        switch event {
        case .prepared(let expected):
            guard phase == .preparing else { return [] }
            phase = .waiting(expected)
            return [.tell(.started)]
        case .deviceAuthorized(let interval, let lifetime):
            guard phase == .preparing else { return [] }
            endsAfter = now.elapsed(since: plan.startedAt) + min(lifetime, Self.deviceLifetimeMax)
            phase = .polling(DevicePolling(interval: interval, at: now))
            return [.tell(.started)]
        case .preparationFailed(let failure):
            return phase == .preparing ? end(.failed(SignInFailure(failure))) : []
        case .opened:
            return phase.isForPerson ? [.tell(.opened)] : []
        case .responseArrived(let response): return responseArrived(response)
        case .pollEnded(let answer): return pollEnded(answer, at: now)
        case .grantArrived(let subject): return grantArrived(subject, at: now)
        case .exchangeFailed(let failure):
            return phase.isObtaining ? end(.failed(SignInFailure(failure))) : []
        case .stored: return phase.isStoring ? end(.completed) : []
        case .notStored(let reason):
            return phase.isStoring ? end(.failed(SignInFailure(.unavailable, reason))) : []
        case .timePassed: return timePassed(at: now)
        case .cancelled(let canceller):
            return canBeCancelled(by: canceller) ? end(.cancelled(by: canceller)) : []
        }
    }

    private func canBeCancelled(by canceller: SignInCanceller) -> Bool {
        switch phase {
        case .preparing, .waiting, .polling: true
        // A person who turns back does not want the tokens; a daemon that stops waits for them, as for those of a refresh.
        case .exchanging: canceller != .stopping
        // They are on their way to the disk.
        case .storing: canceller == .removed || canceller == .changed
        case .ended: false
        }
    }

    private mutating func responseArrived(_ response: AuthorizationResponse) -> [SignInEffect] {
        switch phase {
        case .waiting(let expected):
            switch response.verdict(against: expected) {
            case .refused(let refusal): return [.refuse(refusal)]
            case .untrusted(let mistrust): return [.tell(.callbackReceived)] + end(.failed(SignInFailure(mistrust)))
            case .error(let refusal): return [.tell(.callbackReceived)] + end(refusal.end)
            case .code(let code):
                // From here on the state is used up: the same answer a second time finds nobody waiting.
                phase = .exchanging
                return [.tell(.callbackReceived), .tell(.exchanging), .exchange(code)]
            }
        case .exchanging, .storing, .ended: return [.refuse(.alreadyAnswered)]
        case .preparing, .polling: return [.refuse(.notAwaited)]
        }
    }

    private mutating func pollEnded(_ answer: DevicePollAnswer, at now: Moment) -> [SignInEffect] {
        guard case .polling(var polling) = phase else { return [] }
        switch answer {
        case .pending: polling.pending(at: now)
        case .slowDown: polling.slowedDown(at: now)
        case .denied(let refusal): return end(.denied(refusal))
        case .expired: return end(.timedOut)
        case .failed(let failure):
            switch failure.failureClass {
            case .unreachable, .unanswered, .unavailable: polling.lost(at: now)
            case .misconfigured, .untrusted, .rejected, .refusedByGateway, .grantEnded, .userRequired:
                return end(.failed(SignInFailure(failure)))
            }
        }
        phase = .polling(polling)
        return []
    }

    private mutating func grantArrived(_ subject: String?, at now: Moment) -> [SignInEffect] {
        guard phase.isObtaining else { return [] }
        // A server that names nobody cannot name another.
        if let stored = plan.storedSubject, let subject, subject != stored, !plan.replacesSubject {
            // Its tokens are left alone: to revoke them could end the grant of another account, whose person was taken by mistake.
            return end(.otherSubject)
        }
        phase = .storing(since: now)
        return [.store]
    }

    private mutating func timePassed(at now: Moment) -> [SignInEffect] {
        guard remaining(at: now) == .zero else { return [] }
        if case .storing = phase {
            return end(.failed(SignInFailure(.unavailable, "the tokens are there, but the store cannot be written")))
        }
        guard case .polling(var polling) = phase, now.elapsed(since: plan.startedAt) < endsAfter else {
            return end(.timedOut)
        }
        polling.begin()
        phase = .polling(polling)
        return [.poll]
    }

    private mutating func end(_ end: SignInEnd) -> [SignInEffect] {
        phase = .ended(end)
        return [.finish(end)]
    }
}

extension ServerRefusal {
    /// How a sign-in ends that it answers.
    fileprivate var end: SignInEnd {
        switch meaning {
        case .denied: .denied(self)
        case .failed(let kind): .failed(SignInFailure(kind, self))
        }
    }
}
