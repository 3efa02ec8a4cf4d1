/// Decides what follows from a sign-in, an import and a sign-out, and what happens to a grant without a refresh token.
extension RefreshStep {
    /// An imported grant replaces everything. Its first refresh, due at once, shows whether it works.
    mutating func grantImported(refreshTokenLifetime: Duration?) -> [Effect] {
        let lifetime = [refreshTokenLifetime, policy.refreshTokenLifetime].compactMap { $0 }.first { $0 > .zero }
        // We do not know when the person signed in, but the grant ends no later than if they signed in now.
        let isExtended: Bool? = policy.isRefreshTokenLifetimeAbsolute && refreshTokenLifetime == nil ? false : nil
        state = RefreshState(
            generation: state.generation.next,
            phase: .scheduled,
            deadline: now.wall,
            refreshToken: lifetime.map { RefreshTokenTimes(issuedAt: now, lifetime: $0, isExtendedByUse: isExtended) },
            hasWorked: state.hasWorked,
            isRotating: state.isRotating,
            signOut: signOutTimes(from: now)
        )
        return [.persist(.replace), .publish(.grantImported)]
    }

    /// A sign-in replaces everything. The account uses its access token at once, and no longer needs the person.
    mutating func grantObtained(
        _ issuance: Issuance,
        _ hasRefreshToken: Bool,
        sentAt: Moment
    ) -> [Effect] {
        let sentAt = sentAt.asSeen(at: now)
        // The refresh token is treated like a rotated one: we know about it only what came with it.
        var issuance = issuance
        issuance.isRotated = true
        if !hasRefreshToken, issuance.lifetime == nil {
            (issuance.lifetime, issuance.lifetimeBasis) = (RefreshRule.endlessLifetime, .unlimited)
        }
        state = RefreshState(
            generation: state.generation.next,
            phase: .scheduled,
            isRefreshable: hasRefreshToken,
            // The same endpoint has accepted the code from the same client. Some servers answer `invalid_request` for a
            // dead refresh token.
            hasWorked: true,
            isRotating: state.isRotating,
            signOut: signOutTimes(from: sentAt)
        )
        if hasRefreshToken { adoptRefreshToken(of: issuance, sentAt: sentAt) }
        if let flaw = issuance.flaw {
            let waiting = backOff(flaw.wait, after: flaw.failure)
            return [.persist(.replace), .publish(.signedIn)] + waiting.dropFirst()
        }
        state.accessToken = accessTokenTimes(of: issuance, sentAt: sentAt)
        state.deadline = scheduledDeadline
        return [.persist(.replace), .publish(.signedIn)]
    }

    /// Uses the new access token, and keeps refreshing with the old refresh token if that may still work.
    ///
    /// What is known about the refresh token, good or bad, does not concern the new access token. Many servers send a
    /// refresh token only at the first sign-in, or with `prompt=consent`.
    mutating func accessTokenObtained(
        _ issuance: Issuance,
        sentAt: Moment
    ) -> [Effect] {
        guard state.mayHoldGoodGrant else {
            return grantObtained(issuance, false, sentAt: sentAt)
        }
        state.hasWorked = true
        state.signOut = signOutTimes(from: sentAt.asSeen(at: now))
        state.accessToken = accessTokenTimes(of: issuance, sentAt: sentAt.asSeen(at: now))
        switch state.phase {
        case .scheduled, .interactionRequired:
            state.phase = .scheduled
            state.deadline = scheduledDeadline
        case .refreshing, .backingOff, .parked, .signedOut: break
        }
        return [.persist(.store), .publish(.accessTokenObtained)]
    }

    /// Like a sign-in. The server has accepted the refresh token, too.
    mutating func grantProved(_ issuance: Issuance, sentAt: Moment) -> [Effect] {
        let waiting = grantObtained(issuance, true, sentAt: sentAt).dropFirst(2)
        let told = waiting.isEmpty ? [Effect.publish(.tokenRefreshed)] : Array(waiting)
        return [.persist(.replace), .publish(.grantImported)] + told
    }

    /// Signs the account out.
    ///
    /// The new generation makes every answer that is still on its way a stale one.
    ///
    /// - Parameter change: what subscribers and the journal are told.
    mutating func signedOut(as change: AccountChange = .signedOut) -> [Effect] {
        state = RefreshState(generation: state.generation.next)
        return [.persist(.erase), .publish(change)]
    }

    /// Parks the account, if it can be parked now.
    mutating func parked() -> [Effect] {
        guard state.mayBeParked else { return [] }
        state.phase = .parked(.moved)
        state.deadline = nil
        return [.persist(.unchanged), .publish(.parked)]
    }

    /// Resumes a parked account. The first refresh, due at once, shows whether the grant still works. A withheld account
    /// calls its person again instead.
    mutating func unparked() -> [Effect] {
        guard case .parked = state.phase else { return [] }
        state.phase = .scheduled
        state.deadline = now.wall
        state.accessToken?.refreshAfter = RefreshRule.unaskedInterval
        let calling = state.isWithheld ? called(because: .nobody).dropFirst() : []
        return [.persist(.unchanged), .publish(.unparked)] + calling
    }

    /// The effects of calling the user because a grant without a refresh token has no valid access token left; nil if
    /// that is not so.
    mutating func accessEnded() -> [Effect]? {
        guard case .scheduled = state.phase, !state.isRefreshable,
            state.accessToken.map({ $0.timeToEnd(at: now) <= .zero }) ?? true
        else { return nil }
        let failure = RefreshFailure.noRefreshToken(
            "the server gave no refresh token, so a sign-in is needed once the access token has expired"
        )
        return requireInteraction(.noRefreshToken, failure)
    }
}

extension RefreshFailure {
    /// The failure of a grant without a refresh token.
    static func noRefreshToken(_ summary: String) -> RefreshFailure {
        RefreshFailure(.userRequired, detail: FailureDetail(summary: summary))
    }
}
