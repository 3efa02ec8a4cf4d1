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
    /// The grant was exported to be moved to another machine, and is not used here.
    case parked
}

extension RefreshState {
    /// What people are shown of this state at `now`.
    package func shown(at now: Moment) -> ShownState {
        switch phase {
        case .signedOut: .signedOut
        case .scheduled:
            if accessToken.map({ $0.remaining(at: now) > .zero }) == true {
                refreshToken?.isExpiring(at: now) == true ? .refreshTokenExpiring : .fresh
            } else if !isRefreshable {
                .interactionRequired
            } else {
                isFirstRefreshNear(at: now) ? .refreshing : .retrying
            }
        case .refreshing(let lease):
            lease.interaction != nil ? .interactionRequired : failures > 0 ? .retrying : .refreshing
        case .backingOff(let backOff):
            backOff.failure.isMisconfiguration(kind: backOff.kind) ? .misconfigured : .retrying
        case .interactionRequired: .interactionRequired
        case .parked: .parked
        }
    }
}

extension RefreshState {
    /// Whether the grant is so new that its first refresh cannot be called late: no network, a full disk or a busy server may hold
    /// it back for longer.
    private func isFirstRefreshNear(at now: Moment) -> Bool {
        guard accessToken == nil, let deadline else { return false }
        return now.wall - deadline < .seconds(5)
    }
}

extension RefreshFailure {
    fileprivate func isMisconfiguration(kind: BackOff.Kind) -> Bool {
        kind == .misconfigured || failureClass.isMisconfiguration
    }
}
