internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
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

    private func shown(_ entry: AccountEntry, at now: Moment) -> ShownAccount {
        switch entry {
        case .intact(let record):
            return .whole(snapshot(of: asKept(record), at: now))
        case .damaged(let account):
            // The next turn comes upon the damage by itself, and sets the account aside if that has not been done.
            submit(.deadlineReached, for: account.id)
            return .damaged(account)
        }
    }

    /// A stored account with the state that could not be stored yet; its name and settings may have changed since that was decided.
    private func asKept(_ record: Record) -> Record {
        guard let kept = unsaved[record.account.id]?.record else { return record }
        var record = record
        record.state = kept.state
        return record
    }

    /// The access token of an account, with its type; nil if there is none.
    func accessToken(of account: AccountID) throws(StoreError) -> AccessToken? {
        if let kept = unsaved[account]?.arrivedTokens { return kept.accessToken }
        return try store.accessToken(of: account)
    }

    /// Has `event` decided on, and `answer` called when the account has settled.
    ///
    /// - Returns: the waiter's number, to forget it by.
    func wait(
        for purpose: Waiter.Purpose,
        of account: AccountID,
        after event: Event,
        answer: @escaping @Sendable (WaitOutcome) -> Void
    ) -> Int {
        lastWaiter += 1
        let waiter = Waiter(number: lastWaiter, purpose: purpose, since: timebase.now(), answer: answer)
        waiters[account, default: []].append(waiter)
        submit(event, for: account)
        return waiter.number
    }

    /// Forgets a waiter whose caller has gone; what was begun for it goes on.
    func forgetWaiter(_ number: Int, of account: AccountID) {
        let rest = waiters[account]?.filter { $0.number != number } ?? []
        waiters[account] = rest.isEmpty ? nil : rest
    }

    /// Tells those waiters of an account that have what they waited for.
    func settleWaiters(of record: Record, at now: Moment) {
        guard let waiting = waiters.removeValue(forKey: record.account.id) else { return }
        let snapshot = snapshot(of: record, at: now)
        let rest = waiting.filter { !$0.isSettled(by: snapshot) }
        if !rest.isEmpty { waiters[record.account.id] = rest }
        for waiter in waiting where waiter.isSettled(by: snapshot) {
            waiter.answer(.settled(snapshot))
        }
    }

    /// Tells all waiters of an account the same.
    func answerWaiters(of account: AccountID, with outcome: WaitOutcome) {
        for waiter in waiters.removeValue(forKey: account) ?? [] {
            waiter.answer(outcome)
        }
    }

    /// Sends away those who have waited for too long.
    func expireWaiters(at now: Moment) {
        for (account, waiting) in waiters where waiting.contains(where: { $0.remaining(at: now) == .zero }) {
            let rest = waiting.filter { $0.remaining(at: now) > .zero }
            waiters[account] = rest.isEmpty ? nil : rest
            for waiter in waiting where waiter.remaining(at: now) == .zero {
                waiter.answer(.timedOut)
            }
        }
    }

    func snapshot(of record: Record, at now: Moment) -> AccountSnapshot {
        AccountSnapshot(
            account: record.account,
            state: record.state,
            at: now,
            clockSkew: clockSkew(of: record.issuerID),
            lastFailure: exchanges[record.account.id]?.lastFailure
        )
    }

    // MARK: Subscribers

    /// Tells subscribers and the journal what happened to an account.
    func announce(
        _ announcement: Announcement,
        of record: Record,
        at now: Moment,
        correlationID: String? = nil
    ) {
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
    }

    /// Adds a subscriber, whose present state has been sent in the same turn of the queue.
    func subscribe(_ responder: VarlinkResponder, to accounts: Set<AccountID>?) {
        let number = subscribers.add(Subscribers.Subscriber(responder: responder, accounts: accounts))
        responder.onDisconnect { [weak self, queue] in
            queue.async { [weak self] in
                self?.assumeIsolated { $0.subscribers.remove(number) }
            }
        }
    }
}
