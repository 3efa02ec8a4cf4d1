internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// Those who ask, wait and follow.
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

    /// The same in the order of their numbers.
    func accounts(afterID id: AccountID, limit: Int) throws(StoreError) -> [ShownAccount] {
        let now = timebase.now()
        return try store.entries(afterID: id, limit: limit).map { shown($0, at: now) }
    }

    /// An account as it was found in the store, as it stands now.
    func shown(_ entry: AccountEntry, at now: Moment) -> ShownAccount {
        switch entry {
        case .intact(let record):
            return .whole(snapshot(of: records.current(record), at: now))
        case .damaged(let account):
            // The next turn comes upon the damage by itself, and sets the account aside if that has not been done.
            records.noteDamage()
            submit(.deadlineReached, for: account.id)
            return .damaged(account)
        }
    }

    /// Has `event` decided on, and `answer` called when what it asks for has settled.
    ///
    /// - Parameter accessToken: what the caller gets if it has waited in vain; nil if there is nothing.
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

    /// Forgets a waiter whose caller has gone; what was begun for it goes on.
    func forgetWaiter(_ number: Int, of account: AccountID) {
        callers.forget(number, of: account)
    }

    /// Tells those waiters of an account that have what they waited for, or will not get it.
    ///
    /// - Parameter event: what was decided on. Those whom it was not about ask again: exchanges follow one after the other.
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

    /// Tells all waiters of an account why nothing can be sent for it now.
    func tellWaiters(of record: Record, of obstacle: Scheduler.Obstacle, at now: Moment) {
        let outcome: WaitOutcome =
            switch obstacle {
            case .trouble(let trouble): .storeFailed(trouble)
            case .stopping: .stopping
            case .offline: .offline(snapshot(of: record, at: now))
            }
        answerWaiters(of: record.account.id, with: outcome)
    }

    /// Whether one more token set may be asked for: counted are the sets with a valid token, and those that callers wait for.
    func hasRoom(for set: TokenSet, of account: AccountID, at now: Moment) throws(StoreError) -> Bool {
        let held = try records.tokenSets(of: account).filter { $0.times.remaining(at: now) > .zero }.map(\.set)
        return Set(held + callers.tokenSets(of: account) + [set]).count <= TokenSet.maximum
    }

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
        // Looked up for the few that need it: every reply is made of snapshots.
        if snapshot.lacksRefreshToken {
            snapshot.consentMayHelp =
                settings.signIn(for: record.account).consentMayHelp && !record.account.grantFacts.needsConsent
        }
        return snapshot
    }

    // MARK: Subscribers

    /// Tells subscribers and the journal what happened to an account.
    func announce(_ announcement: Announcement, of record: Record, at now: Moment, correlationID: String? = nil) {
        announceLater(announcement, of: record, at: now, correlationID: correlationID)
        subscribers.send()
    }

    /// The same; subscribers are told when `subscribers.send` is called.
    func announceLater(_ announcement: Announcement, of record: Record, at now: Moment, correlationID: String?) {
        let snapshot = snapshot(of: record, at: now)
        changeLog.record(announcement, of: snapshot, correlationID: correlationID)
        guard let name = announcement.wireName else { return }
        subscribers.publish(
            Subscribe.Reply(
                event: name,
                atUSec: now.wall.microseconds,
                accounts: announcement.isRemoval ? [] : [snapshot.wireStatus],
                account: record.account.name.text,
                previousName: announcement.previousName
            ),
            of: record.account.id
        )
    }

    /// The same for the removal of an account that could not be read.
    func announceRemoval(of account: DamagedAccount, at now: Moment) {
        changeLog.removed(account)
        let change = Subscribe.Reply(
            event: "account-removed",
            atUSec: now.wall.microseconds,
            accounts: [],
            account: account.name
        )
        subscribers.publish(change, of: account.id)
        subscribers.send()
    }

    /// Adds a subscriber, who has been told nothing yet.
    ///
    /// - Returns: its number; `subscribers` no longer has it once it has gone.
    func subscribe(_ responder: VarlinkResponder, toAll: Bool) -> Int {
        let number = subscribers.add(responder, followsAll: toAll)
        responder.onDisconnect { [weak self, queue] in
            queue.async { [weak self] in
                self?.assumeIsolated { $0.subscribers.remove(number) }
            }
        }
        return number
    }
}
