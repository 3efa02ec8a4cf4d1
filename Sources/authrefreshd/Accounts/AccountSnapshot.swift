internal import AccountStorage
internal import RefreshCore

/// An account and where it stands at one moment.
struct AccountSnapshot: Sendable {
    var account: Account
    var state: RefreshState
    var at: Moment
    /// How far the issuer's clock is ahead of ours; nil if no answer has told yet.
    var clockSkew: Duration?
    /// What the attempt before the one under way failed by; nil if it did not, or none is under way.
    var lastFailure: RefreshFailure?
    /// What is wanted beyond the grant; nil if nothing is.
    var stepUp: StepUp?
    /// Whether a person has to bring another client secret before the present one ends.
    var needsClientSecret = false
    /// Whether a sign-in that asks for consent may bring a refresh token.
    var consentMayHelp = false
    /// What the provider's profile tells about when grants end; nil if nothing, or if the account's has not ended.
    var lifetimeNote: String?

    /// A fresh account of which more is wanted needs its person, too.
    var shown: ShownState {
        let shown = state.shown(at: at)
        let isWell = [.fresh, .refreshing, .refreshTokenExpiring].contains(shown)
        return isWell && stepUp?.needsPerson == true ? .interactionRequired : shown
    }

    /// Whether the server gave an access token that ends, and no refresh token to get another one with.
    var lacksRefreshToken: Bool {
        guard case .scheduled = state.phase, account.registration.serviceGrant == nil, let token = state.accessToken
        else {
            return false
        }
        return !state.isRefreshable && token.basis != .unlimited
    }

    /// The failure that the account is suffering from; nil if none.
    var failure: RefreshFailure? { state.phase.failure ?? lastFailure }

    /// Whether the account's own access token is good enough for a caller that needs `minimumValidity`.
    func holdsAccessToken(for minimumValidity: Duration?) -> Bool {
        state.accessToken?.suffices(for: minimumValidity, at: at) ?? false
    }
}

extension Phase {
    /// The failure that led here; nil if none did.
    var failure: RefreshFailure? {
        switch self {
        case .backingOff(let backOff): backOff.failure
        case .interactionRequired(let interaction): interaction.failure
        case .signedOut, .scheduled, .refreshing, .parked: nil
        }
    }
}

/// An account as callers are shown it: where it stands, or that it cannot be read.
enum ShownAccount: Sendable {
    case whole(AccountSnapshot)
    case damaged(DamagedAccount)

    var id: AccountID {
        switch self {
        case .whole(let snapshot): snapshot.account.id
        case .damaged(let account): account.id
        }
    }

    var name: String {
        switch self {
        case .whole(let snapshot): snapshot.account.name.text
        case .damaged(let account): account.name
        }
    }
}
