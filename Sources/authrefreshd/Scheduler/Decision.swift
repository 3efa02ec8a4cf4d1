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
        case .storeTarget(let write): write.tokens
        case .unchanged, .eraseTarget, .erase, nil: nil
        }
    }

    /// What is to be stored of this token target, or of the account's default if it is nil; nil if nothing is.
    func arrivedTokens(for target: TokenTarget?) -> StoredTokens? {
        if case .storeGrant? = write?.tokens { return nil }
        return arrivedTarget?.target == target ? arrivedTokens : nil
    }

    /// The token target that is to be stored; nil if none is.
    var arrivedTarget: TokenTargetWrite? {
        if case .storeTarget(let write)? = write?.tokens { write } else { nil }
    }

    /// The access token that came with a refresh token and without its lifetime, and when it was issued; nil if there is none.
    var tokenOfUnknownLifetime: (token: AccessToken, issuedAt: Moment)? {
        guard event.isIssuance, let tokens = arrivedTokens(for: nil), tokens.refreshToken != nil,
            let token = tokens.accessToken, let times = record.state.accessToken,
            [.notStated, .unreadable].contains(times.basis)
        else { return nil }
        return (token, times.issuedAt)
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

extension Decision {
    /// What the machine decides on `arrival`.
    ///
    /// - Parameters:
    ///   - event: what the arrival means for the account.
    ///   - record: the account as it is stored, or will be with the decisions before this one.
    init(
        on arrival: Arrival,
        as event: Event,
        of record: Record,
        _ settings: inout RefreshConfiguration,
        at now: Moment,
        jitter: Double
    ) {
        var after = record
        if let change = arrival.settings { after.account = change.applied(to: record.account) }
        var machine = RefreshMachine(state: record.state, policy: settings.policy(of: after.account))
        let effects = machine.handle(event, at: now, jitter: jitter)
        after.state = machine.state
        if let learned = arrival.learnedEncoding { after.account.basicCredentialEncoding = learned }
        let isNewGrant = effects.first == .persist(.replace)
        if isNewGrant { after.account.grantFacts = arrival.grantFacts }
        var write: StateWrite?
        if case .persist(let change)? = effects.first {
            write = StateWrite(
                account: arrival.account,
                base: record.state.generation,
                state: machine.state,
                tokens: TokenWrite(change, arrival.tokens, arrival.grantFacts),
                settings: arrival.settings,
                learnedEncoding: arrival.learnedEncoding
            )
            if let scope = arrival.learnedScope, !isNewGrant {
                after.account.grantFacts.scope = scope
                write?.grantFacts = after.account.grantFacts
            }
        }
        let hasNewToken = machine.state.accessToken != nil && machine.state.accessToken != record.state.accessToken
        let callsUser = effects.contains { if case .publish(.interactionRequired) = $0 { true } else { false } }
        self.init(
            record: after,
            arrival: arrival,
            event: event,
            effects: effects,
            write: write,
            accountBefore: arrival.settings == nil ? nil : record.account,
            failureBefore: record.state.phase.failure,
            concernsDerived: isNewGrant || hasNewToken || callsUser
        )
    }
}

extension TokenWrite {
    /// What is written of the tokens that came with an event.
    ///
    /// - Parameter tokens: nil if none came; nothing is stored then.
    fileprivate init(_ change: TokenChange, _ tokens: StoredTokens?, _ facts: GrantFacts) {
        switch change {
        case .unchanged: self = .unchanged
        case .store: self = tokens.map(TokenWrite.store) ?? .unchanged
        case .storeGrant: self = tokens.map(TokenWrite.storeGrant) ?? .unchanged
        case .replace: self = tokens.map { .replace($0, facts) } ?? .unchanged
        case .storeTarget(let target, let times):
            self = tokens.map { .storeTarget(TokenTargetWrite(target: target, times: times, tokens: $0)) } ?? .unchanged
        case .eraseTarget(let target): self = .eraseTarget(target)
        case .erase: self = .erase
        }
    }
}

/// What the coordinator has to know of an event before it is decided on.
extension Event {
    /// The token target that it is about; nil if it is about the account's default token, or the account as a whole.
    var target: TokenTarget? {
        switch self {
        case .targetNeeded(let target), .targetRejected(let target), .targetIssued(let target, _, _),
            .targetFailed(let target, _, _):
            target
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
        case .tokensIssued, .targetIssued, .grantObtained, .accessTokenObtained, .grantProved: true
        case .refreshFailed, .demandRefused, .targetFailed, .deadlineReached, .tokenNeeded, .targetNeeded,
            .refreshRequested, .accessTokenRejected, .targetRejected, .lifetimeLearned, .requestContinues,
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
        case .tokensIssued, .refreshFailed, .demandRefused, .targetIssued, .targetFailed, .deadlineReached,
            .tokenNeeded, .targetNeeded, .refreshRequested, .accessTokenRejected, .targetRejected,
            .lifetimeLearned, .requestContinues, .requestAbandoned, .grantImported, .grantProved, .parked, .unparked,
            .accountUpdated, .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is the end of a request, which happens once.
    var isAnswer: Bool {
        switch self {
        case .tokensIssued, .refreshFailed, .demandRefused, .targetIssued, .targetFailed, .grantObtained,
            .accessTokenObtained, .grantProved, .leaseReturned, .sourceLacking:
            true
        case .deadlineReached, .tokenNeeded, .targetNeeded, .refreshRequested, .accessTokenRejected,
            .targetRejected, .lifetimeLearned, .requestContinues, .requestAbandoned, .grantImported, .parked,
            .unparked,
            .accountUpdated, .connectivityRestored, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is of no interest once nobody waits for its outcome.
    var isForWaiters: Bool {
        switch self {
        case .tokenNeeded, .targetNeeded, .refreshRequested: true
        case .deadlineReached, .accessTokenRejected, .targetRejected, .tokensIssued, .refreshFailed,
            .demandRefused, .targetIssued, .targetFailed, .lifetimeLearned, .requestContinues, .requestAbandoned,
            .grantImported, .grantObtained, .accessTokenObtained, .grantProved, .parked, .unparked,
            .accountUpdated, .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether a request that follows from it may wait until the issuer's gate is open.
    var waitsForGate: Bool {
        switch self {
        case .deadlineReached, .tokenNeeded, .targetNeeded, .refreshRequested, .accessTokenRejected,
            .targetRejected:
            true
        case .tokensIssued, .refreshFailed, .demandRefused, .targetIssued, .targetFailed,
            .lifetimeLearned, .requestContinues, .requestAbandoned, .grantImported, .grantObtained,
            .accessTokenObtained,
            .grantProved, .parked, .unparked, .accountUpdated, .connectivityRestored, .leaseReturned,
            .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }
}
