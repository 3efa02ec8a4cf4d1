/// Decides what follows from a sign-in, an import and a sign-out, and what happens to a grant without a refresh token.
enum SignInRule {
    /// An imported grant replaces everything. Its first refresh, due at once, shows whether it works.
    static func grantImported(_ step: inout RefreshStep, refreshTokenLifetime: Duration?) -> [Effect] {
        let (policy, now) = (step.policy, step.now)
        let lifetime = [refreshTokenLifetime, policy.refreshTokenLifetime].compactMap { $0 }.first { $0 > .zero }
        // We do not know when the person signed in, but the grant ends no later than if they signed in now.
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

    /// A sign-in replaces everything. The account uses its access token at once, and no longer needs the person.
    static func grantObtained(
        _ step: inout RefreshStep,
        _ issuance: Issuance,
        _ hasRefreshToken: Bool,
        sentAt: Moment
    ) -> [Effect] {
        let sentAt = sentAt.asSeen(at: step.now)
        // The refresh token is treated like a rotated one: we know about it only what came with it.
        var issuance = issuance
        issuance.isRotated = true
        if !hasRefreshToken, issuance.lifetime == nil {
            (issuance.lifetime, issuance.lifetimeBasis) = (RefreshRule.endlessLifetime, .unlimited)
        }
        step.state = RefreshState(
            generation: step.state.generation.next,
            phase: .scheduled,
            isRefreshable: hasRefreshToken,
            // The same endpoint has accepted the code from the same client. Some servers answer `invalid_request` for a
            // dead refresh token.
            hasWorked: true,
            isRotating: step.state.isRotating,
            signOut: step.signOutTimes(from: sentAt)
        )
        if hasRefreshToken { step.adoptRefreshToken(of: issuance, sentAt: sentAt) }
        if let flaw = issuance.flaw {
            let waiting = FailureRule.backOff(&step, flaw.wait, after: flaw.failure)
            return [.persist(.replace), .publish(.signedIn)] + waiting.dropFirst()
        }
        step.state.accessToken = step.accessTokenTimes(of: issuance, sentAt: sentAt)
        step.state.deadline = step.scheduledDeadline
        return [.persist(.replace), .publish(.signedIn)]
    }

    /// Uses the new access token, and keeps refreshing with the old refresh token if that may still work.
    ///
    /// What is known about the refresh token, good or bad, does not concern the new access token. Many servers send a
    /// refresh token only at the first sign-in, or with `prompt=consent`.
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

    /// Like a sign-in. The server has accepted the refresh token, too.
    static func grantProved(_ step: inout RefreshStep, _ issuance: Issuance, sentAt: Moment) -> [Effect] {
        let waiting = grantObtained(&step, issuance, true, sentAt: sentAt).dropFirst(2)
        let told = waiting.isEmpty ? [Effect.publish(.tokenRefreshed)] : Array(waiting)
        return [.persist(.replace), .publish(.grantImported)] + told
    }

    /// Signs the account out.
    ///
    /// The new generation makes every answer that is still on its way a stale one.
    ///
    /// - Parameter change: what subscribers and the journal are told.
    static func signedOut(_ step: inout RefreshStep, as change: AccountChange = .signedOut) -> [Effect] {
        step.state = RefreshState(generation: step.state.generation.next)
        return [.persist(.erase), .publish(change)]
    }

    /// Parks the account, if it can be parked now.
    static func parked(_ step: inout RefreshStep) -> [Effect] {
        guard step.state.mayBeParked else { return [] }
        step.state.phase = .parked(.moved)
        step.state.deadline = nil
        return [.persist(.unchanged), .publish(.parked)]
    }

    /// Resumes a parked account. The first refresh, due at once, shows whether the grant still works. A withheld account
    /// calls its person again instead.
    static func unparked(_ step: inout RefreshStep) -> [Effect] {
        guard case .parked = step.state.phase else { return [] }
        step.state.phase = .scheduled
        step.state.deadline = step.now.wall
        step.state.accessToken?.refreshAfter = RefreshRule.unaskedInterval
        let calling = step.state.isWithheld ? AnswerRule.called(&step, because: .nobody).dropFirst() : []
        return [.persist(.unchanged), .publish(.unparked)] + calling
    }

    /// The effects of calling the user because a grant without a refresh token has no valid access token left; nil if
    /// that is not so.
    static func accessEnded(_ step: inout RefreshStep) -> [Effect]? {
        guard case .scheduled = step.state.phase, !step.state.isRefreshable,
            step.state.accessToken.map({ $0.timeToEnd(at: step.now) <= .zero }) ?? true
        else { return nil }
        let failure = RefreshFailure.noRefreshToken(
            "the server gave no refresh token, so a sign-in is needed once the access token has expired"
        )
        return FailureRule.requireInteraction(&step, .noRefreshToken, failure)
    }
}

extension RefreshFailure {
    /// The failure of a grant without a refresh token.
    static func noRefreshToken(_ summary: String) -> RefreshFailure {
        RefreshFailure(.userRequired, detail: FailureDetail(summary: summary))
    }
}
