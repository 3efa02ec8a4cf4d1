internal import AccountStorage
internal import RefreshCore

/// Handles accounts whose tokens are derived from other accounts: what they wait for, and what wakes them.
///
/// A request that needs another account's token holds its lease while that account gets one. It holds no place at the
/// issuer's gate, because the other account may need that place. When that account has its token, the lease is
/// returned, and the request starts again at the gate.
enum DerivedAccounts {
    static func sources(on coordinator: isolated RefreshCoordinator) -> SourceAccounts {
        SourceAccounts(records: coordinator.records) { (id: AccountID) throws(StoreError) in
            try coordinator.store.entry(id).map {
                AccountListing.shown($0, at: coordinator.timebase.now(), on: coordinator)
            }
        }
    }

    /// How long until the first of the accounts signs out by itself that the tokens of `account` are derived from; zero if
    /// a clock says that its time is over, nil if all stay signed in.
    static func timeToSignOut(
        ofSourcesOf account: Account,
        at now: Moment,
        on coordinator: isolated RefreshCoordinator
    ) -> Duration? {
        var (accounts, shortest) = ([account], Duration?.none)
        // Chains are short and never circular. A source that cannot be read gives no more tokens.
        while !accounts.isEmpty {
            let sources = accounts.flatMap { $0.registration.serviceGrant?.exchange?.sources ?? [] }
            let records = sources.compactMap(\.id).compactMap { try? coordinator.records.record(of: $0) }
            let times = records.compactMap { $0.state.timeToSignOut(at: now) } + [shortest].compactMap(\.self)
            (accounts, shortest) = (records.map(\.account), times.min())
        }
        return shortest
    }

    /// Makes `source` get its token. The waiting account's lease ends after that.
    static func wait(
        on source: AccountSnapshot,
        with waiting: PendingRequest,
        for account: AccountID,
        _ target: TokenTarget?,
        on coordinator: isolated RefreshCoordinator
    ) {
        coordinator.scheduler.begin(waiting, of: account)
        let (lease, name) = (waiting.lease, source.account.name)
        _ = coordinator.wait(
            for: .token(minimumValidity: nil, isForced: false),
            of: source.account.id,
            after: .tokenNeeded
        ) { [coordinator] outcome in
            coordinator.assumeIsolated {
                guard $0.scheduler.endWaiting(lease, of: account) else { return }
                $0.submit(Event(outcome, of: name, lease.generation, for: target), for: account)
            }
        }
    }

    /// Resumes the accounts that may wait for a token of this account, or tells them that it needs a person.
    static func wake(from source: AccountID, on coordinator: isolated RefreshCoordinator) {
        // If something cannot be read or stored now, the source's next refresh or the next start does it.
        let derived = (try? coordinator.store.derived(from: source, limit: CallerLimits.derivedAccountsMax * 2)) ?? []
        for account in derived { coordinator.submit(.sourceChanged, for: account) }
    }

    /// Resumes the accounts whose sources got tokens while nobody could tell them.
    static func wakeLackingSource(on coordinator: isolated RefreshCoordinator) throws(StoreError) {
        for id in try coordinator.store.lackingSource() {
            // A damaged account has its own state.
            guard let account = try? coordinator.store.record(id)?.account,
                sources(on: coordinator).haveTokens(for: account)
            else { continue }
            coordinator.submit(.sourceChanged, for: id)
        }
    }
}
