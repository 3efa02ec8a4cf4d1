internal import AuthRefreshInterface

/// The states of accounts, as the wire names them.
enum AccountState: String, CaseIterable, Sendable {
    case fresh
    case refreshing
    case retrying
    case interactionRequired = "interaction-required"
    case refreshTokenExpiring = "refresh-token-expiring"
    case signedOut = "signed-out"
    case misconfigured
    case parked
}

extension AccountStatus {
    /// Nil if the daemon is newer than this program and has states that it does not know.
    var knownState: AccountState? { AccountState(rawValue: state) }

    /// Whether the store cannot read the account.
    var isDamaged: Bool { reason == "damaged" }

    /// Whether there is an access token that has not ended.
    func isValid(at nowUSec: Int64) -> Bool {
        expiresAtUSec.map { $0 > nowUSec } ?? false
    }

    /// How the account fares, as `authctl status ACCOUNT` tells it: whether a token can be had.
    func exitStatus(at nowUSec: Int64) -> ExitStatus {
        switch knownState {
        case .fresh, .refreshTokenExpiring, nil: .success
        // An attempt under way after failures is still a retry: the status must not flicker.
        case .refreshing, .retrying: failures == 0 || isValid(at: nowUSec) ? .success : .tryAgainLater
        case .interactionRequired: .interactionRequired
        case .signedOut: .signedOut
        case .misconfigured: .misconfigured
        case .parked: isValid(at: nowUSec) ? .success : .signedOut
        }
    }

    /// How the refresh ended that was waited for: a token that is still valid is no success.
    var refreshExitStatus: ExitStatus {
        switch knownState {
        case .fresh, .refreshTokenExpiring, nil: failures == 0 ? .success : .tryAgainLater
        case .refreshing, .retrying: .tryAgainLater
        case .interactionRequired: .interactionRequired
        case .signedOut, .parked: .signedOut
        case .misconfigured: .misconfigured
        }
    }
}
