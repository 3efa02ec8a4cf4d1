internal import AccountStorage
internal import RefreshCore

/// Accounts whose tokens are derived from other accounts: what they wait for, and what wakes them.
///
/// A request that needs another account's token holds its lease while that account gets one. It holds no place at the
/// issuer's gate, because the other account may need that place. When that account has its token, the lease is
/// returned, and the request starts again at the gate.
extension RefreshCoordinator {
    /// How long until the first of the accounts signs out by itself that the tokens of `account` are derived from; zero if
    /// a clock says that its time is over, nil if all stay signed in.
    func timeToSignOut(ofSourcesOf account: Account, at now: Moment) -> Duration? {
        var (accounts, shortest) = ([account], Duration?.none)
        // Chains are short and never circular. A source that cannot be read gives no more tokens.
        while !accounts.isEmpty {
            let sources = accounts.flatMap { $0.registration.serviceGrant?.exchange?.sources ?? [] }
            let records = sources.compactMap(\.id).compactMap { try? self.records.record(of: $0) }
            let times = records.compactMap { $0.state.timeToSignOut(at: now) } + [shortest].compactMap(\.self)
            (accounts, shortest) = (records.map(\.account), times.min())
        }
        return shortest
    }

    /// Makes `source` get its token. The waiting account's lease ends after that.
    func awaitToken(
        of source: AccountSnapshot,
        with waiting: PendingRequest,
        for account: AccountID,
        _ target: TokenTarget?
    ) {
        scheduler.begin(waiting, of: account)
        let (lease, name) = (waiting.lease, source.account.name)
        let purpose = Waiter.Purpose.token(minimumValidity: nil, isForced: false)
        _ = wait(for: purpose, of: source.account.id, after: .demand(.tokenNeeded)) { outcome in
            self.assumeIsolated {
                guard $0.scheduler.endWaiting(lease, of: account) else { return }
                $0.submit(Event(outcome, of: name, lease.generation, for: target), for: account)
            }
        }
    }

    /// Resumes the accounts that may wait for a token of this account, or tells them that it needs a person.
    func wakeAccountsDerived(from source: AccountID) {
        // If something cannot be read or stored now, the source's next refresh or the next start does it.
        let derived = (try? store.derived(from: source, limit: CallerLimits.derivedAccountsMax * 2)) ?? []
        for account in derived { submit(.source(.changed), for: account) }
    }

    /// Resumes the accounts whose sources got tokens while nobody could tell them.
    func wakeAccountsLackingSource() throws(StoreError) {
        for id in try store.lackingSource() {
            // A damaged account has its own state.
            guard let account = try? store.record(id)?.account, sourcesHaveTokens(for: account) else {
                continue
            }
            submit(.source(.changed), for: id)
        }
    }
}
