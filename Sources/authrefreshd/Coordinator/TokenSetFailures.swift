internal import RefreshCore

/// What servers said of token sets that they gave no token for, so that a script in a loop is told it without asking them again.
struct TokenSetFailures {
    /// Sets remembered, of all accounts: some hundred kilobytes. When one more comes, all are forgotten; each costs one request.
    static let maximum = 1_000

    private struct Key: Hashable {
        let account: AccountID
        let set: TokenSet
    }

    private var failures: [Key: (failure: RefreshFailure, at: Moment)] = [:]

    /// What was said at `since` or later; nil if nothing was.
    func failure(of set: TokenSet, for account: AccountID, since: Moment) -> RefreshFailure? {
        guard let known = failures[Key(account: account, set: set)] else { return nil }
        return since.elapsed(since: known.at) == .zero ? known.failure : nil
    }

    /// What callers who come at `now` are told, and how long it is until the server would be asked again; nil if it is now.
    func standing(of set: TokenSet, for account: AccountID, at now: Moment) -> (failure: RefreshFailure, Duration)? {
        guard let known = failures[Key(account: account, set: set)] else { return nil }
        let rest = BackOffRule.tokenSet(after: known.failure) - now.elapsed(since: known.at)
        return rest > .zero ? (known.failure, rest) : nil
    }

    /// Takes note of what has happened to an account.
    mutating func note(_ change: AccountChange, of account: AccountID, at now: Moment) {
        switch change {
        case .tokenSetFailed(let set, let failure):
            if failures.count >= Self.maximum { failures = [:] }
            failures[Key(account: account, set: set)] = (failure, now)
        case .tokenSetRefreshed(let set):
            failures[Key(account: account, set: set)] = nil
        case .grantImported, .signedIn, .accessTokenObtained, .signedOut:
            forget(account)
        case .tokenRefreshed, .refreshFailed, .misconfigured, .interactionRequired, .interactionStillRequired,
            .refreshTokenExpiring, .staleAnswerDropped, .parked, .unparked:
            break
        }
    }

    /// Forgets what was said for an account that is not what it was.
    mutating func forget(_ account: AccountID) {
        failures = failures.filter { $0.key.account != account }
    }
}
