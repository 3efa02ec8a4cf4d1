/// What a sign-in brings, and what becomes of a grant that has no refresh token.
extension RefreshMachine {
    /// A sign-in replaces everything: its access token is the account's at once, and the user is no longer called.
    mutating func grantObtained(
        _ issuance: Issuance,
        _ hasRefreshToken: Bool,
        sentAt: Moment,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        let sentAt = sentAt.asSeen(at: now)
        // As with a refresh token that was rotated: nothing is known of it but what came with it.
        var issuance = issuance
        issuance.isRotated = true
        if !hasRefreshToken, issuance.lifetime == nil {
            (issuance.lifetime, issuance.lifetimeBasis) = (RefreshRule.endlessLifetime, .unlimited)
        }
        state = RefreshState(
            generation: state.generation.next,
            phase: .scheduled,
            isRefreshable: hasRefreshToken,
            // The code was taken by the same endpoint from the same client: some servers say `invalid_request` of a dead refresh token.
            hasWorked: true,
            isRotating: state.isRotating
        )
        if hasRefreshToken { adoptRefreshToken(of: issuance, sentAt: sentAt) }
        if issuance.isUnbound {
            let waiting = backOff(.misconfigured, after: .unboundToken(), at: now, jitter: jitter)
            return [.persist(.replace), .publish(.signedIn)] + waiting.dropFirst()
        }
        state.accessToken = accessTokenTimes(of: issuance, sentAt: sentAt, jitter: jitter)
        state.deadline = scheduledDeadline(at: now)
        return [.persist(.replace), .publish(.signedIn)]
    }

    /// The refresh token that is held goes on being refreshed, if it may still work: what is known about it, good or bad, is not about the
    /// new access token. Many servers give a refresh token only at the first sign-in, or with `prompt=consent`.
    mutating func accessTokenObtained(
        _ issuance: Issuance,
        sentAt: Moment,
        at now: Moment,
        jitter: Double
    ) -> [Effect] {
        guard state.mayHoldGoodGrant else {
            return grantObtained(issuance, false, sentAt: sentAt, at: now, jitter: jitter)
        }
        state.hasWorked = true
        state.accessToken = accessTokenTimes(of: issuance, sentAt: sentAt.asSeen(at: now), jitter: jitter)
        switch state.phase {
        case .scheduled, .interactionRequired:
            state.phase = .scheduled
            state.deadline = scheduledDeadline(at: now)
        case .refreshing, .backingOff, .parked, .signedOut: break
        }
        return [.persist(.store), .publish(.accessTokenObtained)]
    }

    /// As after a sign-in; the server has taken the refresh token, too.
    mutating func grantProved(_ issuance: Issuance, sentAt: Moment, at now: Moment, jitter: Double) -> [Effect] {
        let waiting = grantObtained(issuance, true, sentAt: sentAt, at: now, jitter: jitter).dropFirst(2)
        let told = waiting.isEmpty ? [Effect.publish(.tokenRefreshed)] : Array(waiting)
        return [.persist(.replace), .publish(.grantImported)] + told
    }

    /// A request that is under way has to end first: its answer may hold the refresh token that works elsewhere.
    mutating func parked() -> [Effect] {
        guard state.isRefreshable else { return [] }
        switch state.phase {
        case .signedOut, .refreshing, .parked: return []
        case .scheduled, .backingOff, .interactionRequired: break
        }
        state.phase = .parked
        state.deadline = nil
        return [.persist(.unchanged), .publish(.parked)]
    }

    /// The first refresh, due at once, tells whether the grant still works.
    mutating func unparked(at now: Moment) -> [Effect] {
        guard case .parked = state.phase else { return [] }
        state.phase = .scheduled
        state.deadline = now.wall
        state.accessToken?.refreshAfter = RefreshRule.shortestInterval
        return [.persist(.unchanged), .publish(.unparked)]
    }

    /// The effects of calling the user because a grant without a refresh token has no valid access token any more; nil if that is not
    /// so.
    mutating func accessEnded(at now: Moment) -> [Effect]? {
        guard case .scheduled = state.phase, !state.isRefreshable,
            state.accessToken.map({ $0.remaining(at: now) == .zero }) ?? true
        else { return nil }
        return requireInteraction(.noRefreshToken, .withoutRefreshToken("once the access token has ended"), at: now)
    }
}

extension RefreshFailure {
    /// - Parameter purpose: what a refresh token would be needed for.
    static func withoutRefreshToken(_ purpose: String) -> RefreshFailure {
        RefreshFailure(
            .userRequired,
            detail: FailureDetail(summary: "the server gave no refresh token, so a sign-in is needed \(purpose)")
        )
    }
}
