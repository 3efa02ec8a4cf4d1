package import RefreshCore

/// One account as it is stored, but for its tokens.
package struct Record: Equatable, Sendable {
    /// A decision hands its record on a dozen times, and the account has twenty values that are counted.
    private final class Shared: Sendable {
        let account: Account

        init(_ account: Account) {
            self.account = account
        }
    }

    private var shared: Shared
    /// Changing it copies it.
    package var account: Account {
        _read { yield shared.account }
        set { shared = Shared(newValue) }
    }
    /// The number of the account's issuer, for `due(issuer:…)` and the issuer's gate.
    package let issuerID: IssuerID
    package var state: RefreshState
    package let createdAt: Timestamp

    package init(account: Account, issuerID: IssuerID, state: RefreshState, createdAt: Timestamp) {
        shared = Shared(account)
        self.issuerID = issuerID
        self.state = state
        self.createdAt = createdAt
    }

    package static func == (one: Record, other: Record) -> Bool {
        one.account == other.account && one.issuerID == other.issuerID && one.state == other.state
            && one.createdAt == other.createdAt
    }
}

/// An account that has no number yet, with the grant it begins with. What it says is read and changed as the account's own.
@dynamicMemberLookup
package struct NewAccount: Equatable, Sendable {
    package var account: Account
    package var createdAt: Timestamp
    /// The state to begin in: signed out, or what the machine made of the imported grant.
    package var state: RefreshState
    /// The tokens of that grant; nil if there is none.
    package var tokens: StoredTokens?

    package init(
        _ account: Account,
        createdAt: Timestamp,
        state: RefreshState = RefreshState(),
        tokens: StoredTokens? = nil
    ) {
        self.account = account
        self.createdAt = createdAt
        self.state = state
        self.tokens = tokens
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<Account, Value>) -> Value {
        get { account[keyPath: path] }
        set { account[keyPath: path] = newValue }
    }
}

/// The tokens that came with an event.
package struct StoredTokens: Equatable, Sendable {
    /// Nil for a grant that was brought in from outside.
    package var accessToken: AccessToken?
    /// Stored under the state's generation; nil if the one that was spent stays valid (RFC 6749 §6).
    package var refreshToken: RefreshToken?
    /// Nil leaves the stored one in place, unless the grant is a new one: few servers send it again (OpenID Connect Core §12.2).
    package var idToken: Secret?
    /// What was granted; nil if the server did not say. Stored for token targets only.
    package var scopes: [String]?

    package init(
        accessToken: AccessToken? = nil,
        refreshToken: RefreshToken? = nil,
        idToken: Secret? = nil,
        scopes: [String]? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.scopes = scopes
    }
}

/// One decision to be committed: the state that was decided, and what becomes of the tokens.
package struct StateWrite: Sendable {
    package var account: AccountID
    /// The generation of the state that was decided on; the write is refused if a later one is stored.
    package var base: Generation
    package var state: RefreshState
    package var tokens: TokenWrite
    /// What its owner changes; nil changes nothing.
    package var settings: SettingsChange?
    /// How Basic credentials have to be written for this server, if this exchange found it out; nil changes nothing.
    package var learnedEncoding: BasicCredentialEncoding?
    /// What is known of the grant now, if that has changed beside `tokens`; nil changes nothing.
    package var grantFacts: GrantFacts?

    package init(
        account: AccountID,
        base: Generation,
        state: RefreshState,
        tokens: TokenWrite = .unchanged,
        settings: SettingsChange? = nil,
        learnedEncoding: BasicCredentialEncoding? = nil,
        grantFacts: GrantFacts? = nil
    ) {
        self.grantFacts = grantFacts
        self.account = account
        self.base = base
        self.state = state
        self.tokens = tokens
        self.settings = settings
        self.learnedEncoding = learnedEncoding
    }
}

/// What an owner changes of an account, made to the account as it is stored when that is stored: what others have changed since it was
/// asked for stays as they have it.
package struct SettingsChange: Sendable {
    private let change: @Sendable (Account) -> Account

    /// - Parameter change: makes the account that the owner wants of the one that there is.
    package init(_ change: @escaping @Sendable (Account) -> Account) {
        self.change = change
    }

    /// The account as it is then; its name is none of its settings.
    package func applied(to account: Account) -> Account {
        var changed = change(account)
        changed.name = account.name
        return changed
    }

    /// This change, and then another one if there is any.
    package func followed(by other: SettingsChange?) -> SettingsChange {
        guard let other else { return self }
        return SettingsChange { other.applied(to: applied(to: $0)) }
    }
}

/// A `TokenChange`, with the tokens that it is about.
package enum TokenWrite: Equatable, Sendable {
    case unchanged
    case store(StoredTokens)
    /// Of these tokens, the refresh token alone.
    case storeGrant(StoredTokens)
    /// With what is known about the new grant.
    case replace(StoredTokens, GrantFacts)
    case storeTarget(TokenTargetWrite)
    case eraseTarget(TokenTarget)
    case erase

    /// Whether a refresh token is stored with it, under the state's generation.
    var bringsRefreshToken: Bool {
        switch self {
        case .store(let tokens), .storeGrant(let tokens), .replace(let tokens, _): tokens.refreshToken != nil
        case .storeTarget(let write): write.tokens.refreshToken != nil
        case .unchanged, .eraseTarget, .erase: false
        }
    }
}

/// The tokens that came for a token target: its access token, and what becomes of the account's refresh token.
package struct TokenTargetWrite: Equatable, Sendable {
    package var target: TokenTarget
    package var times: AccessTokenTimes
    package var tokens: StoredTokens

    package init(target: TokenTarget, times: AccessTokenTimes, tokens: StoredTokens) {
        self.target = target
        self.times = times
        self.tokens = tokens
    }
}

/// How many accounts are where.
package struct PhaseCounts: Hashable, Sendable {
    package var signedOut = 0
    package var scheduled = 0
    package var refreshing = 0
    /// Waiting after a failure that will probably pass.
    package var backingOff = 0
    /// Waiting after a failure that a person has to mend.
    package var misconfigured = 0
    package var interactionRequired = 0
    /// Exported to be moved to another machine.
    package var parked = 0
    /// In a phase that this version does not know: their rows are damaged.
    package var unknown = 0
    /// Out of the schedule because they cannot be read; each is counted by its phase, too.
    package var setAside = 0

    package init() {}

    package var total: Int {
        signedOut + scheduled + refreshing + backingOff + misconfigured + interactionRequired + parked + unknown
    }
}

/// How far the wall clock was ahead of the boot-time clock in one boot: if it differs, the wall clock was stepped.
package struct ClockOffset: Hashable, Sendable {
    package var bootID: Int64
    package var wallMinusBoot: Duration

    package init(bootID: Int64, wallMinusBoot: Duration) {
        self.bootID = bootID
        self.wallMinusBoot = wallMinusBoot
    }

    package init(at now: Moment) {
        self.init(
            bootID: now.boot.bootID,
            wallMinusBoot: now.wall - Timestamp(microseconds: now.boot.microseconds)
        )
    }
}

/// One account as it was found in the store: whole, or damaged.
///
/// Damage is a finding, not a failure: one row that cannot be read must not keep the others from being served.
package enum AccountEntry: Equatable, Sendable {
    case intact(Record)
    case damaged(DamagedAccount)

    package var id: AccountID {
        switch self {
        case .intact(let record): record.account.id
        case .damaged(let account): account.id
        }
    }

    /// The stored name; a damaged one may break the rule for names.
    package var name: String {
        switch self {
        case .intact(let record): record.account.name.text
        case .damaged(let account): account.name
        }
    }

    /// - Throws: the damage.
    package func record() throws(StoreError) -> Record {
        switch self {
        case .intact(let record): return record
        case .damaged(let account): throw account.cause
        }
    }
}

/// An account whose row cannot be read.
package struct DamagedAccount: Equatable, Sendable {
    package let id: AccountID
    /// As it is stored: if the name itself is damaged, this is no `AccountName`.
    package let name: String
    /// Nil if that cannot be read either.
    package let issuer: Issuer?
    /// Which column is damaged, and how: `damagedRow` or `sealBroken`. Never a value.
    package let cause: StoreError

    package init(id: AccountID, name: String, issuer: Issuer?, cause: StoreError) {
        self.id = id
        self.name = name
        self.issuer = issuer
        self.cause = cause
    }
}

/// What is wrong with a column of an account's row.
package enum ColumnFlaw: Hashable, Sendable {
    /// It is empty, or refers to nothing.
    case missing
    /// It has a word that this version does not know; a later one may.
    case unknownWord
    case notJSON
    /// Its text breaks the rule for such a text.
    case malformed
    /// Its number is no time, no length of time or no count that can have been written.
    case outOfRange
}

extension StoreError {
    /// The account whose row is damaged; nil if it is not about one account.
    package var damagedAccount: AccountID? {
        switch self {
        case .sealBroken(let account, _), .damagedRow(let account, _, _): account
        // All other cases are about the file as a whole, or about the call.
        default: nil
        }
    }
}
