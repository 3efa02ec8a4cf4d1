internal import AccountStorage
internal import RefreshCore

/// Token sets: what is held of them, and how many there may be.
///
/// They have no deadline. A token that is used is replaced when a caller finds it past its time to refresh; one that nobody asks
/// for any more costs nothing.
extension RefreshCoordinator {
    /// What is held of a token set: as it will be stored, if that could not be done yet. Nil if there is no token of it.
    func tokenSet(_ set: TokenSet, of account: AccountID) throws(StoreError) -> TokenSetRecord? {
        if let kept = unstored[account]?.arrivedSet, kept.set == set {
            return TokenSetRecord(set: set, times: kept.times, grantedScopes: kept.tokens.scopes)
        }
        return try store.tokenSet(set, of: account)
    }

    /// The token sets of an account, in the order of their texts.
    func tokenSets(of account: AccountID) throws(StoreError) -> [TokenSetRecord] {
        try store.tokenSets(of: account)
    }

    /// The access token of a set; nil if there is none that can be read.
    func accessToken(of account: AccountID, for set: TokenSet) throws(StoreError) -> AccessToken? {
        if let kept = unstored[account]?.arrivedTokens(for: set) { return kept.accessToken }
        do throws(StoreError) {
            return try store.accessToken(of: account, for: set)
        } catch {
            // It can be had again for one request; only the grant itself is worth stopping for.
            guard error.damagedAccount != nil else { throw error }
            return nil
        }
    }

    /// The times of the access token that an account holds.
    ///
    /// - Parameter set: nil for the account's default.
    func accessTokenTimes(of record: Record, for set: TokenSet?) -> AccessTokenTimes? {
        guard let set else { return record.state.accessToken }
        // A store that cannot be read holds nothing; whoever asks it for more is told why.
        return (try? tokenSet(set, of: record.account.id))?.times
    }

    /// Whether one more set may be asked for: counted are the sets with a valid token, and those that callers wait for.
    func hasRoom(for set: TokenSet, of account: AccountID, at now: Moment) throws(StoreError) -> Bool {
        let held = try tokenSets(of: account).filter { $0.times.remaining(at: now) > .zero }.map(\.set)
        return Set(held + callers.tokenSets(of: account) + [set]).count <= TokenSet.maximum
    }
}
