package import RefreshCore

/// One account as it is stored, without its tokens.
package struct Record: Equatable, Sendable {
    /// A shared box: a decision passes its record on a dozen times, and the account has twenty reference-counted
    /// values.
    private final class Shared: Sendable {
        let account: Account

        init(_ account: Account) {
            self.account = account
        }
    }

    private var shared: Shared
    /// The account. Changing it copies it.
    package var account: Account {
        _read { yield shared.account }
        set { shared = Shared(newValue) }
    }
    /// The number of the account's issuer, for `due(issuer:…)` and for the issuer's gate.
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

/// A new account without a number, with its first grant. Its members read and write those of the account.
@dynamicMemberLookup
package struct NewAccount: Equatable, Sendable {
    package var account: Account
    package var createdAt: Timestamp
    /// The initial state: signed out, or the state of an imported grant.
    package var state: RefreshState
    /// The tokens of that grant; nil if there is no grant.
    package var tokens: StoredTokens?

    package init(
        _ account: Account,
        createdAt: Timestamp,
        state: RefreshState = .unused,
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
    /// The access token; nil for an imported grant.
    package var accessToken: AccessToken?
    /// The refresh token, stored under the state's generation; nil if the one that was sent stays valid (RFC 6749 §6).
    package var refreshToken: RefreshToken?
    /// The refresh token that somebody imported; nil if the grant is not an imported one. If the server rotated it when
    /// it was tested, `refreshToken` is its successor.
    package var imported: RefreshToken?
    /// The ID token. Nil keeps the stored one, unless the grant is new, because few servers send it again (OpenID
    /// Connect Core §12.2).
    package var idToken: Secret?
    /// The granted scopes; nil if the server did not say. They are stored only for token targets.
    package var scopes: [String]?

    package init(
        accessToken: AccessToken? = nil,
        refreshToken: RefreshToken? = nil,
        imported: RefreshToken? = nil,
        idToken: Secret? = nil,
        scopes: [String]? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.imported = imported
        self.idToken = idToken
        self.scopes = scopes
    }
}

/// One decision to commit: the new state, and the change of the tokens.
package struct StateWrite: Sendable {
    package var account: AccountID
    /// The generation that the decision was based on. The write is refused if a later one is stored.
    package var base: Generation
    package var state: RefreshState
    package var tokens: TokenWrite
    /// The owner's change of the settings; nil for none.
    package var settings: SettingsChange?
    /// How this server wants Basic credentials encoded, if this exchange found out; nil changes nothing.
    package var learnedEncoding: BasicCredentialEncoding?
    /// What is now known about the grant, if that changed apart from `tokens`; nil changes nothing.
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

/// An owner's change of an account. It is applied to the account as it is stored at commit time, so that other changes
/// made meanwhile are kept.
package struct SettingsChange: Sendable {
    private let change: @Sendable (Account) -> Account

    /// Creates a change.
    ///
    /// - Parameter change: turns the stored account into the one that the owner wants.
    package init(_ change: @escaping @Sendable (Account) -> Account) {
        self.change = change
    }

    /// The changed account. Its name stays, because it is not a setting.
    package func applied(to account: Account) -> Account {
        var changed = change(account)
        changed.name = account.name
        return changed
    }
}

/// A `TokenChange` together with its tokens.
package enum TokenWrite: Equatable, Sendable {
    case unchanged
    case store(StoredTokens)
    /// Store only the refresh token of these tokens.
    case storeGrant(StoredTokens)
    /// Replace all tokens with these, and store what is known about the new grant.
    case replace(StoredTokens, GrantFacts)
    case storeTarget(TokenTargetWrite)
    case eraseTarget(TokenTarget)
    case erase

    /// Whether it stores a refresh token under the state's generation.
    var bringsRefreshToken: Bool {
        switch self {
        case .store(let tokens), .storeGrant(let tokens), .replace(let tokens, _): tokens.refreshToken != nil
        case .storeTarget(let write): write.tokens.refreshToken != nil
        case .unchanged, .eraseTarget, .erase: false
        }
    }
}

/// The tokens for a token target: its access token, and the change of the account's refresh token.
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

/// The number of accounts in each phase.
package struct PhaseCounts: Hashable, Sendable {
    package var signedOut = 0
    package var scheduled = 0
    package var refreshing = 0
    /// Waiting after a failure that will probably pass.
    package var backingOff = 0
    /// Waiting after a failure that a person has to correct.
    package var misconfigured = 0
    package var interactionRequired = 0
    /// Exported for a move to another machine.
    package var parked = 0
    /// In an unknown phase; their rows are damaged.
    package var unknown = 0
    /// Removed from the schedule because they cannot be read. They are also counted in their phase.
    package var setAside = 0

    package init() {}

    package var total: Int {
        signedOut + scheduled + refreshing + backingOff + misconfigured + interactionRequired + parked + unknown
    }
}

/// How far the wall clock is ahead of the boot-time clock in one boot. If it changes, the wall clock was stepped.
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

/// One account as found in the store: intact or damaged.
///
/// Damage is a value and not an error, because one unreadable row must not keep the others from being served.
package enum AccountEntry: Equatable, Sendable {
    case intact(Record)
    case damaged(DamagedAccount)

    package var id: AccountID {
        switch self {
        case .intact(let record): record.account.id
        case .damaged(let account): account.id
        }
    }

    /// The stored name. A damaged name may break the rule for names.
    package var name: String {
        switch self {
        case .intact(let record): record.account.name.text
        case .damaged(let account): account.name
        }
    }

    /// The intact record.
    ///
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
    /// The name as stored. If the name itself is damaged, it is not a valid `AccountName`.
    package let name: String
    /// The issuer; nil if it cannot be read either.
    package let issuer: Issuer?
    /// Which column is damaged, and how: `damagedRow` or `sealBroken`. It contains no value.
    package let cause: StoreError
}

/// What is wrong with a column of an account's row.
package enum ColumnFinding: Hashable, Sendable {
    /// The column is empty, or refers to something that is missing.
    case missing
    /// The column has a word that this version does not know. A later version may know it.
    case unknownWord
    case notJSON
    /// The text breaks the rule for this column.
    case malformed
    /// The number is not a possible time, duration or count.
    case outOfRange
}

extension StoreError {
    /// The account whose row is damaged; nil if the error is not about one account.
    package var damagedAccount: AccountID? {
        switch self {
        case .sealBroken(let account, _), .damagedRow(let account, _, _): account
        // All other cases are about the whole file, or about the call.
        default: nil
        }
    }
}
