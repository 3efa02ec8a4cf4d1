internal import AccountStorage
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import TextEncodings

/// An account and its state at one moment.
struct AccountSnapshot: Sendable {
    var account: Account
    var state: RefreshState
    var at: Moment
    /// How far the issuer's clock is ahead of ours; nil if no answer has shown that yet.
    var clockSkew: Duration?
    /// The failure of the attempt before the current one; nil if it succeeded, or if none is under way.
    var lastFailure: RefreshFailure?
    /// What a resource server requires beyond the grant; nil if nothing.
    var stepUp: StepUp?
    /// How long until an account signs out by itself that the tokens are derived from; nil if none does.
    var timeToSourcesSignOut: Duration?
    /// Whether a person has to provide a new client secret before the current one expires.
    var needsClientSecret = false
    /// Whether a sign-in that asks for consent might bring what the last one did not: a refresh token, or a scope.
    var consentMayHelp = false
    /// Whether a sign-in may help although the server has not said that the grant has ended: it refuses without a
    /// reason, or fails for this account only.
    var signInMayHelp = false
    /// The provider profile's note about when grants end; nil if there is none, or if the account's grant has not
    /// ended.
    var lifetimeNote: String?

    /// The state to show. A fresh account that needs a step-up, or whose grant has lost scopes, needs its person, too.
    var shown: ShownState {
        let shown = state.shown(at: at)
        let isWell = [.fresh, .refreshing, .refreshTokenExpiring].contains(shown)
        return isWell && (stepUp?.needsPerson == true || hasLostScopes) ? .interactionRequired : shown
    }

    /// Whether the server has taken scopes from the grant, which only a sign-in brings back.
    var hasLostScopes: Bool { account.grantFacts.scope?.isLost == true }

    /// The reason on the wire for such a grant, instead of an `InteractionReason`.
    static let scopesLost = "scopesLost"

    /// Whether the server issued an access token that expires, without a refresh token.
    var lacksRefreshToken: Bool {
        guard case .scheduled = state.phase, account.registration.serviceGrant == nil, let token = state.accessToken
        else {
            return false
        }
        return !state.isRefreshable && token.basis != .unlimited
    }

    /// When the refresh token expires whatever the account does; nil if that is unknown, or if the account signs out by
    /// itself earlier.
    var grantEnd: Timestamp? { state.firstSignOut == nil ? state.grantEnd : nil }

    /// Whether the person or the server did not grant a scope that the sign-in asked for.
    var lacksScopes: Bool { account.grantFacts.scope?.declined.isEmpty == false }

    /// The sign-in that may bring what the last one did not.
    var loginAgain: Command {
        let name = account.name.text
        return consentMayHelp ? Command("login", name, "--prompt", "consent") : Command("login", name)
    }

    /// The current failure of the account; nil if there is none.
    var failure: RefreshFailure? { state.phase.failure ?? lastFailure }

    /// Whether the time of the account is over by any clock, or that of an account that its tokens are derived from.
    /// Then nobody gets a token of it.
    var isOver: Bool { state.isSignOutDue(at: at) || timeToSourcesSignOut == .zero }

    /// Whether callers may get any token of the account. Each reply with a token depends on this.
    var givesTokens: Bool { !isOver && !state.isWithheld }

    /// Whether the account's own access token is valid long enough for a caller that needs `minimumValidity`.
    func holdsAccessToken(for minimumValidity: Duration?) -> Bool {
        guard givesTokens else { return false }
        return state.accessToken?.suffices(for: minimumValidity, at: at) ?? false
    }
}

extension Phase {
    /// The failure that led to this phase; nil if none did.
    var failure: RefreshFailure? {
        switch self {
        case .backingOff(let backOff): backOff.failure
        case .interactionRequired(let interaction): interaction.failure
        case .signedOut, .scheduled, .refreshing, .parked: nil
        }
    }
}

/// An account as shown to callers: its snapshot, or that it cannot be read.
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

/// Lists accounts from the store.
extension RefreshCoordinator {
    /// The current account of this name; nil if there is none.
    func shownAccount(named name: String) throws(StoreError) -> ShownAccount? {
        guard let entry = try store.entry(named: name) else { return nil }
        return shown(entry, at: timebase.now())
    }

    /// The name of an account that is similar to `name`; nil if none is. With very many accounts, it compares only
    /// those with the same first letter, and the first ones.
    func nearestAccountName(to name: String) throws(StoreError) -> String? {
        let limit = 500
        var names = try store.names(after: "", limit: limit)
        if names.count == limit { names += try store.names(after: String(name.prefix(1)), limit: limit) }
        return Spelling.nearest(to: name, in: names)
    }

    /// A page of all accounts, ordered by name.
    func shownAccounts(after name: String?, limit: Int) throws(StoreError) -> [ShownAccount] {
        let now = timebase.now()
        return try store.entries(after: name, limit: limit).map { shown($0, at: now) }
    }

    /// A page of all accounts, ordered by number.
    func shownAccounts(afterID id: AccountID, limit: Int) throws(StoreError) -> [ShownAccount] {
        let now = timebase.now()
        return try store.entries(afterID: id, limit: limit).map { shown($0, at: now) }
    }

    /// An account from the store in its current state.
    func shown(_ entry: AccountEntry, at now: Moment) -> ShownAccount {
        switch entry {
        case .intact(let record):
            return .whole(snapshot(of: records.current(record), at: now))
        case .damaged(let account):
            // The next turn records the damage and sets the account aside, unless an earlier turn has done that.
            records.noteDamage(of: account.id)
            submit(.host(.deadlineReached), for: account.id)
            return .damaged(account)
        }
    }

    /// The state of an account at `now`.
    func snapshot(of record: Record, at now: Moment) -> AccountSnapshot {
        var snapshot = AccountSnapshot(
            account: record.account,
            state: record.state,
            at: now,
            clockSkew: host.clockSkew(of: record.issuerID, in: store),
            lastFailure: scheduler.requests[record.account.id]?.lastFailure,
            stepUp: stepUps[record.account.id],
            timeToSourcesSignOut: timeToSignOut(ofSourcesOf: record.account, at: now),
            needsClientSecret: registrations.needsPerson(for: record.account, at: now.wall)
        )
        // This is done only for the few accounts that need it, because every reply is made from snapshots.
        let facts = record.account.grantFacts
        let lacksRefreshToken = snapshot.lacksRefreshToken || snapshot.state.interaction?.reason == .noRefreshToken
        if lacksRefreshToken || facts.scope?.declined.isEmpty == false {
            let client = requestingClient(of: record.account, correlationID: "")
            let isUnasked = !client.asksForConsent(client.scopes(nil), isUnneeded: facts.consent == .unneeded)
            // A sign-in that has shown something about consent was no accident.
            snapshot.consentMayHelp = client.consentMayHelp && isUnasked && (!lacksRefreshToken || facts.consent == nil)
        }
        snapshot.signInMayHelp = signInMayHelp(record, at: now)
        if snapshot.state.interaction?.reason == .grantEnded || snapshot.grantEnd != nil {
            snapshot.lifetimeNote = settings.profile(for: record.account)?.note(about: .lifetime)
        }
        return snapshot
    }

    /// Whether a sign-in may help an account whose refreshes fail. Some servers answer 500 to a refresh token that they
    /// no longer know.
    private func signInMayHelp(_ record: Record, at now: Moment) -> Bool {
        let state = record.state
        guard case .backingOff(let backOff) = state.phase, record.account.registration.serviceGrant == nil else {
            return false
        }
        if let refusal = state.refusal { return !refusal.isForSettings }
        guard state.failures >= Self.failuresOfOne, (500..<600).contains(backOff.failure.detail.httpStatus ?? 0) else {
            return false
        }
        let last = state.accessToken?.issuedAt
        return scheduler.isServingOthers(than: record.account.id, of: record.issuerID, since: last, at: now)
    }

    /// After how many failures in a row the fault may be the account's, if the server serves others. Machines of a
    /// server that are being replaced answer only a few requests with 500.
    private static let failuresOfOne = 5
}
