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
            .refreshFailed, .demandRefused, .lifetimeLearned, .exchangeContinues, .exchangeAbandoned, .grantImported,
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
            .refreshRequested, .accessTokenRejected, .tokenSetRejected, .lifetimeLearned, .exchangeContinues,
            .exchangeAbandoned,
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
            .lifetimeLearned, .exchangeContinues, .exchangeAbandoned, .grantImported, .grantProved, .parked, .unparked,
            .accountUpdated, .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is the end of an exchange, which happens once.
    var isAnswer: Bool {
        switch self {
        case .tokensIssued, .refreshFailed, .demandRefused, .tokenSetIssued, .tokenSetFailed, .grantObtained,
            .accessTokenObtained, .grantProved, .leaseReturned, .sourceLacking:
            true
        case .deadlineReached, .tokenNeeded, .tokenSetNeeded, .refreshRequested, .accessTokenRejected,
            .tokenSetRejected, .lifetimeLearned, .exchangeContinues, .exchangeAbandoned, .grantImported, .parked,
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
            .demandRefused, .tokenSetIssued, .tokenSetFailed, .lifetimeLearned, .exchangeContinues, .exchangeAbandoned,
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
            .lifetimeLearned, .exchangeContinues, .exchangeAbandoned, .grantImported, .grantObtained,
            .accessTokenObtained,
            .grantProved, .parked, .unparked, .accountUpdated, .connectivityRestored, .leaseReturned,
            .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }
}

/// What the store does not say, or not yet: whoever asks for an account has to be told it all the same.
struct UnstoredDecisions {
    private let tokenReader: TokenReader
    /// Decisions about answers that could not be committed; they are kept here until they can.
    private var kept: [AccountID: Decision] = [:] {
        didSet { tellReader() }
    }
    /// What the decisions that are acted on have stored for those who wait for it; nothing between turns.
    private var justStored: [AccountID: StoredTokens] = [:]
    /// Whether a caller came upon damage that the store does not know of until the next turn.
    private var hasFoundDamage = false {
        didSet { tellReader() }
    }

    init(tokenReader: TokenReader) {
        self.tokenReader = tokenReader
    }

    var isEmpty: Bool { kept.isEmpty }
    var count: Int { kept.count }

    /// In the order of their accounts' numbers.
    var inOrder: [Decision] { kept.values.sorted { $0.record.account.id < $1.record.account.id } }

    /// The last one about `account`; nil if all are stored.
    subscript(_ account: AccountID) -> Decision? { kept[account] }

    mutating func keep(_ decision: Decision) {
        let account = decision.record.account.id
        kept[account] = decision.following(kept[account])
    }

    /// All of them are stored, or contradict the store.
    mutating func removeAll() {
        if !kept.isEmpty { kept = [:] }
    }

    /// The account was removed.
    mutating func remove(_ account: AccountID) {
        kept[account] = nil
    }

    /// The account has another name in the store.
    mutating func rename(_ account: AccountID, to name: AccountName) {
        kept[account]?.record.account.name = name
    }

    /// A stored account with the state that could not be stored yet; its name and settings may have changed since that was decided.
    func applied(to record: Record) -> Record {
        guard let decided = kept[record.account.id]?.record else { return record }
        var record = record
        record.state = decided.state
        return record
    }

    // MARK: What has just been stored

    mutating func noteStored(_ decision: Decision) {
        justStored[decision.record.account.id] = decision.arrivedTokens(for: nil)
    }

    mutating func forgetStored() {
        justStored = [:]
    }

    /// What the turn that is under way has stored of the account's own tokens; nil if nothing.
    func justStored(of account: AccountID) -> StoredTokens? { justStored[account] }

    // MARK: Damage

    mutating func noteDamage() {
        hasFoundDamage = true
    }

    mutating func damageIsStored() {
        if hasFoundDamage { hasFoundDamage = false }
    }

    /// What the store does not say yet, the socket's thread must not overlook.
    private func tellReader() {
        tokenReader.setBehind(!kept.isEmpty || hasFoundDamage)
    }
}
