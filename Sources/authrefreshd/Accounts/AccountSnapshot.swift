internal import AccountStorage
internal import RefreshCore
internal import TextEncodings

/// An account and where it stands at one moment.
struct AccountSnapshot: Sendable {
    var account: Account
    var state: RefreshState
    var at: Moment
    /// How far the issuer's clock is ahead of ours; nil if no answer has told yet.
    var clockSkew: Duration?
    /// What the attempt before the one under way failed by; nil if it did not, or none is under way.
    var lastFailure: RefreshFailure?
    /// What is wanted beyond the grant; nil if nothing is.
    var stepUp: StepUp?
    /// Whether a person has to bring another client secret before the present one ends.
    var needsClientSecret = false
    /// Whether a sign-in that asks for consent may bring a refresh token.
    var consentMayHelp = false
    /// What the provider's profile tells about when grants end; nil if nothing, or if the account's has not ended.
    var lifetimeNote: String?

    /// A fresh account of which more is wanted needs its person, too.
    var shown: ShownState {
        let shown = state.shown(at: at)
        let isWell = [.fresh, .refreshing, .refreshTokenExpiring].contains(shown)
        return isWell && stepUp?.needsPerson == true ? .interactionRequired : shown
    }

    /// Whether the server gave an access token that ends, and no refresh token to get another one with.
    var lacksRefreshToken: Bool {
        guard case .scheduled = state.phase, account.registration.serviceGrant == nil, let token = state.accessToken
        else {
            return false
        }
        return !state.isRefreshable && token.basis != .unlimited
    }

    /// The failure that the account is suffering from; nil if none.
    var failure: RefreshFailure? { state.phase.failure ?? lastFailure }

    /// Whether the account's own access token is good enough for a caller that needs `minimumValidity`.
    func holdsAccessToken(for minimumValidity: Duration?) -> Bool {
        guard !state.isSignOutDue(at: at) else { return false }
        return state.accessToken?.suffices(for: minimumValidity, at: at) ?? false
    }
}

extension Phase {
    /// The failure that led here; nil if none did.
    var failure: RefreshFailure? {
        switch self {
        case .backingOff(let backOff): backOff.failure
        case .interactionRequired(let interaction): interaction.failure
        case .signedOut, .scheduled, .refreshing, .parked: nil
        }
    }
}

/// An account as callers are shown it: where it stands, or that it cannot be read.
enum ShownAccount: Sendable {
    case whole(AccountSnapshot)
    case damaged(DamagedAccount)

    var id: AccountID {
        switch self {
        case .whole(let snapshot): snapshot.account.id
        case .damaged(let account): account.id
        }
    }

    var name: String {
        switch self {
        case .whole(let snapshot): snapshot.account.name.text
        case .damaged(let account): account.name
        }
    }
}

/// Accounts as they are found in the store.
enum AccountListing {
    /// The account of this name as it stands now; nil if there is none.
    static func account(
        named name: String,
        on coordinator: isolated RefreshCoordinator
    ) throws(StoreError) -> ShownAccount? {
        guard let entry = try coordinator.store.entry(named: name) else { return nil }
        return shown(entry, at: coordinator.timebase.now(), on: coordinator)
    }

    /// An account whose name `name` was meant to be; nil if none is like it. Among very many accounts those are looked at that begin with
    /// the same letter, and the first ones.
    static func nearest(to name: String, on coordinator: isolated RefreshCoordinator) throws(StoreError) -> String? {
        let limit = 500
        var names = try coordinator.store.names(after: "", limit: limit)
        if names.count == limit { names += try coordinator.store.names(after: String(name.prefix(1)), limit: limit) }
        return Spelling.nearest(to: name, in: names)
    }

    /// A page of all accounts in the order of their names.
    static func accounts(
        after name: String?,
        limit: Int,
        on coordinator: isolated RefreshCoordinator
    ) throws(StoreError) -> [ShownAccount] {
        let now = coordinator.timebase.now()
        return try coordinator.store.entries(after: name, limit: limit).map { shown($0, at: now, on: coordinator) }
    }

    /// A page of all accounts in the order of their numbers.
    static func accounts(
        afterID id: AccountID,
        limit: Int,
        on coordinator: isolated RefreshCoordinator
    ) throws(StoreError) -> [ShownAccount] {
        let now = coordinator.timebase.now()
        return try coordinator.store.entries(afterID: id, limit: limit).map { shown($0, at: now, on: coordinator) }
    }

    /// An account that was found in the store, as it stands now.
    static func shown(_ entry: AccountEntry, at now: Moment, on coordinator: isolated RefreshCoordinator)
        -> ShownAccount
    {
        switch entry {
        case .intact(let record):
            return .whole(coordinator.snapshot(of: coordinator.records.current(record), at: now))
        case .damaged(let account):
            // The next turn finds the damage by itself, and sets the account aside unless an earlier one has.
            coordinator.records.noteDamage()
            coordinator.submit(.deadlineReached, for: account.id)
            return .damaged(account)
        }
    }
}
