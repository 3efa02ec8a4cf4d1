internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// The accounts as they stand: what the store has of them, with what it could not be given yet.
///
/// Whoever asks is told what was decided last, also while the store fails.
final class AccountRecords {
    private let store: AccountStore
    private let tokenReader: TokenReader
    /// Decisions about answers that could not be committed, until they can.
    private var kept: [AccountID: Decision] = [:] {
        didSet { tellReader() }
    }
    /// What the decisions that are acted on have stored for those who wait for it; nothing between turns.
    private var justStored: [AccountID: StoredTokens] = [:]
    /// Whether a caller came upon damage that the store does not know of until the next turn.
    private var hasFoundDamage = false {
        didSet { tellReader() }
    }

    /// Whether nothing can be written: what is over by its time still stands in the store then.
    private var isStoreFailing = false {
        didSet { tellReader() }
    }

    init(store: AccountStore) {
        self.store = store
        tokenReader = store.tokenReader
    }

    // MARK: Accounts

    /// The account and its state: as it will be stored, if that could not be done yet. Nil if there is none.
    func entry(of account: AccountID) throws(StoreError) -> AccountEntry? {
        if let decision = kept[account] { return .intact(decision.record) }
        return try store.entry(account)
    }

    /// The account that can be read; nil if there is none.
    ///
    /// - Throws: `StoreError`; `damagedRow` if it cannot be read.
    func record(of account: AccountID) throws(StoreError) -> Record? {
        try entry(of: account)?.record()
    }

    /// An account that was found in the store, with the state that could not be stored yet; its name and settings may have changed since
    /// that was decided.
    func current(_ record: Record) -> Record {
        guard let decided = kept[record.account.id]?.record else { return record }
        var record = record
        record.state = decided.state
        return record
    }

    // MARK: Tokens

    /// The access token of an account, with its type; nil if there is none.
    func accessToken(of account: AccountID) throws(StoreError) -> AccessToken? {
        if let tokens = kept[account]?.arrivedTokens(for: nil) { return tokens.accessToken }
        if let token = justStored[account]?.accessToken { return token }
        return try store.tokens.accessToken(of: account)
    }

    /// The current refresh token, for revocation and export; nil if the account is signed out.
    func refreshToken(of snapshot: AccountSnapshot) throws(StoreError) -> RefreshToken? {
        if let token = kept[snapshot.account.id]?.arrivedTokens?.refreshToken { return token }
        return try store.tokens.refreshToken(of: snapshot.account.id, generation: snapshot.state.generation)
    }

    /// The ID token that came last; nil if there is none.
    func idToken(of account: AccountID) throws(StoreError) -> Secret? {
        try store.tokens.idToken(of: account)
    }

    /// What the store holds of the refresh tokens that `decisions` spend, in their order.
    func refreshTokens(for decisions: [Decision]) -> [Result<RefreshToken?, StoreError>] {
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

    // They have no deadline. A token that is used is replaced when a caller finds it past its time to refresh; one that nobody asks
    // for any more costs nothing.

    /// What is held of a token target; nil if there is no token of it.
    func targetRecord(_ target: TokenTarget, of account: AccountID) throws(StoreError) -> TokenTargetRecord? {
        if let arrived = kept[account]?.arrivedTarget, arrived.target == target {
            return TokenTargetRecord(target: target, times: arrived.times, grantedScopes: arrived.tokens.scopes)
        }
        return try store.targets.record(target, of: account)
    }

    /// The token targets of an account, in the order of their texts.
    func targetRecords(of account: AccountID) throws(StoreError) -> [TokenTargetRecord] {
        try store.targets.records(of: account)
    }

    /// The access token of a target; nil if there is none that can be read.
    func accessToken(of account: AccountID, for target: TokenTarget) throws(StoreError) -> AccessToken? {
        if let tokens = kept[account]?.arrivedTokens(for: target) { return tokens.accessToken }
        do throws(StoreError) {
            return try store.targets.accessToken(of: account, for: target)
        } catch {
            // It can be had again for one request; only the grant itself is worth stopping for.
            guard error.damagedAccount != nil else { throw error }
            return nil
        }
    }

    /// The times of the access token that an account holds.
    ///
    /// - Parameter target: nil for the account's default.
    func accessTokenTimes(of record: Record, for target: TokenTarget?) -> AccessTokenTimes? {
        guard let target else { return record.state.accessToken }
        // A store that cannot be read holds nothing; whoever asks it for more is told why.
        return (try? targetRecord(target, of: record.account.id))?.times
    }

    // MARK: What the store does not have yet

    /// Whether the store has everything that was decided.
    var areStored: Bool { kept.isEmpty }
    /// The decisions that are not stored, in the order of their accounts' numbers.
    var unstored: [Decision] { kept.values.sorted { $0.record.account.id < $1.record.account.id } }

    /// The last decision about `account`, if it is not stored; else nil.
    func unstored(_ account: AccountID) -> Decision? { kept[account] }

    /// Keeps a decision that could not be committed until it can.
    func keep(_ decision: Decision) {
        let account = decision.record.account.id
        kept[account] = decision.following(kept[account])
    }

    /// All that was kept is stored, or contradicts the store.
    func forgetKept() {
        if !kept.isEmpty { kept = [:] }
    }

    /// The account was removed.
    func removed(_ account: AccountID) {
        kept[account] = nil
    }

    /// The account has another name in the store.
    func renamed(_ account: AccountID, to name: AccountName) {
        kept[account]?.record.account.name = name
    }

    /// Notes what the turn that is under way has stored, for those who wait for it.
    func noteStored(_ decision: Decision) {
        justStored[decision.record.account.id] = decision.arrivedTokens(for: nil)
    }

    func forgetStored() {
        justStored = [:]
    }

    /// A caller came upon damage that the store does not know of until the next turn.
    func noteDamage() {
        hasFoundDamage = true
    }

    func damageIsStored() {
        if hasFoundDamage { hasFoundDamage = false }
    }

    /// The store has failed, or can be written again.
    func note(isStoreFailing: Bool) {
        if self.isStoreFailing != isStoreFailing { self.isStoreFailing = isStoreFailing }
    }

    /// The socket's thread answers from the store by itself: not while that is behind.
    private func tellReader() {
        tokenReader.setBehind(!kept.isEmpty || hasFoundDamage || isStoreFailing)
    }
}
