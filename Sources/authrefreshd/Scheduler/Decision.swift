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
    var write: StateWrite?
    /// The account before its owner changed it; nil if that was not done.
    var accountBefore: Account?
    /// What the account was suffering from before; nil if nothing.
    let failureBefore: RefreshFailure?
    /// Whether those whose token is derived from the account's have to know: it has a new grant, a valid access token that it did not
    /// have before, or a person to wait for.
    var concernsDerived = false

    /// Whether it spends a refresh token.
    var sends: Bool {
        effects.contains { effect in
            if case .send = effect { true } else { false }
        }
    }

    /// Whether it leaves the account with a deadline that is past at `now`.
    func isDue(at now: Moment) -> Bool {
        write?.state.deadline.map { $0 <= now.wall } ?? false
    }

    /// Whether it carries tokens that the server has just issued, and that must not be lost.
    var carriesAnswer: Bool {
        event.isIssuance && arrivedTokens != nil
    }

    /// The tokens that are to be stored.
    var arrivedTokens: StoredTokens? {
        switch write?.tokens {
        case .store(let tokens), .storeGrant(let tokens), .replace(let tokens, _): tokens
        case .storeSet(let write): write.tokens
        case .unchanged, .eraseSet, .erase, nil: nil
        }
    }

    /// What is to be stored of this token set, or of the account's default if it is nil; nil if nothing is.
    func arrivedTokens(for set: TokenSet?) -> StoredTokens? {
        if case .storeGrant? = write?.tokens { return nil }
        return arrivedSet?.set == set ? arrivedTokens : nil
    }

    /// The token set that is to be stored; nil if none is.
    var arrivedSet: TokenSetWrite? {
        if case .storeSet(let write)? = write?.tokens { write } else { nil }
    }

    /// This decision with what another one, which was not stored and which it follows from, had to change of the settings.
    func following(_ earlier: Decision?) -> Decision {
        guard let earlier, let change = earlier.write?.settings else { return self }
        var decision = self
        decision.write?.settings = change.followed(by: write?.settings)
        decision.accountBefore = earlier.accountBefore
        return decision
    }
}

/// What the coordinator has to know of an event before it is decided on.
extension Event {
    /// The token set that it is about; nil if it is about the account's default token, or the account as a whole.
    var tokenSet: TokenSet? {
        switch self {
        case .tokenSetNeeded(let set), .tokenSetRejected(let set), .tokenSetIssued(let set, _, _),
            .tokenSetFailed(let set, _, _):
            set
        case .deadlineReached, .tokenNeeded, .refreshRequested, .accessTokenRejected, .tokensIssued,
            .refreshFailed, .demandRefused, .lifetimeLearned, .requestContinues, .requestAbandoned, .grantImported,
            .grantObtained, .accessTokenObtained, .grantProved, .parked, .unparked, .accountUpdated,
            .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            nil
        }
    }

    /// Whether it brings tokens that the server has just issued.
    var isIssuance: Bool {
        switch self {
        case .tokensIssued, .tokenSetIssued, .grantObtained, .accessTokenObtained, .grantProved: true
        case .refreshFailed, .demandRefused, .tokenSetFailed, .deadlineReached, .tokenNeeded, .tokenSetNeeded,
            .refreshRequested, .accessTokenRejected, .tokenSetRejected, .lifetimeLearned, .requestContinues,
            .requestAbandoned,
            .grantImported, .parked, .unparked, .accountUpdated, .connectivityRestored, .leaseReturned,
            .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is the end of a sign-in.
    var isSignIn: Bool {
        switch self {
        case .grantObtained, .accessTokenObtained: true
        case .tokensIssued, .refreshFailed, .demandRefused, .tokenSetIssued, .tokenSetFailed, .deadlineReached,
            .tokenNeeded, .tokenSetNeeded, .refreshRequested, .accessTokenRejected, .tokenSetRejected,
            .lifetimeLearned, .requestContinues, .requestAbandoned, .grantImported, .grantProved, .parked, .unparked,
            .accountUpdated, .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is the end of a request, which happens once.
    var isAnswer: Bool {
        switch self {
        case .tokensIssued, .refreshFailed, .demandRefused, .tokenSetIssued, .tokenSetFailed, .grantObtained,
            .accessTokenObtained, .grantProved, .leaseReturned, .sourceLacking:
            true
        case .deadlineReached, .tokenNeeded, .tokenSetNeeded, .refreshRequested, .accessTokenRejected,
            .tokenSetRejected, .lifetimeLearned, .requestContinues, .requestAbandoned, .grantImported, .parked,
            .unparked,
            .accountUpdated, .connectivityRestored, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is of no interest once nobody waits for its outcome.
    var isForWaiters: Bool {
        switch self {
        case .tokenNeeded, .tokenSetNeeded, .refreshRequested: true
        case .deadlineReached, .accessTokenRejected, .tokenSetRejected, .tokensIssued, .refreshFailed,
            .demandRefused, .tokenSetIssued, .tokenSetFailed, .lifetimeLearned, .requestContinues, .requestAbandoned,
            .grantImported, .grantObtained, .accessTokenObtained, .grantProved, .parked, .unparked,
            .accountUpdated, .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether a request that follows from it may wait until the issuer's gate is open.
    var waitsForGate: Bool {
        switch self {
        case .deadlineReached, .tokenNeeded, .tokenSetNeeded, .refreshRequested, .accessTokenRejected,
            .tokenSetRejected:
            true
        case .tokensIssued, .refreshFailed, .demandRefused, .tokenSetIssued, .tokenSetFailed,
            .lifetimeLearned, .requestContinues, .requestAbandoned, .grantImported, .grantObtained,
            .accessTokenObtained,
            .grantProved, .parked, .unparked, .accountUpdated, .connectivityRestored, .leaseReturned,
            .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }
}
