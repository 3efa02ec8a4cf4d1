internal import AccountStorage
internal import RefreshCore

/// What was decided about one account: what is committed, and what is done once it is.
struct Decision {
    var record: Record
    let arrival: Arrival
    /// What was made of the arrival's event.
    let event: Event
    let effects: [Effect]
    /// What the effects ask to be committed; nil if nothing changed.
    let write: StateWrite?
    /// What the account was suffering from before; nil if nothing.
    let failureBefore: RefreshFailure?

    /// Whether it spends a refresh token.
    var sends: Bool {
        effects.contains { effect in
            if case .send = effect { true } else { false }
        }
    }

    /// Whether it carries tokens that the server has just issued, and that must not be lost.
    var carriesAnswer: Bool {
        if case .tokensIssued = event { arrivedTokens != nil } else { false }
    }

    /// The tokens that are to be stored.
    var arrivedTokens: StoredTokens? {
        if case .store(let tokens)? = write?.tokens { tokens } else { nil }
    }
}
