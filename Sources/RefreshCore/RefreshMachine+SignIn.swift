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
        if !hasRefreshToken { issuance.lifetime = issuance.lifetime ?? RefreshRule.endlessLifetime }
        state = RefreshState(
            generation: state.generation.next,
            phase: .scheduled,
            isRefreshable: hasRefreshToken,
            hasRefreshed: state.hasRefreshed
        )
        if hasRefreshToken { adoptRefreshToken(of: issuance, sentAt: sentAt) }
        state.accessToken = accessTokenTimes(of: issuance, sentAt: sentAt, jitter: jitter)
        state.deadline = scheduledDeadline(at: now)
        return [.persist(.replace), .publish(.signedIn)]
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
