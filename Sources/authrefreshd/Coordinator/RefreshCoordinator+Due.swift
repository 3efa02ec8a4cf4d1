internal import AccountStorage
internal import RefreshCore

/// What the store says is due.
extension RefreshCoordinator {
    /// How many accounts are decided on in one turn: one commit for all of them, and callers are answered between turns.
    static let batchSize = 256

    /// The accounts that can be taken up now: those that waited at a gate, those whose deadline has come, and those that a network
    /// coming up concerns.
    func dueArrivals(at now: Moment) throws(StoreError) -> [Arrival] {
        guard !isStopping, trouble == nil else { return [] }
        var arrivals: [Arrival] = []
        for issuer in gates.backlogged {
            arrivals += try backlog(of: issuer, at: now)
        }
        let room = Self.batchSize - arrivals.count
        if room > 0 {
            let due = try store.due(at: now.wall, online: isOnline, excluding: gates.backlogged, limit: room)
            arrivals += due.map { Arrival(account: $0, event: .deadlineReached) }
        }
        return arrivals + (try connectivityArrivals())
    }

    private func backlog(of issuer: IssuerID, at now: Moment) throws(StoreError) -> [Arrival] {
        let slots = gates.openSlots(for: issuer, at: now)
        guard slots > 0 else { return [] }
        let waiting = gates.takeWaiting(at: issuer, upTo: slots)
        let due = try store.due(issuer: issuer, at: now.wall, online: isOnline, limit: slots - waiting.count)
        if waiting.count + due.count < slots { gates.markServed(issuer) }
        return waiting.map { Arrival(account: $0.account, event: $0.event) }
            + due.map { Arrival(account: $0, event: .deadlineReached) }
    }

    /// The next accounts in the walk over those that back off for want of a network.
    private func connectivityArrivals() throws(StoreError) -> [Arrival] {
        guard let cursor = connectivityCursor else { return [] }
        let accounts = try store.awaitingConnectivity(after: cursor, limit: Self.batchSize)
        connectivityCursor = accounts.count < Self.batchSize ? nil : accounts.last
        return accounts.map { Arrival(account: $0, event: .connectivityRestored) }
    }
}
