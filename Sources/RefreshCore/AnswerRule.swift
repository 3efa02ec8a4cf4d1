/// What the token endpoint's answers mean.
enum AnswerRule {
    /// Decides what follows from an answer with tokens.
    ///
    /// - Parameter target: what was requested; nil for the account's default access token.
    static func tokensIssued(
        _ step: inout RefreshStep,
        for generation: Generation,
        _ issuance: Issuance,
        of target: TokenTarget?
    ) -> [Effect] {
        var lease: Lease?
        if case .refreshing(let held) = step.state.phase, held.generation == generation { lease = held }
        // Match by generation, in any phase. An answer that arrives after its lease has expired carries the only
        // refresh token that the server still accepts.
        guard generation == step.state.generation || lease != nil else {
            return [.publish(.staleAnswerDropped(generation))]
        }

        var issuance = issuance
        // A service account spends no refresh token, so nothing was rotated.
        if step.policy.isServiceAccount { issuance.isRotated = false }
        let sentAt = lease?.startedAt.asSeen(at: step.now) ?? step.now
        if issuance.isRotated {
            // The server's grace period began while the request was under way. Counting from the start of the request
            // never exceeds it.
            step.state.previous = PreviousRefreshToken(generation: generation, replacedAt: sentAt)
            step.state.generation = max(step.state.generation, generation).next
        } else {
            // RFC 6749 §6: if refresh_token is missing, the refresh token that was sent stays valid.
            step.state.generation = generation
            step.state.previous = nil
        }
        if !step.policy.isServiceAccount { step.state.isRotating = issuance.isRotated || step.state.isRotating == true }
        step.adoptRefreshToken(of: issuance, sentAt: sentAt)
        switch issuance.person {
        case .nobody: break
        case .own: step.state.isWithheld = false
        case .other: step.state.isWithheld = true
        }
        var times = step.accessTokenTimes(of: issuance, sentAt: sentAt)
        let flaw = issuance.flaw ?? (times.lifetime == .zero ? .ended : nil)
        if target == nil, flaw == nil, !step.state.isWithheld {
            // An earlier request would bring the same token again.
            if issuance.refreshIn == nil, let held = step.state.accessToken, times.endsWith(held, at: step.now) {
                times.refreshAfter = times.lifetime
            }
            step.state.accessToken = times
        }
        step.state.hasWorked = true
        step.state.isOutcomeUnknown = false
        let failures = step.state.failures
        step.state.failures = 0
        step.state.refusals = 0
        step.state.refusal = nil
        if !step.state.phase.isParked {
            step.state.phase = .scheduled
            step.state.deadline = step.scheduledDeadline
        }
        if step.state.isWithheld { return withheld(&step, from: issuance.person) }
        if let flaw { return grantKept(&step, without: flaw, for: target, after: failures) }
        guard let target else { return [.persist(.store), .publish(.tokenRefreshed)] }
        return [.persist(.storeTarget(target, times)), .publish(.targetRefreshed(target))]
    }

    /// The effects of an answer with the tokens of another person, or of a later one that names nobody. The refresh token
    /// is kept, because it may be the only one that the server still accepts. Nobody gets an access token, old or new,
    /// until the person has said whose the account is.
    private static func withheld(_ step: inout RefreshStep, from person: NamedPerson) -> [Effect] {
        step.state.accessToken = nil
        guard !step.state.phase.isParked else { return [.persist(.storeGrant)] }
        return [.persist(.storeGrant)] + called(&step, because: person).dropFirst()
    }

    /// The effects of calling the person of a withheld account.
    static func called(_ step: inout RefreshStep, because person: NamedPerson) -> [Effect] {
        let summary =
            if case .other(let name) = person {
                "the server answered with tokens of another person, '\(name)'"
            } else {
                "an earlier answer brought tokens of another person, and none since has named the account's own"
            }
        let failure = RefreshFailure(.userRequired, detail: FailureDetail(summary: summary))
        return FailureRule.requireInteraction(&step, .otherPerson, failure)
    }

    /// The effects of an answer whose access token is not used. The account keeps the token that it holds, and asks
    /// again after a pause, as after a failure.
    ///
    /// Without the pause, a server that keeps answering this way would be asked in a loop.
    private static func grantKept(
        _ step: inout RefreshStep,
        without flaw: AccessTokenFinding,
        for target: TokenTarget?,
        after failures: Int
    ) -> [Effect] {
        if let target { return [.persist(.storeGrant), .publish(.targetFailed(target, flaw.failure))] }
        guard !step.state.phase.isParked else { return [.persist(.storeGrant)] }
        step.state.failures = failures
        return [.persist(.storeGrant)] + FailureRule.backOff(&step, flaw.wait, after: flaw.failure).dropFirst()
    }

    /// Takes the lifetime that the server stated for the access token in hand.
    ///
    /// - Parameter lifetime: how much of it is left.
    static func lifetimeLearned(
        _ step: inout RefreshStep,
        _ lifetime: Duration,
        ofTokenIssuedAt issuedAt: Moment
    ) -> [Effect] {
        guard let held = step.state.accessToken, held.issuedAt == issuedAt, held.basis != .stated else { return [] }
        let issuance = Issuance(lifetime: step.now.elapsed(since: issuedAt) + lifetime)
        step.state.accessToken = step.accessTokenTimes(of: issuance, sentAt: issuedAt)
        guard step.state.phase == .scheduled else { return [.persist(.unchanged)] }
        return step.rearm(at: step.scheduledDeadline)
    }
}

/// Why the access token of a successful answer is not used.
package enum AccessTokenFinding: Hashable, Sendable, CaseIterable {
    /// It has expired already: some servers send the old token again in its last moment.
    case ended
    /// It is not bound to a key although the account requires that (RFC 9449 §5).
    case unbound
    /// There is none, only a refresh token.
    case missing
    /// No header may carry it: it has characters other than those of RFC 6749 appendix A.12.
    case unsendable

    package var failure: RefreshFailure {
        switch self {
        case .ended: .unused(.unavailable, "the server gave an access token that has already expired")
        case .unbound: .unused(.misconfigured, "the server gave an access token that is not bound to the account's key")
        case .missing: .unused(.unavailable, "the server gave a refresh token, but no access token")
        case .unsendable:
            .unused(.unavailable, "the server gave an access token with characters that no header may carry")
        }
    }

    /// How long to wait before asking the server again.
    var wait: BackOff.Kind {
        switch self {
        case .ended, .missing, .unsendable: .transient
        case .unbound: .misconfigured
        }
    }
}

extension RefreshFailure {
    fileprivate static func unused(_ failureClass: FailureClass, _ summary: String) -> RefreshFailure {
        // RFC 6749 §5.1: an answer with tokens has no other status.
        RefreshFailure(failureClass, detail: FailureDetail(summary: summary, httpStatus: 200))
    }
}
