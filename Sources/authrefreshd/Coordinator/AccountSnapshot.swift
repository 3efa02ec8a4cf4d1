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

    var shown: ShownState { state.shown(at: at) }

    /// The failure that the account is suffering from; nil if none.
    var failure: RefreshFailure? { state.phase.failure ?? lastFailure }

    /// Whether the access token is good enough for a caller that needs `minimumValidity`.
    ///
    /// A caller that names nothing gets a token that outlives the request it is for: half a minute, or a tenth of a life that is
    /// shorter than five minutes. One that wants more than the server ever gives gets a token in the first tenth of its life: asking
    /// the server at every call would not make it live longer.
    func holdsAccessToken(for minimumValidity: Duration?) -> Bool {
        let lifetime = state.accessToken?.lifetime ?? .zero
        let wanted = minimumValidity ?? min(.seconds(30), lifetime.scaled(by: 0.1))
        return state.holdsAccessToken(for: min(wanted, lifetime.scaled(by: 0.9)), at: at)
    }
}

extension Phase {
    /// The failure that led here; nil if none did.
    var failure: RefreshFailure? {
        switch self {
        case .backingOff(let backOff): backOff.failure
        case .interactionRequired(let interaction): interaction.failure
        case .signedOut, .scheduled, .refreshing: nil
        }
    }
}
