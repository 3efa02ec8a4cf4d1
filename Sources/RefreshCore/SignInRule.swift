/// What a sign-in or an import brings, what a sign-out takes, and what becomes of a grant that has no refresh token.
enum SignInRule {
    /// A grant from outside replaces everything; its first refresh, due at once, proves it.
    static func grantImported(_ step: inout RefreshStep, refreshTokenLifetime: Duration?) -> [Effect] {
        let (policy, now) = (step.policy, step.now)
        let lifetime = [refreshTokenLifetime, policy.refreshTokenLifetime].compactMap { $0 }.first { $0 > .zero }
        // When the person signed in is not known; the end cannot be later than that of a sign-in now.
        let isExtended: Bool? = policy.isRefreshTokenLifetimeAbsolute && refreshTokenLifetime == nil ? false : nil
        step.state = RefreshState(
            generation: step.state.generation.next,
            phase: .scheduled,
            deadline: now.wall,
            refreshToken: lifetime.map { RefreshTokenTimes(issuedAt: now, lifetime: $0, isExtendedByUse: isExtended) },
            hasWorked: step.state.hasWorked,
            isRotating: step.state.isRotating,
            signOut: step.signOutTimes(from: now)
        )
        return [.persist(.replace), .publish(.grantImported)]
    }

    /// A sign-in replaces everything: its access token is the account's at once, and the user is no longer called.
    static func grantObtained(
        _ step: inout RefreshStep,
        _ issuance: Issuance,
        _ hasRefreshToken: Bool,
        sentAt: Moment
    ) -> [Effect] {
        let sentAt = sentAt.asSeen(at: step.now)
        // As with a refresh token that was rotated: nothing is known of it but what came with it.
        var issuance = issuance
        issuance.isRotated = true
        if !hasRefreshToken, issuance.lifetime == nil {
            (issuance.lifetime, issuance.lifetimeBasis) = (RefreshRule.endlessLifetime, .unlimited)
        }
        step.state = RefreshState(
            generation: step.state.generation.next,
            phase: .scheduled,
            isRefreshable: hasRefreshToken,
            // The code was taken by the same endpoint from the same client: some servers say `invalid_request` of a dead refresh token.
            hasWorked: true,
            isRotating: step.state.isRotating,
            signOut: step.signOutTimes(from: sentAt)
        )
        if hasRefreshToken { step.adoptRefreshToken(of: issuance, sentAt: sentAt) }
        if issuance.isUnbound {
            let waiting = FailureRule.backOff(&step, .misconfigured, after: .unboundToken())
            return [.persist(.replace), .publish(.signedIn)] + waiting.dropFirst()
        }
        step.state.accessToken = step.accessTokenTimes(of: issuance, sentAt: sentAt)
        step.state.deadline = step.scheduledDeadline
        return [.persist(.replace), .publish(.signedIn)]
    }

    /// The refresh token that is held goes on being refreshed, if it may still work: what is known about it, good or bad, is not about the
    /// new access token. Many servers give a refresh token only at the first sign-in, or with `prompt=consent`.
    static func accessTokenObtained(
        _ step: inout RefreshStep,
        _ issuance: Issuance,
        sentAt: Moment
    ) -> [Effect] {
        guard step.state.mayHoldGoodGrant else {
            return grantObtained(&step, issuance, false, sentAt: sentAt)
        }
        step.state.hasWorked = true
        step.state.signOut = step.signOutTimes(from: sentAt.asSeen(at: step.now))
        step.state.accessToken = step.accessTokenTimes(of: issuance, sentAt: sentAt.asSeen(at: step.now))
        switch step.state.phase {
        case .scheduled, .interactionRequired:
            step.state.phase = .scheduled
            step.state.deadline = step.scheduledDeadline
        case .refreshing, .backingOff, .parked, .signedOut: break
        }
        return [.persist(.store), .publish(.accessTokenObtained)]
    }

    /// As after a sign-in; the server has taken the refresh token, too.
    static func grantProved(_ step: inout RefreshStep, _ issuance: Issuance, sentAt: Moment) -> [Effect] {
        let waiting = grantObtained(&step, issuance, true, sentAt: sentAt).dropFirst(2)
        let told = waiting.isEmpty ? [Effect.publish(.tokenRefreshed)] : Array(waiting)
        return [.persist(.replace), .publish(.grantImported)] + told
    }

    /// A new generation makes every answer that is still on its way a stale one.
    ///
    /// - Parameter change: what others are told.
    static func signedOut(_ step: inout RefreshStep, as change: AccountChange = .signedOut) -> [Effect] {
        step.state = RefreshState(generation: step.state.generation.next)
        return [.persist(.erase), .publish(change)]
    }

    /// A request that is under way has to end first: its answer may hold the refresh token that works elsewhere.
    static func parked(_ step: inout RefreshStep) -> [Effect] {
        guard step.state.isRefreshable else { return [] }
        switch step.state.phase {
        case .signedOut, .refreshing, .parked: return []
        case .scheduled, .backingOff, .interactionRequired: break
        }
        step.state.phase = .parked
        step.state.deadline = nil
        return [.persist(.unchanged), .publish(.parked)]
    }

    /// The first refresh, due at once, tells whether the grant still works.
    static func unparked(_ step: inout RefreshStep) -> [Effect] {
        guard case .parked = step.state.phase else { return [] }
        step.state.phase = .scheduled
        step.state.deadline = step.now.wall
        step.state.accessToken?.refreshAfter = RefreshRule.shortestInterval
        return [.persist(.unchanged), .publish(.unparked)]
    }

    /// The effects of calling the user because a grant without a refresh token has no valid access token any more; nil if that is not
    /// so.
    static func accessEnded(_ step: inout RefreshStep) -> [Effect]? {
        guard case .scheduled = step.state.phase, !step.state.isRefreshable,
            step.state.accessToken.map({ $0.remaining(at: step.now) == .zero }) ?? true
        else { return nil }
        return FailureRule.requireInteraction(
            &step,
            .noRefreshToken,
            .withoutRefreshToken("once the access token has ended")
        )
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
