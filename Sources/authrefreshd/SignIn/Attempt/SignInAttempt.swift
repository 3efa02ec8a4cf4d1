internal import Basics
internal import RefreshCore

/// Decides what happens in one sign-in: it maps (phase, event, now) to (phase, effects), and does nothing else.
///
/// It reads no clock, draws no random number and sees no tokens. It does see the code, which it passes on once.
struct SignInAttempt: Sendable {
    /// How long a person may take. Ten minutes are enough to find a phone for a second factor, and most servers give
    /// their own pages as long.
    static let lifetime = Duration.seconds(600)
    /// The longest lifetime of a device code that we wait for. The example in RFC 8628 §3.2 has half an hour.
    static let deviceLifetimeMax = Duration.seconds(1800)
    /// How long to wait for a store that cannot be written, once the tokens have arrived.
    static let storingMax = Duration.seconds(60)

    /// The sign-in's ID, which its effects carry.
    let id: String
    let plan: SignInPlan
    private(set) var phase = SignInPhase.preparing
    /// The step of the sign-in at the server.
    private(set) var leg: SignInLeg
    private var endsAfter = Self.lifetime
    /// Whether the password was reset in this sign-in. It is allowed once, so that no server can send people in
    /// circles.
    private(set) var hasResetPassword = false

    init(id: String, plan: SignInPlan) {
        self.id = id
        self.plan = plan
        leg = plan.leg
    }

    /// When the person must have returned, by the wall clock at `now`.
    func expiresAt(at now: Moment) -> Timestamp {
        now.wall + (endsAfter - now.elapsed(since: plan.startedAt))
    }

    /// How long until `timePassed` is due; nil if nothing depends on time.
    func remaining(at now: Moment) -> Duration? {
        let rest = max(endsAfter - now.elapsed(since: plan.startedAt), .zero)
        switch phase {
        case .preparing, .waiting: return rest
        case .polling(let polling): return min(polling.remaining(at: now) ?? rest, rest)
        case .storing(let since): return max(Self.storingMax - now.elapsed(since: since), .zero)
        // The exchange has its own time limit.
        case .exchanging, .ended: return nil
        }
    }

    /// Applies `event` and returns what has to be done.
    ///
    /// - Returns: the effects in their order; empty if the event changes nothing.
    mutating func handle(_ event: SignInEvent, at now: Moment) -> [SignInEffect] {
        if case .ended = phase {
            // Nothing that arrives after the end of a sign-in is used, not even tokens.
            if case .responseArrived = event { return [.refuse(.alreadyAnswered)] }
            return []
        }
        switch event {
        case .prepared(let expected):
            guard phase == .preparing else { return [] }
            phase = .waiting(expected)
            guard hasResetPassword else { return [.tell(.started, of: id)] }
            return [.tell(leg == .passwordReset ? .passwordReset : .signInAgain, of: id)]
        case .deviceAuthorized(let interval, let lifetime):
            guard phase == .preparing else { return [] }
            endsAfter = now.elapsed(since: plan.startedAt) + min(lifetime, Self.deviceLifetimeMax)
            phase = .polling(DevicePolling(interval: interval, at: now))
            return [.tell(.started, of: id)]
        case .preparationFailed(let failure):
            return phase == .preparing ? end(.failed(failure)) : []
        case .opened:
            return phase.isForPerson ? [.tell(.opened, of: id)] : []
        case .responseArrived(let response): return responseArrived(response, at: now)
        case .pollEnded(let answer): return pollEnded(answer, at: now)
        case .grantArrived(let subject, let name, let isUnavailable, let addresses):
            return grantArrived(
                subject,
                called: name,
                isUnavailable: isUnavailable,
                addresses: addresses,
                at: now
            )
        case .identityArrived(let subject, let name):
            guard phase.isObtaining else { return [] }
            return otherOwner(than: subject, called: name).map { end($0) } ?? end(.completed)
        case .exchangeFailed(let failure):
            return phase.isObtaining ? end(.failed(SignInFailure(failure))) : []
        case .stored: return phase.isStoring ? end(.completed) : []
        case .notStored(let failure): return phase.isStoring ? end(.failed(failure)) : []
        case .timePassed: return timePassed(at: now)
        case .cancelled(let canceller):
            return canBeCancelled(by: canceller) ? end(.cancelled(by: canceller)) : []
        }
    }

    private func canBeCancelled(by canceller: SignInCanceller) -> Bool {
        switch phase {
        case .preparing, .waiting, .polling: true
        // A person who cancels does not want the tokens. A daemon that stops waits for them, as it does for those of a
        // refresh.
        case .exchanging: canceller != .stopping
        // The tokens are being written to disk.
        case .storing: canceller == .removed || canceller == .changed
        case .ended: false
        }
    }

    private mutating func responseArrived(_ response: AuthorizationResponse, at now: Moment) -> [SignInEffect] {
        switch phase {
        case .waiting(let expected):
            switch response.verdict(against: expected) {
            case .refused(let refusal): return [.refuse(refusal)]
            case .untrusted(let failure): return [.tell(.callbackReceived, of: id)] + end(.failed(failure))
            case .error(let refusal): return refused(refusal, expected, at: now)
            case .code(let code): return codeArrived(code, at: now)
            case .idToken(let token):
                phase = .exchanging
                return [.tell(.callbackReceived, of: id), .check(token, of: id)]
            }
        case .exchanging, .storing, .ended: return [.refuse(.alreadyAnswered)]
        case .preparing, .polling: return [.refuse(.notAwaited)]
        }
    }

    /// The state is used up now: a second copy of the same answer is refused.
    private mutating func codeArrived(_ code: AuthorizationCode, at now: Moment) -> [SignInEffect] {
        switch leg {
        case .grant:
            phase = .exchanging
            return [.tell(.callbackReceived, of: id), .tell(.exchanging, of: id), .exchange(code, of: id)]
        // The refresh token from another policy's code works only for that policy, so the account cannot use it.
        case .passwordReset: return begin(plan.leg, at: now)
        case .otherPolicy: return [.tell(.callbackReceived, of: id)] + end(.policyCompleted)
        }
    }

    private mutating func refused(
        _ refusal: ErrorResponse,
        _ expected: AuthorizationExpectation,
        at now: Moment
    ) -> [SignInEffect] {
        guard refusal.begins(with: expected.passwordResetCodes) else {
            let isCancelled = refusal.begins(with: expected.cancellationCodes)
            return [.tell(.callbackReceived, of: id)] + end(isCancelled ? .cancelled(by: .user) : refusal.end)
        }
        guard plan.resetsPasswords, !hasResetPassword else {
            return [.tell(.callbackReceived, of: id)] + end(.passwordForgotten(isResettable: plan.resetsPasswords))
        }
        hasResetPassword = true
        return begin(.passwordReset, at: now)
    }

    /// Sends the person to the server again. They are present, and get the full time again.
    private mutating func begin(_ leg: SignInLeg, at now: Moment) -> [SignInEffect] {
        self.leg = leg
        phase = .preparing
        endsAfter = now.elapsed(since: plan.startedAt) + Self.lifetime
        return [.prepare(id)]
    }

    private mutating func pollEnded(_ answer: DevicePollAnswer, at now: Moment) -> [SignInEffect] {
        guard case .polling(var polling) = phase else { return [] }
        switch answer {
        case .pending: polling.pending(at: now)
        case .slowDown: polling.slowedDown(at: now)
        case .denied(let refusal): return end(.denied(refusal))
        case .expired: return end(.timedOut)
        case .failed(let failure):
            guard failure.failureClass.subject == .service else { return end(.failed(SignInFailure(failure))) }
            polling.lost(at: now, retryAfter: failure.retryAfter)
        }
        phase = .polling(polling)
        return []
    }

    private mutating func grantArrived(
        _ subject: String?,
        called name: String?,
        isUnavailable: Bool,
        addresses: [String],
        at now: Moment
    ) -> [SignInEffect] {
        guard phase.isObtaining else { return [] }
        // If it is another person, the tokens are not revoked. Revoking could end the grant of the right account of a
        // person who signed in to the wrong one by mistake.
        let obstacle: SignInEnd?
        if plan.storedSubject == nil {
            obstacle = otherMailbox(than: addresses, called: name)
        } else if let subject {
            obstacle = otherOwner(than: subject, called: name)
        } else {
            obstacle = unnamedPerson(isUnavailable: isUnavailable)
        }
        if let obstacle { return end(obstacle) }
        phase = .storing(since: now)
        return [.store(id)]
    }

    /// How it ends if the account belongs to somebody, and the server did not say who signed in; nil if the account may
    /// be taken over.
    private func unnamedPerson(isUnavailable: Bool) -> SignInEnd? {
        guard let stored = plan.storedSubject, !plan.replacesSubject else { return nil }
        let owner = plan.storedName ?? stored
        // If the server could not be asked, waiting may help. Otherwise it names nobody to this client.
        return isUnavailable
            ? .failed(
                SignInFailure(
                    .unavailable,
                    "the server did not say who signed in, and the account belongs to '\(owner)'"
                )
            )
            : .failed(
                SignInFailure(
                    .refused,
                    "the server does not say who signed in, and the account belongs to '\(owner)'",
                    hint: "if you are not '\(owner)', or the server never says who signs in,"
                        + " repeat the sign-in with --replace"
                )
            )
    }

    /// How a first sign-in ends if the account is for one mailbox, and the person who signed in has others; nil if not.
    private func otherMailbox(than addresses: [String], called name: String?) -> SignInEnd? {
        guard let mailbox = plan.mailbox, !plan.replacesSubject, let first = addresses.first,
            !addresses.contains(where: { $0.lowercased() == mailbox.lowercased() })
        else { return nil }
        return .otherSubject(signedIn: name ?? first, owner: mailbox)
    }

    /// How it ends if the account belongs to another person; nil if it belongs to the one who signed in or to nobody,
    /// or if it may be taken over.
    private func otherOwner(than subject: String, called name: String?) -> SignInEnd? {
        guard let stored = plan.storedSubject, !plan.replacesSubject, subject != stored else { return nil }
        return .otherSubject(signedIn: name ?? subject, owner: plan.storedName ?? stored)
    }

    private mutating func timePassed(at now: Moment) -> [SignInEffect] {
        guard remaining(at: now) == .zero else { return [] }
        if case .storing = phase {
            let failure = SignInFailure(.unavailable, "the tokens arrived, but the store cannot be written")
            return end(.failed(failure))
        }
        guard case .polling(var polling) = phase, now.elapsed(since: plan.startedAt) < endsAfter else {
            return end(.timedOut)
        }
        polling.begin()
        phase = .polling(polling)
        return [.poll(id)]
    }

    private mutating func end(_ end: SignInEnd) -> [SignInEffect] {
        phase = .ended(end)
        return [.finish(end, of: id)]
    }
}

extension ErrorResponse {
    /// How this error ends a sign-in.
    fileprivate var end: SignInEnd {
        failureKind.map { .failed(SignInFailure($0, self)) } ?? .denied(self)
    }
}

/// The phase of a sign-in.
enum SignInPhase: Equatable, Sendable {
    /// The server is asked for what to show the person.
    case preparing
    /// The person is at the server's pages.
    case waiting(AuthorizationExpectation)
    /// The person approves on another device, and the daemon polls the server.
    case polling(DevicePolling)
    /// The code was sent to the token endpoint.
    case exchanging
    /// The tokens have arrived and are not on disk yet.
    case storing(since: Moment)
    case ended(SignInEnd)

    /// Whether the person has something to do.
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

    /// Whether the server has not answered yet, so that nothing is lost if the person begins again.
    var isUnanswered: Bool { self == .preparing || isForPerson }

    /// Whether the tokens have arrived and are not on disk yet.
    var isStoring: Bool {
        if case .storing = self { true } else { false }
    }
}

/// What can happen to a sign-in.
enum SignInEvent: Equatable, Sendable {
    /// The address for the browser is ready.
    case prepared(AuthorizationExpectation)
    /// The server issued a device code with this `lifetime`; the interval is nil if the server stated none.
    case deviceAuthorized(interval: Duration?, lifetime: Duration)
    /// There is nothing to show the person, because the preparation failed.
    case preparationFailed(SignInFailure)
    /// Somebody reported that the browser was opened.
    case opened
    /// A response came from a browser, or a person entered one.
    case responseArrived(AuthorizationResponse)
    /// The token endpoint answered a poll without tokens.
    case pollEnded(DevicePollAnswer)
    /// The tokens have arrived. The subject is nil if the server named none or could not be asked; the name and the mail
    /// addresses of the person are safe for a terminal.
    case grantArrived(
        subject: String?,
        name: String? = nil,
        isUnavailable: Bool = false,
        addresses: [String] = []
    )
    /// The ID token, the only thing requested, is genuine. The name is safe for a terminal.
    case identityArrived(subject: String, name: String?)
    /// The code brought no tokens, or the device's tokens cannot be trusted.
    case exchangeFailed(RefreshFailure)
    /// The tokens are on disk.
    case stored
    /// The tokens cannot be stored.
    case notStored(SignInFailure)
    /// The time from `remaining(at:)` has passed.
    case timePassed
    case cancelled(by: SignInCanceller)
}

/// The token endpoint's answer about a device code (RFC 8628 §3.5), other than tokens.
enum DevicePollAnswer: Hashable, Sendable {
    case pending
    case slowDown
    case denied(ErrorResponse)
    case expired
    case failed(RefreshFailure)
}

/// What the caller has to do after an event, in this order. Each effect names its sign-in.
enum SignInEffect: Equatable, Sendable {
    /// Tell the followers of the sign-in.
    case tell(SignInNews, of: String)
    /// Ask the server whether it still has the client that it registered, before the person is sent to it.
    case lookUpClient(of: String)
    /// Have the server register another client. Only then the person can be sent to it.
    case replaceClient(of: String)
    /// Prepare a request and send the person to the server; see `leg`.
    case prepare(String)
    /// Send the code to the token endpoint, once.
    case exchange(AuthorizationCode, of: String)
    /// Validate the ID token, the only thing requested.
    case check(Secret, of: String)
    /// Ask the token endpoint about the device code.
    case poll(String)
    /// Commit the tokens that arrived. A new account is added with them.
    case store(String)
    /// Tell the sender of the response that it does not count as an answer.
    case refuse(ResponseFinding)
    /// Tell everybody how the sign-in ended, and forget it.
    case finish(SignInEnd, of: String)
}

/// What followers of a sign-in are told. The raw values are used on the wire.
enum SignInNews: String, Hashable, Sendable, CaseIterable {
    case started
    case opened
    case callbackReceived = "callback-received"
    case exchanging
    /// The person forgot the password and is sent to the page that resets it.
    case passwordReset = "password-reset"
    /// The password was reset, and the person is sent to sign in with it.
    case signInAgain = "sign-in-again"
    case completed
    /// The requested policy is done; the account has not changed.
    case policyCompleted = "policy-completed"

    /// Whether this news has an address for the browser.
    var isInvitation: Bool { self == .started || self == .passwordReset || self == .signInAgain }
}
