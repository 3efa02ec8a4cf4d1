internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Callers who ask about accounts, wait for them and follow them.
extension RefreshCoordinator {
    /// The account of this name as it stands now; nil if there is none.
    func account(named name: String) throws(StoreError) -> ShownAccount? {
        guard let entry = try store.entry(named: name) else { return nil }
        return shown(entry, at: timebase.now())
    }

    /// A page of all accounts in the order of their names.
    func accounts(after name: String?, limit: Int) throws(StoreError) -> [ShownAccount] {
        let now = timebase.now()
        return try store.entries(after: name, limit: limit).map { shown($0, at: now) }
    }

    /// A page of all accounts in the order of their numbers.
    func accounts(afterID id: AccountID, limit: Int) throws(StoreError) -> [ShownAccount] {
        let now = timebase.now()
        return try store.entries(afterID: id, limit: limit).map { shown($0, at: now) }
    }

    /// An account that was found in the store, as it stands now.
    func shown(_ entry: AccountEntry, at now: Moment) -> ShownAccount {
        switch entry {
        case .intact(let record):
            return .whole(snapshot(of: records.current(record), at: now))
        case .damaged(let account):
            // The next turn finds the damage by itself, and sets the account aside unless an earlier one has.
            records.noteDamage()
            submit(.deadlineReached, for: account.id)
            return .damaged(account)
        }
    }

    /// Has `event` decided on, and calls `answer` when what it asks for has settled.
    ///
    /// - Parameter accessToken: what the caller gets if it waits in vain; nil if there is nothing.
    /// - Returns: the waiter's number, to forget it by.
    func wait(
        for purpose: Waiter.Purpose,
        of account: AccountID,
        after event: Event,
        holding accessToken: AccessTokenTimes? = nil,
        answer: @escaping @Sendable (WaitOutcome) -> Void
    ) -> Int {
        let now = timebase.now()
        defer { submit(event, for: account) }
        return callers.add(purpose, of: account, after: event, holding: accessToken, at: now, answer: answer)
    }

    /// Tells the waiters of an account that have what they waited for, or will not get it. The others ask again, because an account's
    /// exchanges follow one another.
    ///
    /// - Parameter event: what was decided on.
    func settleWaiters(of record: Record, after event: Event, at now: Moment) {
        let id = record.account.id
        guard callers.isAwaited(id) else { return }
        var tokenSets: [TokenSet: AccessTokenTimes] = [:]
        for set in Set(callers.tokenSets(of: id)) { tokenSets[set] = records.accessTokenTimes(of: record, for: set) }
        let (told, again) = callers.settle(
            Callers.Standing(
                snapshot: snapshot(of: record, at: now),
                event: event,
                isOverdue: scheduler.requests.isOverdue(id),
                tokenSets: tokenSets,
                postponed: scheduler.postponed(of: id)
            )
        )
        for (waiter, outcome) in told { waiter.answer(outcome) }
        for request in again { submit(request, for: id) }
    }

    /// Tells all waiters of an account the same.
    func answerWaiters(of account: AccountID, with outcome: WaitOutcome) {
        for waiter in callers.takeAll(of: account) { waiter.answer(outcome) }
    }

    /// An account as it stands at `now`.
    func snapshot(of record: Record, at now: Moment) -> AccountSnapshot {
        var snapshot = AccountSnapshot(
            account: record.account,
            state: record.state,
            at: now,
            clockSkew: host.clockSkew(of: record.issuerID, in: store),
            lastFailure: scheduler.requests[record.account.id]?.lastFailure,
            stepUp: stepUps[record.account.id],
            needsClientSecret: registrations.needsPerson(for: record.account, at: now.wall)
        )
        // Only for the few accounts that need it, because every reply is made of snapshots.
        if snapshot.lacksRefreshToken {
            snapshot.consentMayHelp =
                settings.signIn(for: record.account).consentMayHelp && !record.account.grantFacts.needsConsent
        }
        if snapshot.state.interaction?.reason == .grantEnded {
            snapshot.lifetimeNote = settings.profile(for: record.account)?.note(about: .lifetime)
        }
        return snapshot
    }

    // MARK: Subscribers

    /// Tells subscribers and the journal what happened to an account.
    func announce(_ announcement: Announcement, of record: Record, at now: Moment, correlationID: String? = nil) {
        announceLater(announcement, of: record, at: now, correlationID: correlationID)
        subscribers.send()
    }

    /// Tells the journal, and subscribers when `subscribers.send` is called.
    func announceLater(_ announcement: Announcement, of record: Record, at now: Moment, correlationID: String?) {
        let snapshot = snapshot(of: record, at: now)
        changeLog.record(announcement, of: snapshot, correlationID: correlationID)
        subscribers.publish(announcement, of: snapshot)
    }
}
