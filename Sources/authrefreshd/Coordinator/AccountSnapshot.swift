internal import RefreshCore

/// An account and where it stands at one moment.
struct AccountSnapshot: Sendable {
    var account: Account
    var state: RefreshState
    var at: Moment
    /// How far the issuer's clock is ahead of ours; nil if no answer has told yet.
    var clockSkew: Duration?

    var shown: ShownState { state.shown(at: at) }

    /// The failure that the account is suffering from; nil if none.
    var failure: RefreshFailure? {
        switch state.phase {
        case .backingOff(let backOff): backOff.failure
        case .interactionRequired(let interaction): interaction.failure
        case .signedOut, .scheduled, .refreshing: nil
        }
    }

    /// Whether the access token is good enough for a caller that needs `minimumValidity`.
    ///
    /// A caller that names nothing gets a token that outlives the request it is for: half a minute, or a tenth of a life that is
    /// shorter than five minutes.
    func holdsAccessToken(for minimumValidity: Duration?) -> Bool {
        let usual = min(.seconds(30), (state.accessToken?.lifetime ?? .zero).scaled(by: 0.1))
        return state.holdsAccessToken(for: minimumValidity ?? usual, at: at)
    }
}
