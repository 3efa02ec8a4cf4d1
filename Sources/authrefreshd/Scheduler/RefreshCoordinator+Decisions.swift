internal import AccountStorage
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import SignIn

/// What is due, and when there is something to do next.
extension RefreshCoordinator {
    /// How many accounts are decided on in one turn: one commit for all of them, and callers are answered between turns.
    static let batchSize = 256

    /// Adds the accounts to `arrivals` that can be taken up now: those that waited at a gate, those whose deadline has come, and those that
    /// a network coming up concerns.
    ///
    /// - Returns: whether there were any.
    /// - Throws: `StoreError` if the store cannot be read; those that have been found until then are added.
    func takeDue(into arrivals: inout [Arrival], at now: Moment) throws(StoreError) -> Bool {
        guard !isStopping, trouble == nil, host.timeToSleep(at: now) == nil else { return false }
        let before = arrivals.count
        arrivals += pace.takeReady(at: now)
        for issuer in gates.backlogged {
            if let behind = gates.look(at: issuer, at: now) { paceChanged(of: behind, .issuerBehind) }
            try takeBacklog(of: issuer, into: &arrivals, at: now)
        }
        let room = Self.batchSize - (arrivals.count - before)
        if room > 0 {
            let due = try store.due(at: now.wall, online: host.isOnline, excluding: gates.backlogged, limit: room)
            arrivals += due.map { Arrival(account: $0, event: .deadlineReached) }
        }
        arrivals += try connectivityArrivals()
        return arrivals.count > before
    }

    private func takeBacklog(
        of issuer: IssuerID,
        into arrivals: inout [Arrival],
        at now: Moment
    ) throws(StoreError) {
        let slots = gates.openSlots(for: issuer, at: now)
        guard slots > 0 else { return }
        let waiting = gates.takeWaiting(at: issuer, upTo: slots)
        arrivals += waiting.map { Arrival(account: $0.account, event: $0.event) }
        let due = try store.due(issuer: issuer, at: now.wall, online: host.isOnline, limit: slots - waiting.count)
        arrivals += due.map { Arrival(account: $0, event: .deadlineReached) }
        if waiting.count + due.count < slots, let issuer = gates.markServed(issuer) {
            paceChanged(of: issuer, .issuerCaughtUp)
        }
    }

    /// Tells that an issuer's accounts have begun, or ceased, to ask for more than it may be asked.
    private func paceChanged(of issuer: Issuer, _ event: JournalEvent) {
        changeLog.write(event, [JournalKey.issuer: "\(issuer.url)"])
        onStatusChange()
    }

    /// The next accounts in the walk over those that back off for want of a network.
    private func connectivityArrivals() throws(StoreError) -> [Arrival] {
        guard let cursor = connectivityCursor else { return [] }
        let accounts = try store.awaitingConnectivity(after: cursor, limit: Self.batchSize)
        connectivityCursor = accounts.count < Self.batchSize ? nil : accounts.last
        return accounts.map { Arrival(account: $0, event: .connectivityRestored) }
    }

    /// Arms the timer on the earliest of everything that waits for a time that is ahead. What is past and has not been taken up waits for
    /// something else: its issuer's gate, a network, the store.
    func arm(at now: Moment) {
        guard !isTurnScheduled else { return }
        var deadlines = [nextStoredDeadline(at: now)]
        deadlines.append(callers.remaining(at: now).map { now.wall + $0 })
        deadlines.append(signIns.remaining(at: now).map { now.wall + $0 })
        if let trouble {
            deadlines.append(now.wall + trouble.remaining(at: now))
        } else if let timeToSleep = host.timeToSleep(at: now) {
            deadlines.append(now.wall + timeToSleep)
        } else if !isStopping {
            deadlines.append(gates.nextOpening(at: now))
            deadlines.append(pace.wait(at: now).map { now.wall + $0 })
        }
        let deadline = deadlines.compactMap { $0 }.min()
        // While requests are under way, firing too early once costs less than arming anew in every turn; their ends bring the next.
        if exchanges.areYoung, let armed = timer?.deadline, armed > now.wall, deadline.map({ $0 > armed }) ?? true {
            return
        }
        timer?.arm(at: deadline)
    }

    /// Nil if there is none, if nothing may be begun, or if the store cannot tell, which is its trouble then.
    private func nextStoredDeadline(at now: Moment) -> Timestamp? {
        guard trouble == nil, !isStopping, host.timeToSleep(at: now) == nil else { return nil }
        do {
            return try store.nextDeadline(after: now.wall, online: host.isOnline)
        } catch {
            storeFailed(error, with: [], at: now)
            return nil
        }
    }
}

/// Decide, commit, act.
extension RefreshCoordinator {
    /// Decides on `arrivals` in their order, commits all decisions at once, and acts on them.
    ///
    /// What could not be committed earlier goes first. With nothing to write a store that failed is tried with a write of its own.
    ///
    /// - Returns: the accounts whose arrivals came to nothing, and why: they cannot be read, or what was decided contradicts the store.
    /// - Throws: `StoreError` if nothing could be committed; answers of the server are then kept in memory, and everything else is as
    ///   if it had not happened.
    @discardableResult
    func decide(_ arrivals: [Arrival], at now: Moment) throws(StoreError) -> [AccountID: StoreError] {
        let (decisions, damaged) = try decisions(on: arrivals, at: now)
        let arrears = unstored.inOrder
        let all = arrears.isEmpty ? decisions : arrears + decisions
        let outcome: (committed: [Decision], refused: [AccountID: StoreError])
        do throws(StoreError) {
            try setAside(damaged, at: now)
            outcome = try commit(all)
        } catch {
            // They may carry the only refresh tokens that the server still takes.
            for decision in decisions where decision.carriesAnswer { unstored.keep(decision) }
            throw error
        }
        unstored.removeAll()
        if trouble != nil { storeRecovered() }
        // The timer is for what is ahead. A token that has ended while its answer was on its way, with the machine asleep, is due now.
        if outcome.committed.contains(where: { $0.isDue(at: now) }) { wake() }
        act(on: outcome.committed, at: now)
        if !outcome.refused.isEmpty {
            let refused = all.filter { outcome.refused[$0.record.account.id] != nil }
            dismiss(refused, outcome.refused, at: now)
        }
        // After what has been committed, which may be another registration; and after the requests that are sent with these.
        do throws(StoreError) {
            try storeRegistrations(at: now)
        } catch {
            storeFailed(error, with: [], at: now)
        }
        return damaged.mapValues(\.cause).merging(outcome.refused) { damage, _ in damage }
    }

    /// Decides on what a person wants at once.
    ///
    /// - Throws: `StoreError` if it was not committed. An answer of the server is kept then, and committed as soon as that is possible.
    func decideNow(_ arrival: Arrival, at now: Moment) throws(StoreError) {
        let refusals: [AccountID: StoreError]
        do throws(StoreError) {
            refusals = try decide([arrival], at: now)
        } catch {
            if arrival.event.isAnswer {
                storeFailed(error, with: [arrival], at: now)
                wake()
            }
            throw error
        }
        if let refusal = refusals[arrival.account] { throw refusal }
    }

    /// Commits all decisions but those of accounts for which the store says that they can never be right: they would be refused
    /// again and again, and every other account's with them.
    private func commit(
        _ decisions: [Decision]
    ) throws(StoreError) -> (committed: [Decision], refused: [AccountID: StoreError]) {
        var rest = decisions
        var refused: [AccountID: StoreError] = [:]
        while true {
            let writes = rest.compactMap(\.write)
            do throws(StoreError) {
                // A commit of nothing proves nothing.
                if trouble != nil && writes.isEmpty { try store.probe() }
                try store.commit(writes)
                return (rest, refused)
            } catch {
                guard let account = error.contradictedAccount ?? error.damagedAccount, refused[account] == nil else {
                    throw error
                }
                refused[account] = error
                rest.removeAll { $0.record.account.id == account }
            }
        }
    }

    /// The account and its state: as it will be stored, if that could not be done yet.
    func entry(of account: AccountID) throws(StoreError) -> AccountEntry? {
        if let kept = unstored[account] { return .intact(kept.record) }
        return try store.entry(account)
    }

    private func decisions(
        on arrivals: [Arrival],
        at now: Moment
    ) throws(StoreError) -> ([Decision], damaged: [AccountID: DamagedAccount]) {
        var decisions: [Decision] = []
        var damaged: [AccountID: DamagedAccount] = [:]
        var records: [AccountID: Record] = [:]
        var starting: [IssuerID: Int] = [:]
        for arrival in arrivals {
            let known = records[arrival.account].map(AccountEntry.intact)
            // An account that was removed meanwhile has nothing to be decided.
            guard let entry = if let known { known } else { try entry(of: arrival.account) } else { continue }
            guard case .intact(let record) = entry else {
                if case .damaged(let account) = entry { damaged[arrival.account] = account }
                continue
            }
            guard isStillWanted(arrival, of: record, at: now) else { continue }
            let decision = decision(on: arrival, of: record, at: now)
            if decision.sends, decision.event.waitsForGate {
                if mayStart(record.account, at: now), pace.postpone(arrival, at: now) { continue }
                let issuer = record.issuerID
                let slots = gates.openSlots(for: issuer, limits: settings.limits(for: record.account), at: now)
                guard mayStart(record.account, at: now), slots > starting[issuer, default: 0] else {
                    hold(arrival, of: record)
                    continue
                }
                starting[issuer, default: 0] += 1
            }
            records[arrival.account] = decision.record
            decisions.append(decision)
        }
        return (decisions, damaged)
    }

    private func decision(on arrival: Arrival, of record: Record, at now: Moment) -> Decision {
        let continues = arrival.event == .deadlineReached && record.state.phase.isExchange(exchanges[arrival.account])
        let event = continues ? .exchangeContinues : arrival.event
        var after = record
        if let change = arrival.settings { after.account = change.applied(to: record.account) }
        var machine = RefreshMachine(state: record.state, policy: settings.policy(of: after.account))
        let effects = machine.handle(event, at: now, jitter: timebase.jitter())
        after.state = machine.state
        if let learned = arrival.learnedEncoding { after.account.basicCredentialEncoding = learned }
        if effects.first == .persist(.replace) { after.account.grantFacts = arrival.grantFacts }
        var write: StateWrite?
        if case .persist(let change)? = effects.first {
            write = StateWrite(
                account: arrival.account,
                base: record.state.generation,
                state: machine.state,
                tokens: TokenWrite(change, arrival.tokens, arrival.grantFacts),
                settings: arrival.settings,
                learnedEncoding: arrival.learnedEncoding
            )
        }
        let isNewGrant = effects.first == .persist(.replace)
        let hasNewToken = machine.state.accessToken != nil && machine.state.accessToken != record.state.accessToken
        let callsUser = effects.contains { if case .publish(.interactionRequired) = $0 { true } else { false } }
        return Decision(
            record: after,
            arrival: arrival,
            event: event,
            effects: effects,
            write: write,
            accountBefore: arrival.settings == nil ? nil : record.account,
            failureBefore: record.state.phase.failure,
            concernsDerived: isNewGrant || hasNewToken || callsUser
        )
    }

    /// Whether somebody still waits for what `arrival` asks for.
    ///
    /// Callers ask one by one, and one request serves them all: its answer may have come since they asked (it stands before them in
    /// the queue, or they waited at the issuer's gate).
    private func isStillWanted(_ arrival: Arrival, of record: Record, at now: Moment) -> Bool {
        guard arrival.event.isForWaiters else { return true }
        let set = arrival.event.tokenSet
        let accessToken = accessTokenTimes(of: record, for: set)
        // A set's token that is used is replaced before it ends: nobody waits for that.
        if set != nil, accessToken?.isDue(at: now) == true { return true }
        return callers.want(set, of: arrival.account, holding: accessToken, at: now)
    }

    /// Whether anything may be sent for an account now, its issuer's gate apart.
    private func mayStart(_ account: Account, at now: Moment) -> Bool {
        trouble == nil && !isStopping && host.timeToSleep(at: now) == nil
            && (host.isOnline || account.issuer.isLoopback)
    }

    /// Puts off an arrival that wants to send something that may not be sent now.
    private func hold(_ arrival: Arrival, of record: Record) {
        let issuer = record.issuerID
        if let trouble {
            answerWaiters(of: arrival.account, with: .storeFailed(trouble))
        } else if isStopping {
            answerWaiters(of: arrival.account, with: .stopping)
        } else if !host.isOnline && !record.account.issuer.isLoopback {
            let reason = "there is no network route, and the next attempt follows when there is one"
            answerWaiters(of: arrival.account, with: .notNow(reason, snapshot(of: record, at: timebase.now())))
        } else if arrival.event == .deadlineReached {
            // It stays due in the store, and is found there again.
            gates.markBacklogged(issuer, record.account.issuer, at: timebase.now())
        } else {
            gates.queue(arrival.account, arrival.event, at: issuer, record.account.issuer, at: timebase.now())
        }
    }
}

extension Phase {
    /// Whether this is the phase of `exchange`, which is under way; an exchange of an earlier grant is none of its business.
    fileprivate func isExchange(_ exchange: Exchange?) -> Bool {
        guard let exchange, case .refreshing(let lease) = self else { return false }
        return exchange.lease == lease
    }
}

extension TokenWrite {
    /// - Parameter tokens: what came with the event; there is no `store` without them.
    fileprivate init(_ change: TokenChange, _ tokens: StoredTokens?, _ facts: GrantFacts) {
        switch change {
        case .unchanged: self = .unchanged
        case .store: self = tokens.map(TokenWrite.store) ?? .unchanged
        case .storeGrant: self = tokens.map(TokenWrite.storeGrant) ?? .unchanged
        case .replace: self = tokens.map { .replace($0, facts) } ?? .unchanged
        case .storeSet(let set, let times):
            self = tokens.map { .storeSet(TokenSetWrite(set: set, times: times, tokens: $0)) } ?? .unchanged
        case .eraseSet(let set): self = .eraseSet(set)
        case .erase: self = .erase
        }
    }
}

/// Acting on what was decided, once it is committed.
extension RefreshCoordinator {
    /// What others wait for comes first: requests leave, then callers are answered, then everybody is told.
    func act(on decisions: [Decision], at now: Moment) {
        // By place: a decision is large, and there are many.
        var announcements: [(Announcement, of: Int)] = []
        var tokens = refreshTokens(for: decisions)[...]
        for (place, decision) in decisions.enumerated() {
            for effect in decision.effects {
                switch effect {
                case .persist: break
                case .send(let lease, let set):
                    guard let token = tokens.popFirst() else { preconditionFailure("a lease has its token looked up") }
                    let record = decision.record
                    if send(lease, for: set, of: record, spending: token, after: decision.failureBefore, at: now) {
                        announcements.append((.refreshStarted, of: place))
                    }
                case .publish(let change):
                    callers.note(change, of: decision.record.account.id, at: now)
                    stepUps.forget(after: change, of: decision.record.account.id)
                    announcements.append((.changed(change), of: place))
                }
            }
        }
        // Before anybody is answered: who hears of a new grant may ask for what is derived from it at once.
        for decision in decisions where decision.concernsDerived {
            wakeDerived(from: decision.record.account.id)
        }
        for decision in decisions where decision.event.isSignIn {
            tell(.stored, to: decision.record.account.id, at: now)
        }
        for decision in decisions where callers.isAwaited(decision.record.account.id) {
            unstored.noteStored(decision)
        }
        for decision in decisions {
            settleWaiters(of: decision.record, after: decision.event, at: now)
        }
        unstored.forgetStored()
        for (announcement, place) in announcements {
            let decision = decisions[place]
            announceLater(announcement, of: decision.record, at: now, correlationID: decision.arrival.correlationID)
        }
        for decision in decisions { settingsChanged(by: decision, at: now) }
        for decision in decisions { askLifetime(after: decision) }
        subscribers.send()
        if !decisions.isEmpty { showStatus(at: now) }
    }

    /// Asks the server how long an access token lives whose answer did not say it, where the profile says whom to ask (RFC 7662). The client
    /// has asked already for tokens without a refresh token; one that is to be stored waits for nothing.
    private func askLifetime(after decision: Decision) {
        guard !isStopping, decision.event.isIssuance, let tokens = decision.arrivedTokens(for: nil),
            tokens.refreshToken != nil, let token = tokens.accessToken,
            let times = decision.record.state.accessToken, [.notStated, .unreadable].contains(times.basis),
            settings.profile(for: decision.record.account)?.introspectionEndpoint != nil, beginServerCall()
        else { return }
        let (account, correlationID) = (decision.record.account, decision.arrival.correlationID)
        let requesting = requestingClient(of: account, correlationID: correlationID ?? Self.newCorrelationID())
        Task { [client] in
            if let lifetime = await client.introspectedLifetime(of: token, as: requesting) {
                self.submit(.lifetimeLearned(lifetime, issuedAt: times.issuedAt), for: account.id)
            }
            self.serverCallEnded()
        }
    }

    /// What the store holds of the refresh tokens that `decisions` spend, in their order.
    private func refreshTokens(for decisions: [Decision]) -> [Result<RefreshToken?, StoreError>] {
        let leases = decisions.flatMap { decision in
            decision.effects.compactMap { effect -> (account: AccountID, generation: Generation)? in
                guard case .send(let lease, _) = effect else { return nil }
                return (decision.record.account.id, lease.generation)
            }
        }
        guard !leases.isEmpty else { return [] }
        do throws(StoreError) {
            return try store.refreshTokens(of: leases)
        } catch {
            return leases.map { _ in .failure(error) }
        }
    }

    /// While requests are under way, once a second is enough for the status line: the end of each brings the next turn.
    private func showStatus(at now: Moment) {
        if exchanges.areYoung, let shown = statusShownAt, now.elapsed(since: shown) < .seconds(1) { return }
        statusShownAt = now
        onStatusChange()
    }
}
