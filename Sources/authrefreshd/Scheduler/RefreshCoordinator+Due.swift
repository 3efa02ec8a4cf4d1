internal import AccountStorage
internal import Logging
internal import RefreshCore

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
