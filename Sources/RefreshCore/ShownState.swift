/// The states that people are shown; the raw values are those of the wire and of `authctl status`.
package enum ShownState: String, Hashable, Sendable, CaseIterable {
    /// The access token is valid, or will be with the first refresh, and all is well.
    case fresh
    /// A refresh is under way.
    case refreshing
    /// A refresh failed and will be repeated; the access token may still be valid.
    case retrying
    case interactionRequired = "interaction-required"
    /// All is well, but the refresh token's end is final and near.
    case refreshTokenExpiring = "refresh-token-expiring"
    case signedOut = "signed-out"
    /// The server refuses how we ask, or cannot be trusted.
    case misconfigured
}

extension RefreshState {
    /// What people are shown of this state at `now`.
    package func shown(at now: Moment) -> ShownState {
        switch phase {
        case .signedOut: .signedOut
        case .scheduled: refreshToken?.isExpiring(at: now) == true ? .refreshTokenExpiring : .fresh
        case .refreshing: failures > 0 ? .retrying : .refreshing
        case .backingOff(let backOff):
            backOff.failure.isMisconfiguration(kind: backOff.kind) ? .misconfigured : .retrying
        case .interactionRequired: .interactionRequired
        }
    }
}

extension RefreshFailure {
    fileprivate func isMisconfiguration(kind: BackOff.Kind) -> Bool {
        kind == .misconfigured || failureClass == .misconfigured
    }
}
