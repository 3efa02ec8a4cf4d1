internal import RefreshCore

/// The gates of all issuers that are being asked, and the accounts that wait for them.
///
/// An issuer with a closed gate is *backlogged*: its due accounts stay in the store, where the index by issuer finds
/// them again. If that lasts for `longestCatchUp` without a break, the issuer is *behind*: its accounts need more
/// requests than are allowed.
struct IssuerGates {
    private struct Backlog {
        let issuer: Issuer
        var since: Moment
        /// When its accounts were last checked.
        var seenAt: Moment
        var isBehind = false
    }

    /// A burst of accounts that are due together, for example after a night's sleep, is over by then.
    static let longestCatchUp = Duration.seconds(600)
    /// If an issuer was not checked for this long, it was not waiting for its gate: the machine slept, or the store
    /// could not be used.
    private static let longestGap = Duration.seconds(120)

    private var gates: [IssuerID: IssuerGate] = [:]
    /// Accounts whose callers wait for a refresh, in the order of their calls. They come before accounts that are only
    /// due.
    private var waiting: [IssuerID: [(account: AccountID, event: Event)]] = [:]
    private var backlogs: [IssuerID: Backlog] = [:]

    /// How many requests may start for `issuer` at `now`, within `limits`.
    mutating func openSlots(for issuer: IssuerID, limits: IssuerGate.Limits, at now: Moment) -> Int {
        var gate = gates[issuer] ?? IssuerGate(limits: limits, at: now)
        gate.limits = limits
        defer { gates[issuer] = gate }
        return gate.openSlots(at: now)
    }

    /// The same for an issuer that already has a gate, because it was asked before; 0 for other issuers.
    mutating func openSlots(for issuer: IssuerID, at now: Moment) -> Int {
        gates[issuer]?.openSlots(at: now) ?? 0
    }

    /// Begins a request.
    ///
    /// - Returns: the request's place, for `leave`.
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

    /// Records what an issuer's answer to a request of `account`, which began at `start`, says about the rate of
    /// requests.
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

    /// The issuers that are behind, and since when.
    var behind: [(issuer: Issuer, since: Moment)] {
        backlogs.values.filter(\.isBehind).map { ($0.issuer, $0.since) }.sorted { $0.issuer.url < $1.issuer.url }
    }

    mutating func markBacklogged(_ id: IssuerID, _ issuer: Issuer, at now: Moment) {
        if backlogs[id] == nil { backlogs[id] = Backlog(issuer: issuer, since: now, seenAt: now) }
    }

    /// Records that no account waits for the issuer any more.
    ///
    /// - Returns: the issuer, if it was behind.
    mutating func markServed(_ id: IssuerID) -> Issuer? {
        guard let backlog = backlogs.removeValue(forKey: id), backlog.isBehind else { return nil }
        return backlog.issuer
    }

    /// Records that an issuer's accounts are being checked.
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

    /// Queues an account, once for each event, however many callers it has.
    mutating func queue(_ account: AccountID, _ event: Event, at id: IssuerID, _ issuer: Issuer, at now: Moment) {
        markBacklogged(id, issuer, at: now)
        guard !waiting[id, default: []].contains(where: { $0 == (account, event) }) else { return }
        waiting[id, default: []].append((account, event))
    }

    /// Takes up to `count` waiting accounts of `issuer`, in order.
    mutating func takeWaiting(at issuer: IssuerID, upTo count: Int) -> [(account: AccountID, event: Event)] {
        guard let queue = waiting[issuer] else { return [] }
        let rest = queue.dropFirst(count)
        waiting[issuer] = rest.isEmpty ? nil : Array(rest)
        return Array(queue.prefix(count))
    }

    /// When the first backlogged issuer's rate allows a request; nil if a request has to end first.
    func nextOpening(at now: Moment) -> Timestamp? {
        backlogs.keys.compactMap { gates[$0]?.wait(at: now) }.min().map { now.wall + $0 }
    }

    /// Removes gates without requests whose allowance is full again.
    mutating func forgetIdle(at now: Moment) {
        gates = gates.filter { $0.value.inFlight > 0 || backlogs[$0.key] != nil || !$0.value.isFull(at: now) }
    }
}

/// Limits the requests that callers cause to one per second for the same token.
///
/// A caller that asks again within that second waits for the rest of it, and then one request answers all such callers.
/// So `--force` and `Refresh` always bring a token newer than the call, and a program in a loop costs one request per
/// second. That includes a program that reports each new token as refused.
struct AskingPace {
    /// The shortest time between two requests for the same token that callers cause.
    static let interval = RefreshRule.shortestInterval

    /// A requested token: a token target, or the account's default token if that is nil.
    private struct Token: Hashable {
        let account: AccountID
        let target: TokenTarget?
    }

    private var lastAsked: [Token: Moment] = [:]
    /// Arrivals that wait for the rest of their second, in order; one for each event, however many callers it has.
    private var postponed: [Arrival] = []
    /// How many tokens are stored before old ones are removed.
    private var crowd = 64

    /// Records that the server is being asked for a token.
    mutating func note(_ account: AccountID, _ target: TokenTarget?, at now: Moment) {
        if lastAsked.count >= crowd {
            lastAsked = lastAsked.filter { Self.rest(since: $0.value, at: now) > .zero }
            crowd = max(64, 2 * lastAsked.count)
        }
        lastAsked[Token(account: account, target: target)] = now
    }

    /// Postpones `arrival` if the server was asked for the same token less than a second ago.
    ///
    /// - Returns: whether it was postponed; `takeReady` returns it later.
    mutating func postpone(_ arrival: Arrival, at now: Moment) -> Bool {
        guard arrival.event.isPaced, rest(of: arrival, at: now) > .zero else { return false }
        if !postponed.contains(where: { $0.account == arrival.account && $0.event == arrival.event }) {
            postponed.append(arrival)
        }
        return true
    }

    /// The postponed events of an account.
    func postponed(of account: AccountID) -> Set<Event> {
        Set(postponed.lazy.filter { $0.account == account }.map(\.event))
    }

    /// Removes and returns the arrivals whose second is over.
    mutating func takeReady(at now: Moment) -> [Arrival] {
        guard !postponed.isEmpty else { return [] }
        let ready = postponed.filter { rest(of: $0, at: now) == .zero }
        if !ready.isEmpty { postponed = postponed.filter { rest(of: $0, at: now) > .zero } }
        return ready
    }

    /// How long until `takeReady` returns something; nil if nothing is postponed.
    func wait(at now: Moment) -> Duration? {
        postponed.map { rest(of: $0, at: now) }.min()
    }

    private func rest(of arrival: Arrival, at now: Moment) -> Duration {
        let last = lastAsked[Token(account: arrival.account, target: arrival.event.target)]
        return last.map { Self.rest(since: $0, at: now) } ?? .zero
    }

    private static func rest(since last: Moment, at now: Moment) -> Duration {
        max(interval - now.elapsed(since: last), .zero)
    }
}

/// How much is done in one turn of work that shares the coordinator's queue with callers and refreshes.
struct BatchSize: Hashable, Sendable {
    /// How long one batch may occupy the queue: too short for a person to notice, but long enough for a shared commit.
    private static let longestBatch = Duration.milliseconds(20)
    private static let bounds = 8...1024

    /// The number of accounts or pages, depending on the work.
    private(set) var count = 64

    /// Makes the next batch smaller if this one took too long, and larger if it was very fast, because disks and
    /// secrets differ.
    mutating func fit(to time: Duration) {
        if time > Self.longestBatch {
            count = max(count / 2, Self.bounds.lowerBound)
        } else if time < Self.longestBatch / 4 {
            count = min(count * 2, Self.bounds.upperBound)
        }
    }
}
