internal import RefreshCore

/// The gates of all issuers that are being asked, and who stands before them.
///
/// An issuer whose gate is shut is *backlogged*: its due accounts stay in the store, whose index by issuer finds them again.
struct IssuerGates {
    private var gates: [IssuerID: IssuerGate] = [:]
    /// Accounts whose callers wait for a refresh, in the order of their calls; they go before the accounts that are merely due.
    private var waiting: [IssuerID: [(account: AccountID, event: Event)]] = [:]
    private(set) var backlogged: Set<IssuerID> = []

    /// Requests that may start for `issuer`, which may be asked within `limits`, at `now`.
    mutating func openSlots(for issuer: IssuerID, limits: IssuerGate.Limits, at now: Moment) -> Int {
        var gate = gates[issuer] ?? IssuerGate(limits: limits, at: now)
        gate.limits = limits
        defer { gates[issuer] = gate }
        return gate.openSlots(at: now)
    }

    /// The same for an issuer that has been asked before, and so has a gate; 0 for any other.
    mutating func openSlots(for issuer: IssuerID, at now: Moment) -> Int {
        gates[issuer]?.openSlots(at: now) ?? 0
    }

    /// - Returns: the request's place, to leave by.
    mutating func enter(
        _ issuer: IssuerID,
        limits: @autoclosure () -> IssuerGate.Limits,
        at now: Moment
    ) -> IssuerGate.Place {
        gates[issuer, default: IssuerGate(limits: limits(), at: now)].enter(at: now)
    }

    mutating func leave(_ issuer: IssuerID, _ place: IssuerGate.Place) {
        gates[issuer]?.leave(place)
    }

    /// Notes what an issuer's answer to a request of `account`, which began at `start`, says about the rate of requests.
    mutating func note(
        _ outcome: IssuerGate.Word,
        of issuer: IssuerID,
        to account: AccountID,
        askedAt start: Moment,
        at now: Moment
    ) {
        gates[issuer]?.note(outcome, to: account, askedAt: start, at: now)
    }

    mutating func markBacklogged(_ issuer: IssuerID) {
        backlogged.insert(issuer)
    }

    mutating func markServed(_ issuer: IssuerID) {
        backlogged.remove(issuer)
    }

    /// Puts an account in line, once for each event however many callers it has.
    mutating func queue(_ account: AccountID, _ event: Event, at issuer: IssuerID) {
        backlogged.insert(issuer)
        guard !waiting[issuer, default: []].contains(where: { $0 == (account, event) }) else { return }
        waiting[issuer, default: []].append((account, event))
    }

    /// Takes up to `count` waiting accounts of `issuer`, first come first.
    mutating func takeWaiting(at issuer: IssuerID, upTo count: Int) -> [(account: AccountID, event: Event)] {
        guard let queue = waiting[issuer] else { return [] }
        let rest = queue.dropFirst(count)
        waiting[issuer] = rest.isEmpty ? nil : Array(rest)
        return Array(queue.prefix(count))
    }

    /// When the first backlogged issuer's rate allows a request; nil if only the end of a request can help.
    func nextOpening(at now: Moment) -> Timestamp? {
        backlogged.compactMap { gates[$0]?.wait(at: now) }.min().map { now.wall + $0 }
    }

    /// Forgets gates that nothing is known of any more: those without requests whose allowance is full again.
    mutating func forgetIdle(at now: Moment) {
        gates = gates.filter { $0.value.inFlight > 0 || backlogged.contains($0.key) || !$0.value.isFull(at: now) }
    }
}
