internal import AccountStorage
internal import RefreshCore

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
