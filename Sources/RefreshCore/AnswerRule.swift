/// What the token endpoint's answers mean.
extension RefreshStep {
    /// Decides what follows from an answer with tokens.
    ///
    /// - Parameter target: what was requested; nil for the account's default access token.
    mutating func tokensIssued(
        for generation: Generation,
        _ issuance: Issuance,
        of target: TokenTarget?
    ) -> [Effect] {
        var lease: Lease?
        if case .refreshing(let held) = state.phase, held.generation == generation { lease = held }
        // Match by generation, in any phase. An answer that arrives after its lease has expired carries the only
        // refresh token that the server still accepts.
        guard generation == state.generation || lease != nil else {
            return [.publish(.staleAnswerDropped(generation))]
        }

        var issuance = issuance
        // A service account spends no refresh token, so nothing was rotated.
        if policy.isServiceAccount { issuance.isRotated = false }
        let sentAt = lease?.startedAt.asSeen(at: now) ?? now
        if issuance.isRotated {
            // The server's grace period began while the request was under way. Counting from the start of the request
            // never exceeds it.
            state.previous = PreviousRefreshToken(generation: generation, replacedAt: sentAt)
            state.generation = max(state.generation, generation).next
        } else {
            // RFC 6749 §6: if refresh_token is missing, the refresh token that was sent stays valid.
            state.generation = generation
            state.previous = nil
        }
        if !policy.isServiceAccount { state.isRotating = issuance.isRotated || state.isRotating == true }
        adoptRefreshToken(of: issuance, sentAt: sentAt)
        switch issuance.person {
        case .nobody: break
        case .own: state.isWithheld = false
        case .other: state.isWithheld = true
        }
        var times = accessTokenTimes(of: issuance, sentAt: sentAt)
        let flaw = issuance.flaw ?? (times.lifetime == .zero ? .ended : nil)
        if target == nil, flaw == nil, !state.isWithheld {
            // An earlier request would bring the same token again.
            if issuance.refreshIn == nil, let held = state.accessToken, times.endsWith(held, at: now) {
                times.refreshAfter = times.lifetime
            }
            state.accessToken = times
        }
        state.hasWorked = true
        state.isOutcomeUnknown = false
        let failures = state.failures
        state.failures = 0
        state.refusals = 0
        state.refusal = nil
        if !state.phase.isParked {
            state.phase = .scheduled
            state.deadline = scheduledDeadline
        }
        if state.isWithheld { return withheld(from: issuance.person) }
        if let flaw { return grantKept(without: flaw, for: target, after: failures) }
        guard let target else { return [.persist(.store), .publish(.tokenRefreshed)] }
        return [.persist(.storeTarget(target, times)), .publish(.targetRefreshed(target))]
    }

    /// The effects of an answer with the tokens of another person, or of a later one that names nobody. The refresh token
    /// is kept, because it may be the only one that the server still accepts. Nobody gets an access token, old or new,
    /// until the person has said whose the account is.
    private mutating func withheld(from person: NamedPerson) -> [Effect] {
        state.accessToken = nil
        guard !state.phase.isParked else { return [.persist(.storeGrant)] }
        return [.persist(.storeGrant)] + called(because: person).dropFirst()
    }

    /// The effects of calling the person of a withheld account.
    mutating func called(because person: NamedPerson) -> [Effect] {
        let summary =
            if case .other(let name) = person {
                "the server answered with tokens of another person, '\(name)'"
            } else {
                "an earlier answer brought tokens of another person, and none since has named the account's own"
            }
        let failure = RefreshFailure(.userRequired, detail: FailureDetail(summary: summary))
        return requireInteraction(.otherPerson, failure)
    }

    /// The effects of an answer whose access token is not used. The account keeps the token that it holds, and asks
    /// again after a pause, as after a failure.
    ///
    /// Without the pause, a server that keeps answering this way would be asked in a loop.
    private mutating func grantKept(
        without flaw: AccessTokenFinding,
        for target: TokenTarget?,
        after failures: Int
    ) -> [Effect] {
        if let target { return [.persist(.storeGrant), .publish(.targetFailed(target, flaw.failure))] }
        guard !state.phase.isParked else { return [.persist(.storeGrant)] }
        state.failures = failures
        return [.persist(.storeGrant)] + backOff(flaw.wait, after: flaw.failure).dropFirst()
    }

    /// Takes the lifetime that the server stated for the access token in hand.
    ///
    /// - Parameter lifetime: how much of it is left.
    mutating func lifetimeLearned(
        _ lifetime: Duration,
        ofTokenIssuedAt issuedAt: Moment
    ) -> [Effect] {
        guard let held = state.accessToken, held.issuedAt == issuedAt, held.basis != .stated else { return [] }
        let issuance = Issuance(lifetime: now.elapsed(since: issuedAt) + lifetime)
        state.accessToken = accessTokenTimes(of: issuance, sentAt: issuedAt)
        guard state.phase == .scheduled else { return [.persist(.unchanged)] }
        return rearm(at: scheduledDeadline)
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
