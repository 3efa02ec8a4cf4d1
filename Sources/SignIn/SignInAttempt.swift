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
    /// What the person goes through now.
    package private(set) var leg: SignInLeg
    private var endsAfter = Self.lifetime
    /// Once for each sign-in: no server keeps people going round.
    package private(set) var hasResetPassword = false

    package init(plan: SignInPlan) {
        self.plan = plan
        leg = plan.leg
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
            guard hasResetPassword else { return [.tell(.started)] }
            return [.tell(leg == .passwordReset ? .passwordReset : .signInAgain)]
        case .deviceAuthorized(let interval, let lifetime):
            guard phase == .preparing else { return [] }
            endsAfter = now.elapsed(since: plan.startedAt) + min(lifetime, Self.deviceLifetimeMax)
            phase = .polling(DevicePolling(interval: interval, at: now))
            return [.tell(.started)]
        case .preparationFailed(let failure):
            return phase == .preparing ? end(.failed(failure)) : []
        case .opened:
            return phase.isForPerson ? [.tell(.opened)] : []
        case .responseArrived(let response): return responseArrived(response, at: now)
        case .pollEnded(let answer): return pollEnded(answer, at: now)
        case .grantArrived(let subject, let name, let isUnavailable):
            return grantArrived(subject, called: name, isUnavailable: isUnavailable, at: now)
        case .identityArrived(let subject, let name):
            guard phase.isObtaining else { return [] }
            return otherOwner(than: subject, called: name).map { end($0) } ?? end(.completed)
        case .exchangeFailed(let failure):
            return phase.isObtaining ? end(.failed(SignInFailure(exchange: failure))) : []
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

    private mutating func responseArrived(_ response: AuthorizationResponse, at now: Moment) -> [SignInEffect] {
        switch phase {
        case .waiting(let expected):
            switch response.verdict(against: expected) {
            case .refused(let refusal): return [.refuse(refusal)]
            case .untrusted(let mistrust): return [.tell(.callbackReceived)] + end(.failed(SignInFailure(mistrust)))
            case .error(let refusal): return refused(refusal, expected, at: now)
            case .code(let code): return codeArrived(code, at: now)
            case .idToken(let token):
                phase = .exchanging
                return [.tell(.callbackReceived), .check(token)]
            }
        case .exchanging, .storing, .ended: return [.refuse(.alreadyAnswered)]
        case .preparing, .polling: return [.refuse(.notAwaited)]
        }
    }

    /// From here on the state is used up: the same answer a second time finds nobody waiting.
    private mutating func codeArrived(_ code: AuthorizationCode, at now: Moment) -> [SignInEffect] {
        switch leg {
        case .grant:
            phase = .exchanging
            return [.tell(.callbackReceived), .tell(.exchanging), .exchange(code)]
        // A code of another policy brings a refresh token that is good for that policy only, so that the account could not use it.
        case .passwordReset: return begin(plan.leg, at: now)
        case .otherPolicy: return [.tell(.callbackReceived)] + end(.policyCompleted)
        }
    }

    private mutating func refused(
        _ refusal: ServerRefusal,
        _ expected: AuthorizationExpectation,
        at now: Moment
    ) -> [SignInEffect] {
        guard refusal.begins(with: expected.passwordResetCodes) else {
            let isCancelled = refusal.begins(with: expected.cancellationCodes)
            return [.tell(.callbackReceived)] + end(isCancelled ? .cancelled(by: .user) : refusal.end)
        }
        guard plan.resetsPasswords, !hasResetPassword else {
            return [.tell(.callbackReceived)] + end(.passwordForgotten(isResettable: plan.resetsPasswords))
        }
        hasResetPassword = true
        return begin(.passwordReset, at: now)
    }

    /// Sends the person to the server again, who is there, and gets as much time as at the beginning.
    private mutating func begin(_ leg: SignInLeg, at now: Moment) -> [SignInEffect] {
        self.leg = leg
        phase = .preparing
        endsAfter = now.elapsed(since: plan.startedAt) + Self.lifetime
        return [.prepare]
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

    private mutating func grantArrived(
        _ subject: String?,
        called name: String?,
        isUnavailable: Bool,
        at now: Moment
    ) -> [SignInEffect] {
        guard phase.isObtaining else { return [] }
        if let stored = plan.storedSubject, !plan.replacesSubject {
            // Its tokens are left alone: to revoke them could end the grant of another account, whose person was taken by mistake.
            if let subject, let other = otherOwner(than: subject, called: name) { return end(other) }
            // A server that names nobody cannot name another. One that could not be asked may know another.
            if subject == nil, isUnavailable {
                let reason =
                    "the server did not say who signed in, and the account belongs to '\(plan.storedName ?? stored)'"
                return end(.failed(SignInFailure(.unavailable, reason)))
            }
        }
        phase = .storing(since: now)
        return [.store]
    }

    /// How it ends if the account is another person's than who signed in; nil if it is theirs, nobody's, or given to them.
    private func otherOwner(than subject: String, called name: String?) -> SignInEnd? {
        guard let stored = plan.storedSubject, !plan.replacesSubject, subject != stored else { return nil }
        return .otherSubject(signedIn: name ?? subject, owner: plan.storedName ?? stored)
    }

    private mutating func timePassed(at now: Moment) -> [SignInEffect] {
        guard remaining(at: now) == .zero else { return [] }
        if case .storing = phase {
            return end(.failed(SignInFailure(.unavailable, "the tokens arrived, but the store cannot be written")))
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

/// How the person's answer comes back; the raw values are those of the wire.
package enum SignInFlow: String, Hashable, Sendable, CaseIterable {
    /// The server sends the browser to a port on loopback (RFC 8252 §7.3).
    case browser
    /// The person brings the address that the browser was sent to.
    case paste
    /// The browser hands the address on by a private-use URI scheme (RFC 8252 §7.1).
    case scheme
    /// The person types a code on any device (RFC 8628).
    case device
}

/// What a person goes through at the server, where that is chosen by a policy.
package enum SignInLeg: Hashable, Sendable {
    /// The account's own policy, whose code brings its grant.
    case grant
    /// The policy in which people reset their password, before the other one is gone through again.
    case passwordReset
    /// A policy that somebody asked for, to edit a profile perhaps. The account stays as it is.
    case otherPolicy
}

/// What a sign-in is to be.
package struct SignInPlan: Hashable, Sendable {
    package let flow: SignInFlow
    package let leg: SignInLeg
    /// Whether there is a policy in which people reset their password.
    package let resetsPasswords: Bool
    /// Whose account it is; nil if that is not known.
    package let storedSubject: String?
    /// What they are called; nil if that is not known.
    package let storedName: String?
    /// Whether another person may take it over.
    package let replacesSubject: Bool
    package let startedAt: Moment

    package init(
        flow: SignInFlow,
        leg: SignInLeg = .grant,
        resetsPasswords: Bool = false,
        storedSubject: String?,
        storedName: String? = nil,
        replacesSubject: Bool,
        startedAt: Moment
    ) {
        self.flow = flow
        self.leg = leg
        self.resetsPasswords = resetsPasswords
        self.storedSubject = storedSubject
        self.storedName = storedName
        self.replacesSubject = replacesSubject
        self.startedAt = startedAt
    }
}

/// Where a sign-in stands.
package enum SignInPhase: Equatable, Sendable {
    /// The server is asked for what the person is to be shown.
    case preparing
    /// The person is at the server's pages.
    case waiting(AuthorizationExpectation)
    /// The person approves on another device, and the server is asked again and again.
    case polling(DevicePolling)
    /// The code is at the token endpoint.
    case exchanging
    /// The tokens are there, and not on disk yet.
    case storing(since: Moment)
    case ended(SignInEnd)

    /// Whether a person has something to do.
    var isForPerson: Bool {
        switch self {
        case .waiting, .polling: true
        case .preparing, .exchanging, .storing, .ended: false
        }
    }

    /// Whether the token endpoint may answer with tokens.
    var isObtaining: Bool {
        switch self {
        case .exchanging, .polling: true
        case .preparing, .waiting, .storing, .ended: false
        }
    }

    /// Whether the tokens are there, and not on disk yet.
    package var isStoring: Bool {
        if case .storing = self { true } else { false }
    }
}

/// What can happen to a sign-in.
package enum SignInEvent: Equatable, Sendable {
    /// The address is there that the browser has to open.
    case prepared(AuthorizationExpectation)
    /// The server gave a device code, which lives for `lifetime`; the interval is nil if it named none.
    case deviceAuthorized(interval: Duration?, lifetime: Duration)
    /// There is nothing to show the person.
    case preparationFailed(SignInFailure)
    /// Somebody says that the browser was opened.
    case opened
    /// Something came back from a browser, or was brought by a person.
    case responseArrived(AuthorizationResponse)
    /// The token endpoint answered a poll without tokens.
    case pollEnded(DevicePollAnswer)
    /// The tokens are there. The subject is nil if the server named none, or could not be asked; the name is fit for a terminal.
    case grantArrived(subject: String?, name: String? = nil, isUnavailable: Bool = false)
    /// The ID token that was all that was asked for is genuine. The name is fit for a terminal.
    case identityArrived(subject: String, name: String?)
    /// The code brought no tokens, or the device's none that can be believed.
    case exchangeFailed(RefreshFailure)
    /// The tokens are on disk.
    case stored
    /// The tokens will not be on disk.
    case notStored(reason: String)
    /// What `remaining(at:)` said has passed.
    case timePassed
    case cancelled(by: SignInCanceller)
}

/// What the token endpoint says of a device code (RFC 8628 §3.5), tokens apart.
package enum DevicePollAnswer: Hashable, Sendable {
    case pending
    case slowDown
    case denied(ServerRefusal)
    case expired
    case failed(RefreshFailure)
}

/// What has to be done about an event, in this order.
package enum SignInEffect: Equatable, Sendable {
    /// Tell those who follow.
    case tell(SignInNews)
    /// Send the person to the server again, by a request with secrets of its own; see `leg`.
    case prepare
    /// Send the code to the token endpoint; once.
    case exchange(AuthorizationCode)
    /// Check the ID token that is all that was asked for.
    case check(Secret)
    /// Ask the token endpoint about the device code.
    case poll
    /// Commit the tokens that arrived.
    case store
    /// Tell whoever brought the answer that it is none.
    case refuse(ResponseRefusal)
    /// Tell everybody how it ended, and forget it.
    case finish(SignInEnd)
}

/// What those who follow a sign-in are told; the raw values are those of the wire.
package enum SignInNews: String, Hashable, Sendable, CaseIterable {
    case started
    case opened
    case callbackReceived = "callback-received"
    case exchanging
    /// The person has forgotten the password, and is sent to where it is reset.
    case passwordReset = "password-reset"
    /// The password is reset, and the person is sent to sign in with it.
    case signInAgain = "sign-in-again"
    case completed
    /// The policy that was asked for is done, and the account as it was.
    case policyCompleted = "policy-completed"

    /// Whether there is an address for the browser.
    package var isInvitation: Bool { self == .started || self == .passwordReset || self == .signInAgain }
}

/// How a sign-in ended.
package enum SignInEnd: Hashable, Sendable {
    /// The tokens are stored, or only an ID token was asked for, and it is genuine.
    case completed
    /// The policy that was asked for is done. No tokens were asked for.
    case policyCompleted
    /// The person has forgotten the password. `isResettable` says whether the account knows where it is reset: then they were there before.
    case passwordForgotten(isResettable: Bool)
    case cancelled(by: SignInCanceller)
    /// The person, or the server on their behalf, said no.
    case denied(ServerRefusal)
    /// Nobody came back in time.
    case timedOut
    case failed(SignInFailure)
    /// Another person signed in than the one whose account it is. Both as people call them, or by their subjects.
    case otherSubject(signedIn: String, owner: String)
}

/// What ended a sign-in before its end; the raw values are those of the wire.
package enum SignInCanceller: String, Hashable, Sendable, CaseIterable {
    case user
    /// A new one for the same account.
    case superseded
    /// The account was removed.
    case removed
    /// The account's issuer, provider or client was.
    case changed
    /// The daemon ends.
    case stopping
}

/// Why a sign-in brought no tokens.
package struct SignInFailure: Error, Hashable, Sendable {
    /// What may help; the raw values are those of the wire.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// To sign in again: the server would not take the code, or its answer cannot be trusted.
        case refused
        /// To wait.
        case unavailable
        /// To change a setting, here or at the server.
        case misconfigured
    }

    package var kind: Kind
    /// One sentence, lower case, without the server's words.
    package var reason: String
    /// What the server said; nil if it was not asked, or said nothing that was read.
    package var detail: FailureDetail?
    /// What helps, for people; nil: what helps with all failures of this kind.
    package var hint: String?
    /// What the provider's profile tells about such failures; nil if nothing.
    package var note: String?

    package init(_ kind: Kind, _ reason: String, detail: FailureDetail? = nil, hint: String? = nil) {
        self.kind = kind
        self.reason = reason
        self.detail = detail
        self.hint = hint
    }

    /// A code, or a device's, that brought no tokens. For a code, `invalid_grant` means that the code is refused (RFC 6749 §5.2): the grant
    /// of before is as good as it was.
    init(exchange failure: RefreshFailure) {
        self.init(failure)
        if failure.failureClass == .grantEnded { reason = "the authorization server refuses the code" }
    }

    /// A request that failed. A code is sent once: that its answer is lost is not mended by sending it again (RFC 6749 §4.1.2).
    package init(_ failure: RefreshFailure) {
        let kind: Kind =
            switch failure.failureClass {
            case .unreachable, .unanswered, .unavailable: .unavailable
            case .misconfigured, .untrusted: .misconfigured
            case .rejected, .refusedByGateway, .grantEnded, .userRequired: .refused
            }
        self.init(kind, failure.detail.summary, detail: failure.detail)
    }

    /// An error that came by the browser.
    init(_ kind: Kind, _ refusal: ServerRefusal) {
        let summary = "the server sent the browser back with an error"
        let detail = FailureDetail(
            summary: summary,
            oauthError: refusal.error,
            oauthErrorDescription: refusal.description
        )
        self.init(kind, summary, detail: detail)
    }

    init(_ mistrust: Mistrust) {
        let reason =
            switch mistrust {
            case .wrongIssuer: "the answer names another issuer than the one that you sign in to"
            case .noIssuer: "the answer does not name its issuer, although this server's answers should"
            case .codeAndError: "the answer has both a code and an error"
            case .malformedCode: "the answer has a malformed code, or one that was not requested"
            case .noIDToken: "the answer lacks the ID token that was requested"
            }
        self.init(.refused, reason)
    }
}
