internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Demands that go beyond an account's grant.
extension RefreshCoordinator {
    /// Notes what a resource server wants; those who follow are told if a person is needed.
    func note(_ stepUp: StepUp, of snapshot: AccountSnapshot) {
        stepUps[snapshot.account.id] = stepUp
        guard stepUp.needsPerson, let record = try? entry(of: snapshot.account.id)?.record() else { return }
        announce(.stepUpRequired(stepUp), of: record, at: snapshot.at)
    }

    /// A refresh for claims that ended with new ones: only a person can bring them.
    func noteClaims(_ claims: String?, demandedOf account: AccountID) {
        if let claims { stepUps[account] = StepUp(since: timebase.now().wall, claims: claims) }
    }

    /// Forgets a demand that `change` has met, or that has lost its grant.
    func forgetStepUp(after change: AccountChange, of account: AccountID) {
        switch change {
        case .signedIn, .grantImported, .signedOut: stepUps[account] = nil
        case .tokenRefreshed: if stepUps[account]?.needsPerson == false { stepUps[account] = nil }
        case .interactionRequired: stepUps[account]?.needsPerson = true
        case .tokenSetRefreshed, .tokenSetFailed, .refreshFailed, .misconfigured, .refreshTokenExpiring,
            .staleAnswerDropped:
            break
        }
    }
}
