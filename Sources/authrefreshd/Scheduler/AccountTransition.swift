internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// A decision about one account: its next state, what to commit, and what to do after that.
///
/// It is a class, because it holds the whole account, and a turn goes through its decisions several times.
final class AccountTransition {
    var record: Record
    let arrival: QueuedEvent
    /// The event that was decided on.
    let event: Event
    let effects: [Effect]
    /// What the effects ask to commit; nil if nothing changed.
    let write: StateWrite?
    /// The account before its owner's change; nil without such a change.
    let accountBefore: Account?
    /// The account's failure before the decision; nil if there was none.
    let failureBefore: RefreshFailure?
    /// Whether accounts derived from this one have to know: it has a new grant, a valid access token after it had none,
    /// or now needs a person.
    let concernsDerived: Bool

    init(
        record: Record,
        arrival: QueuedEvent,
        event: Event,
        effects: [Effect],
        write: StateWrite?,
        accountBefore: Account? = nil,
        failureBefore: RefreshFailure?,
        concernsDerived: Bool = false
    ) {
        self.record = record
        self.arrival = arrival
        self.event = event
        self.effects = effects
        self.write = write
        self.accountBefore = accountBefore
        self.failureBefore = failureBefore
        self.concernsDerived = concernsDerived
    }

    /// Whether it sends a refresh token.
    var sends: Bool {
        effects.contains { effect in
            if case .send = effect { true } else { false }
        }
    }

    /// Whether it leaves the account with a deadline before `now`.
    func isDue(at now: Moment) -> Bool {
        write?.state.deadline.map { $0 <= now.wall } ?? false
    }

    /// Whether it carries newly issued tokens, which must not be lost.
    var carriesAnswer: Bool {
        event.isIssuance && arrivedTokens != nil
    }

    /// The tokens to store.
    var arrivedTokens: StoredTokens? {
        switch write?.tokens {
        case .store(let tokens), .storeGrant(let tokens), .replace(let tokens, _): tokens
        case .storeTarget(let write): write.tokens
        case .unchanged, .eraseTarget, .erase, nil: nil
        }
    }

    /// The tokens to store for this target, or for the account's default if it is nil; nil if there are none.
    func arrivedTokens(for target: TokenTarget?) -> StoredTokens? {
        if case .storeGrant? = write?.tokens { return nil }
        return arrivedTarget?.target == target ? arrivedTokens : nil
    }

    /// Whether it replaces all tokens of the account with those of a new grant.
    var replacesGrant: Bool {
        if case .replace? = write?.tokens { true } else { false }
    }

    /// Whether the account has no token left after it.
    var erasesTokens: Bool {
        if case .erase? = write?.tokens { true } else { false }
    }

    /// The token target to store; nil if there is none.
    var arrivedTarget: TokenTargetWrite? {
        if case .storeTarget(let write)? = write?.tokens { write } else { nil }
    }

    /// An access token that came with a refresh token but without its lifetime, and when it was issued; nil if there is
    /// none.
    var tokenOfUnknownLifetime: (token: AccessToken, issuedAt: Moment)? {
        guard event.isIssuance, let tokens = arrivedTokens(for: nil), tokens.refreshToken != nil,
            let token = tokens.accessToken, let times = record.state.accessToken,
            [.notStated, .unreadable].contains(times.basis)
        else { return nil }
        return (token, times.issuedAt)
    }
}

extension AccountTransition {
    /// Lets the machine decide on `arrival`.
    ///
    /// - Parameters:
    ///   - event: what the arrival means for the account.
    ///   - record: the account as it is stored, or will be after the earlier decisions.
    convenience init(
        on arrival: QueuedEvent,
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
            let isSignedOut = machine.state.phase == .signedOut
            let known = record.account.grantFacts
            let facts = isSignedOut ? known.afterSignOut : known.learning(from: arrival)
            if !isNewGrant, facts != record.account.grantFacts {
                after.account.grantFacts = facts
                write?.grantFacts = facts
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

extension GrantFacts {
    /// What stays after a sign-out: what the server does, and the identifier of the person, with which the next sign-in
    /// is compared.
    fileprivate var afterSignOut: GrantFacts { GrantFacts(subject: subject, consent: consent) }

    /// These facts with what the answer of a refresh shows. The first answer that names a person says whose grant it
    /// is; later ones are compared with it.
    fileprivate func learning(from arrival: QueuedEvent) -> GrantFacts {
        var facts = self
        if let scope = arrival.learnedScope { facts.scope = scope }
        if facts.subject == nil, let person = arrival.learnedPerson, let subject = person.subject {
            (facts.subject, facts.person) = (subject, person.names ?? facts.person)
        }
        return facts
    }
}

extension TokenWrite {
    /// The write for a change of tokens.
    ///
    /// - Parameter tokens: the tokens that came with the event; nil if none did, and then nothing is stored.
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

/// What the coordinator must know about an event before the decision.
extension Event {
    /// The event's token target; nil if it is about the account's default token or the whole account.
    var target: TokenTarget? {
        switch self {
        case .demand(.targetNeeded(let target)), .demand(.targetRejected(let target)),
            .answer(.targetIssued(let target, _, _)), .answer(.targetFailed(let target, _, _)):
            target
        case .demand, .answer, .grant, .owner, .host, .source, .lifetimeLearned: nil
        }
    }

    /// Whether it carries newly issued tokens.
    var isIssuance: Bool {
        switch self {
        case .answer(.tokensIssued), .answer(.targetIssued): true
        case .grant: isAnswer
        case .demand, .answer, .owner, .host, .source, .lifetimeLearned: false
        }
    }

    /// Whether it is the end of a sign-in.
    var isSignIn: Bool {
        switch self {
        case .grant(.obtained), .grant(.accessTokenObtained): true
        case .demand, .answer, .grant, .owner, .host, .source, .lifetimeLearned: false
        }
    }

    /// Whether it is the end of a request, which comes only once.
    var isAnswer: Bool {
        switch self {
        case .grant(.imported), .demand, .owner, .host, .source, .lifetimeLearned: false
        case .answer, .grant: true
        }
    }

    /// Whether it is irrelevant if nobody waits for its result.
    var isForWaiters: Bool {
        switch self {
        case .demand(.accessTokenRejected), .demand(.targetRejected): false
        case .demand: true
        case .answer, .grant, .owner, .host, .source, .lifetimeLearned: false
        }
    }

    /// Whether callers cause it, as often as they like, so that its request has to wait for the rest of a second.
    var isPaced: Bool {
        if case .demand = self { true } else { false }
    }

    /// Whether its request may wait until the issuer's gate is open.
    var waitsForGate: Bool { isPaced || self == .host(.deadlineReached) }
}

/// An event of an account that waits for its turn.
struct QueuedEvent {
    let account: AccountID
    let event: Event
    /// The tokens in the event.
    var tokens: StoredTokens?
    /// Facts about a new grant, besides its tokens.
    var grantFacts = GrantFacts()
    /// The owner's change of settings; nil for none.
    var settings: SettingsChange?
    /// How the server wants Basic credentials encoded, if the request found out.
    var learnedEncoding: BasicCredentialEncoding?
    /// What the answer shows about the grant's scope; nil if nothing new.
    var learnedScope: GrantedScope?
    /// The person whom the answer names; nil if it names nobody.
    var learnedPerson: SignedInPerson?
    /// The identifier of the request that has ended.
    var correlationID: String?
    /// Whether an earlier decision on it contradicted the store.
    var isSecondTry = false
}
