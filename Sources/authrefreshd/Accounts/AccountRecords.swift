internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// The current accounts: what the store has, plus what could not be stored yet.
///
/// Readers always get the last decision, even while the store fails. Everything that is written about accounts goes
/// through here, so that other threads never give out what the coordinator would not.
final class AccountRecords {
    private let store: AccountStore
    /// What other threads may give out.
    let tokens = TokenMap()
    /// Decisions about answers that could not be committed yet, in their order. Each one was decided on the state that
    /// the one before it leaves.
    ///
    /// Only what was under way when the store failed can add to them: for each account a refresh, a sign-in, and tests
    /// of imported grants.
    private var kept: [AccountID: [AccountTransition]] = [:]
    /// The tokens that this turn has stored, for the callers that wait for them; empty between turns.
    private var justStored: [AccountID: StoredTokens] = [:]

    init(store: AccountStore) {
        self.store = store
    }

    // MARK: Accounts

    /// The account and its state, including changes that could not be stored yet; nil if there is none.
    func entry(of account: AccountID) throws(StoreError) -> AccountEntry? {
        if let decision = unstored(account) { return .intact(decision.record) }
        return try store.entry(account)
    }

    /// The account, if it can be read; nil if there is none.
    ///
    /// - Throws: `StoreError`; `damagedRow` if it cannot be read.
    func record(of account: AccountID) throws(StoreError) -> Record? {
        try entry(of: account)?.record()
    }

    /// A record from the store, updated with the state that could not be stored yet. Its name and settings may have
    /// changed since that decision.
    func current(_ record: Record) -> Record {
        guard let decided = unstored(record.account.id)?.record else { return record }
        var record = record
        record.state = decided.state
        return record
    }

    /// The account as it is stored; nil if there is none.
    func storedEntry(of account: AccountID) throws(StoreError) -> AccountEntry? {
        try store.entry(account)
    }

    // MARK: Writes

    // A write takes out of `tokens` first whatever it ends or restricts, and puts in last whatever it allows. If it
    // fails, what it took out stays out: the coordinator then answers, from what is stored.

    /// Commits decisions in one transaction, and adds and removes accounts in the same one.
    func commit(
        _ decisions: [AccountTransition],
        with roster: RosterChange = RosterChange(),
        at now: Moment
    ) throws(StoreError) {
        let prospects = TokenProspect.all(of: decisions)
        for (account, prospect) in prospects { tokens.takeOut(account, unless: prospect.leaves) }
        for account in roster.removed { tokens.takeOut(account) }
        do throws(StoreError) {
            try store.commit(decisions.compactMap(\.write), with: roster)
        } catch {
            for account in prospects.keys { tokens.takeOut(account) }
            throw error
        }
        for (account, prospect) in prospects where prospect.token != nil {
            if let entry = prospect.entry(at: now) { tokens.put(entry, isUsed: false) } else { tokens.takeOut(account) }
        }
    }

    /// Adds an account. Its token enters `tokens` when somebody asks for it.
    func add(_ new: NewAccount) throws(StoreError) -> Record {
        try store.add(new)
    }

    /// Stores an account's settings.
    func update(_ account: Account) throws(StoreError) {
        tokens.takeOut(account.id)
        try store.update(account)
    }

    func rename(_ account: AccountID, to name: AccountName) throws(StoreError) {
        tokens.takeOut(account)
        try store.rename(account, to: name)
        for decision in kept[account] ?? [] { decision.record.account.name = name }
    }

    /// Removes an account and its tokens.
    func remove(_ account: AccountID) throws(StoreError) {
        tokens.takeOut(account)
        try store.remove(account)
        kept[account] = nil
    }

    /// Removes unreadable accounts from the schedule.
    ///
    /// - Returns: the accounts that were in the schedule until now.
    func setAside(_ accounts: [AccountID]) throws(StoreError) -> [AccountID] {
        for account in accounts { tokens.takeOut(account) }
        return try store.schedule.setAside(accounts)
    }

    /// Takes note that an account cannot be read. The next turn sets it aside.
    func noteDamage(of account: AccountID) {
        tokens.takeOut(account)
    }

    /// Takes note that a caller has just got `token`, the token of the account in `snapshot`, which was read in this
    /// turn.
    func noteGiven(_ token: AccessToken, of snapshot: AccountSnapshot) {
        guard let entry = TokenMap.Entry(snapshot.account, snapshot.state, token, at: snapshot.at) else { return }
        tokens.put(entry, isUsed: true)
    }

    // MARK: Tokens

    /// An account's access token with its type; nil if there is none.
    func accessToken(of account: AccountID) throws(StoreError) -> AccessToken? {
        if let tokens = unstoredTokens(of: account) { return tokens.accessToken }
        if let token = justStored[account]?.accessToken { return token }
        return try store.tokens.accessToken(of: account)
    }

    /// The current refresh token, for revocation and export; nil if the account is signed out.
    func refreshToken(of snapshot: AccountSnapshot) throws(StoreError) -> RefreshToken? {
        let current = kept[snapshot.account.id]?.last { decision in
            decision.record.state.generation == snapshot.state.generation
                && decision.arrivedTokens?.refreshToken != nil
        }
        if let token = current?.arrivedTokens?.refreshToken { return token }
        return try store.tokens.refreshToken(of: snapshot.account.id, generation: snapshot.state.generation)
    }

    /// Whether `token` is the current refresh token of an account, or an earlier one of the same grant that was imported
    /// or exported.
    func isOfGrant(_ token: RefreshToken, of snapshot: AccountSnapshot) throws(StoreError) -> Bool {
        if try refreshToken(of: snapshot) == token { return true }
        return try store.tokens.isCopied(token, of: snapshot.account.id)
    }

    /// Records that somebody has a copy of the refresh token in `snapshot`.
    func noteExport(of token: RefreshToken, of snapshot: AccountSnapshot) throws(StoreError) {
        try store.tokens.noteExport(of: token, of: snapshot.account.id, generation: snapshot.state.generation)
    }

    /// The stored refresh tokens that `decisions` spend, in the same order.
    func refreshTokens(for decisions: [AccountTransition]) -> [Result<RefreshToken?, StoreError>] {
        let leases = decisions.flatMap { decision in
            decision.effects.compactMap { effect -> (account: AccountID, generation: Generation)? in
                guard case .send(let lease, _) = effect else { return nil }
                return (decision.record.account.id, lease.generation)
            }
        }
        guard !leases.isEmpty else { return [] }
        do throws(StoreError) {
            return try store.tokens.refreshTokens(of: leases)
        } catch {
            return leases.map { _ in .failure(error) }
        }
    }

    // MARK: Token targets

    // Token targets have no deadline. A token is replaced when a caller uses it after its time to refresh. So a token
    // that nobody uses causes no requests.

    /// The record of a token target; nil if there is no token for it.
    func targetRecord(_ target: TokenTarget, of account: AccountID) throws(StoreError) -> TokenTargetRecord? {
        let (decisions, isOtherGrant) = keptOfGrant(of: account)
        if let arrived = decisions.last(where: { $0.arrivedTarget?.target == target })?.arrivedTarget {
            return TokenTargetRecord(target: target, times: arrived.times, grantedScopes: arrived.tokens.scopes)
        }
        return isOtherGrant ? nil : try store.targets.record(target, of: account)
    }

    /// A target's access token; nil if there is none, or if it cannot be read.
    func accessToken(of account: AccountID, for target: TokenTarget) throws(StoreError) -> AccessToken? {
        let (decisions, isOtherGrant) = keptOfGrant(of: account)
        if let tokens = decisions.lazy.compactMap({ $0.arrivedTokens(for: target) }).last { return tokens.accessToken }
        guard !isOtherGrant else { return nil }
        do throws(StoreError) {
            return try store.targets.accessToken(of: account, for: target)
        } catch {
            // A damaged token is simply requested again. Only damage to the grant itself is an error.
            guard error.damagedAccount != nil else { throw error }
            return nil
        }
    }

    /// The times of the access token that an account holds.
    ///
    /// - Parameter target: nil for the account's default.
    func accessTokenTimes(of record: Record, for target: TokenTarget?) -> AccessTokenTimes? {
        guard !record.state.isWithheld else { return nil }
        guard let target else { return record.state.accessToken }
        // An unreadable store counts as empty here. A caller that asks for more gets the error.
        return (try? targetRecord(target, of: record.account.id))?.times
    }

    // MARK: What the store does not have yet

    /// Whether everything that was decided is stored.
    var areStored: Bool { kept.isEmpty }
    /// The decisions that are not stored, in the order of their accounts' numbers, and of one account in their own.
    var unstored: [AccountTransition] { kept.sorted { $0.key < $1.key }.flatMap(\.value) }

    /// The last decision about `account` if it is not stored; otherwise nil.
    func unstored(_ account: AccountID) -> AccountTransition? { kept[account]?.last }

    /// The last tokens for the account's default that are not stored; nil if there are none.
    private func unstoredTokens(of account: AccountID) -> StoredTokens? {
        kept[account]?.lazy.compactMap { $0.arrivedTokens(for: nil) }.last
    }

    /// The unstored decisions about the account's present grant, and whether the store still has the grant before it.
    /// That one's tokens for other targets are no longer the account's.
    private func keptOfGrant(of account: AccountID) -> (decisions: ArraySlice<AccountTransition>, isOtherGrant: Bool) {
        let decisions = kept[account] ?? []
        guard let first = decisions.lastIndex(where: \.replacesGrant) else { return (decisions[...], false) }
        return (decisions[first...], true)
    }

    /// Whether the decision about `arrival` is kept.
    func keeps(_ arrival: QueuedEvent) -> Bool {
        kept[arrival.account]?.contains { $0.event == arrival.event } ?? false
    }

    /// Keeps a decision that could not be committed.
    func keep(_ decision: AccountTransition) {
        tokens.takeOut(decision.record.account.id)
        kept[decision.record.account.id, default: []].append(decision)
    }

    /// Forgets the kept decisions. They are stored now, or contradict the store.
    func forgetKept() {
        if !kept.isEmpty { kept = [:] }
    }

    /// Records what the current turn has stored, for the callers that wait for it.
    func noteStored(_ decision: AccountTransition) {
        justStored[decision.record.account.id] = decision.arrivedTokens(for: nil)
    }

    func forgetStored() {
        justStored = [:]
    }
}

/// What a commit does to the token of one account that everybody may have.
private struct TokenProspect {
    /// The last decision about the account.
    private var last: AccountTransition
    /// The default access token that the commit stores; nil if it stores none.
    private(set) var token: AccessToken?
    /// Whether everybody may have a token of the same grant all the time.
    private var isUnbroken = true

    static func all(of decisions: [AccountTransition]) -> [AccountID: TokenProspect] {
        var prospects: [AccountID: TokenProspect] = [:]
        for decision in decisions {
            prospects[decision.record.account.id, default: TokenProspect(last: decision)].add(decision)
        }
        return prospects
    }

    private init(last: AccountTransition) {
        self.last = last
    }

    private mutating func add(_ decision: AccountTransition) {
        last = decision
        if let arrived = decision.arrivedTokens(for: nil) { token = arrived.accessToken }
        if decision.replacesGrant || terms == nil { isUnbroken = false }
    }

    private var terms: TokenMap.Terms? { TokenMap.Terms(last.record.account, last.record.state) }

    /// Whether `entry` stays right until the commit is done. A token that is about to be replaced does: until its
    /// successor is stored, it is the one that the account has.
    func leaves(_ entry: TokenMap.Entry) -> Bool {
        guard isUnbroken, let terms, entry.name == last.record.account.name, entry.terms.signOut == terms.signOut else {
            return false
        }
        return token != nil || entry.terms.times == terms.times
    }

    /// The entry after the commit; nil if it stores no token that everybody may have.
    func entry(at now: Moment) -> TokenMap.Entry? {
        token.flatMap { TokenMap.Entry(last.record.account, last.record.state, $0, at: now) }
    }
}
