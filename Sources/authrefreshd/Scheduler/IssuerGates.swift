internal import RefreshCore

/// The gates of all issuers that are being asked, and who stands before them.
///
/// An issuer whose gate is shut is *backlogged*: its due accounts stay in the store, whose index by issuer finds them again. One that has
/// been so for `longestCatchUp` without a break is *behind*: its accounts ask for more than it may be asked.
struct IssuerGates {
    private struct Backlog {
        let issuer: Issuer
        var since: Moment
        /// When its accounts were last looked for.
        var seenAt: Moment
        var isBehind = false
    }

    /// A burst of accounts that are due together, as after a night's sleep, is over by then.
    static let longestCatchUp = Duration.seconds(600)
    /// What is not looked at for so long was not waiting for its gate: the machine slept, or the store could not be used.
    private static let longestGap = Duration.seconds(120)

    private var gates: [IssuerID: IssuerGate] = [:]
    /// Accounts whose callers wait for a refresh, in the order of their calls; they go before the accounts that are merely due.
    private var waiting: [IssuerID: [(account: AccountID, event: Event)]] = [:]
    private var backlogs: [IssuerID: Backlog] = [:]

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

    var backlogged: Set<IssuerID> { Set(backlogs.keys) }

    /// Those that are behind, and since when.
    var behind: [(issuer: Issuer, since: Moment)] {
        backlogs.values.filter(\.isBehind).map { ($0.issuer, $0.since) }.sorted { $0.issuer.url < $1.issuer.url }
    }

    mutating func markBacklogged(_ id: IssuerID, _ issuer: Issuer, at now: Moment) {
        if backlogs[id] == nil { backlogs[id] = Backlog(issuer: issuer, since: now, seenAt: now) }
    }

    /// Nobody waits for the issuer any more.
    ///
    /// - Returns: the issuer, if it was behind.
    mutating func markServed(_ id: IssuerID) -> Issuer? {
        guard let backlog = backlogs.removeValue(forKey: id), backlog.isBehind else { return nil }
        return backlog.issuer
    }

    /// Notes that an issuer's accounts are looked for.
    ///
    /// - Returns: the issuer, if it is behind from now on.
    mutating func look(at id: IssuerID, at now: Moment) -> Issuer? {
        guard var backlog = backlogs[id] else { return nil }
        if now.elapsed(since: backlog.seenAt) > Self.longestGap { backlog.since = now }
        backlog.seenAt = now
        defer { backlogs[id] = backlog }
        guard !backlog.isBehind, now.elapsed(since: backlog.since) >= Self.longestCatchUp else { return nil }
        backlog.isBehind = true
        return backlog.issuer
    }

    /// Puts an account in line, once for each event however many callers it has.
    mutating func queue(_ account: AccountID, _ event: Event, at id: IssuerID, _ issuer: Issuer, at now: Moment) {
        markBacklogged(id, issuer, at: now)
        guard !waiting[id, default: []].contains(where: { $0 == (account, event) }) else { return }
        waiting[id, default: []].append((account, event))
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
        backlogs.keys.compactMap { gates[$0]?.wait(at: now) }.min().map { now.wall + $0 }
    }

    /// Forgets gates that nothing is known of any more: those without requests whose allowance is full again.
    mutating func forgetIdle(at now: Moment) {
        gates = gates.filter { $0.value.inFlight > 0 || backlogs[$0.key] != nil || !$0.value.isFull(at: now) }
    }
}
