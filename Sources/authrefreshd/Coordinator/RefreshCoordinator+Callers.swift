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

    /// The same in the order of their numbers.
    func accounts(afterID id: AccountID, limit: Int) throws(StoreError) -> [ShownAccount] {
        let now = timebase.now()
        return try store.entries(afterID: id, limit: limit).map { shown($0, at: now) }
    }

    /// An account as it was found in the store, as it stands now.
    func shown(_ entry: AccountEntry, at now: Moment) -> ShownAccount {
        switch entry {
        case .intact(let record):
            return .whole(snapshot(of: asKept(record), at: now))
        case .damaged(let account):
            // The next turn comes upon the damage by itself, and sets the account aside if that has not been done.
            hasFoundDamage = true
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
        if let kept = unsaved[account]?.arrivedTokens(for: nil) { return kept.accessToken }
        if let token = justStored[account]?.accessToken { return token }
        return try store.accessToken(of: account)
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
        lastWaiter += 1
        let now = timebase.now()
        let waiter = Waiter(
            number: lastWaiter,
            purpose: purpose,
            request: event,
            since: now,
            patience: Waiter.patience(for: purpose, holding: accessToken, at: now),
            answer: answer
        )
        waiters[account, default: []].append(waiter)
        submit(event, for: account)
        return waiter.number
    }

    /// Forgets a waiter whose caller has gone; what was begun for it goes on.
    func forgetWaiter(_ number: Int, of account: AccountID) {
        let rest = waiters[account]?.filter { $0.number != number } ?? []
        waiters[account] = rest.isEmpty ? nil : rest
    }

    /// Tells those waiters of an account that have what they waited for, or will not get it.
    ///
    /// - Parameter event: what was decided on. Those whom it was not about ask again: exchanges follow one after the other.
    func settleWaiters(of record: Record, after event: Event, at now: Moment) {
        let id = record.account.id
        guard let waiting = waiters.removeValue(forKey: id) else { return }
        let snapshot = snapshot(of: record, at: now)
        var times: [TokenSet?: AccessTokenTimes] = [:]
        for set in Set(waiting.map(\.tokenSet)) { times[set] = accessTokenTimes(of: record, for: set) }
        var rest: [Waiter] = []
        var settled: [(waiter: Waiter, outcome: WaitOutcome)] = []
        for waiter in waiting {
            if let outcome = outcome(for: waiter, holding: times[waiter.tokenSet], snapshot, after: event) {
                settled.append((waiter, outcome))
            } else {
                rest.append(waiter)
            }
        }
        if !rest.isEmpty { waiters[id] = rest }
        for (waiter, outcome) in settled { waiter.answer(outcome) }
        guard record.state.phase == .scheduled else { return }
        var asked: Set<Event> = []
        for waiter in rest where asked.insert(waiter.request).inserted { submit(waiter.request, for: id) }
    }

    /// What a waiter is told; nil if it has to wait on.
    private func outcome(
        for waiter: Waiter,
        holding accessToken: AccessTokenTimes?,
        _ snapshot: AccountSnapshot,
        after event: Event
    ) -> WaitOutcome? {
        if waiter.isSatisfied(by: accessToken, at: snapshot.at) { return .settled(snapshot) }
        switch snapshot.state.phase {
        case .refreshing: return isOverdue(snapshot.account.id) ? .notNow(Self.overdueText, snapshot) : nil
        case .signedOut, .backingOff, .interactionRequired, .parked: return .settled(snapshot)
        case .scheduled:
            // Nothing was asked yet.
            if case .leaseReturned = event { return nil }
            let account = snapshot.account.id
            if !event.isAnswer, pace.holds(waiter.request, of: account) { return nil }
            if let set = waiter.tokenSet,
                let failure = tokenSetFailures.failure(of: set, for: account, since: waiter.since)
            {
                return .tokenSetFailed(failure, snapshot)
            }
            // The next attempt follows at once.
            if snapshot.state.isRefreshable, waiter.isLeftWanting(by: accessToken, at: snapshot.at) { return nil }
            return waiter.tokenSet == event.tokenSet ? .settled(snapshot) : nil
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
            lastFailure: exchanges[record.account.id]?.lastFailure,
            stepUp: stepUps[record.account.id],
            needsClientSecret: needsClientSecret(record.account, at: now.wall)
        )
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
