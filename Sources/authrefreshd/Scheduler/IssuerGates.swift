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

/// Keeps callers from having a server asked more than once a second for the same token.
///
/// Whoever asks again within that second waits for the rest of it; then one request answers all of them. So `--force` and `Refresh` always
/// bring what is newer than the call, and a program in a loop costs one request a second.
struct AskingPace {
    /// The time between two requests for the same token that callers cause.
    static let interval = RefreshRule.shortestInterval

    /// What is asked for: a token target, or, if that is nil, the account's default token.
    private struct Token: Hashable {
        let account: AccountID
        let target: TokenTarget?
    }

    private var lastAsked: [Token: Moment] = [:]
    /// Arrivals that wait for the rest of their second, in their order; one for each event however many callers it has.
    private var postponed: [Arrival] = []
    /// How many tokens may be remembered before those that were asked for long ago are forgotten.
    private var crowd = 64

    /// Notes that the server is being asked for a token.
    mutating func note(_ account: AccountID, _ target: TokenTarget?, at now: Moment) {
        if lastAsked.count >= crowd {
            lastAsked = lastAsked.filter { Self.rest(since: $0.value, at: now) > .zero }
            crowd = max(64, 2 * lastAsked.count)
        }
        lastAsked[Token(account: account, target: target)] = now
    }

    /// Puts `arrival` off if the server was asked for the same token less than a second ago.
    ///
    /// - Returns: whether it has to wait; `takeReady` brings it again.
    mutating func postpone(_ arrival: Arrival, at now: Moment) -> Bool {
        guard arrival.event.isForWaiters, rest(of: arrival, at: now) > .zero else { return false }
        if !postponed.contains(where: { $0.account == arrival.account && $0.event == arrival.event }) {
            postponed.append(arrival)
        }
        return true
    }

    /// The events of an account that wait for the rest of their second.
    func postponed(of account: AccountID) -> Set<Event> {
        Set(postponed.lazy.filter { $0.account == account }.map(\.event))
    }

    /// Takes the arrivals whose second is over.
    mutating func takeReady(at now: Moment) -> [Arrival] {
        guard !postponed.isEmpty else { return [] }
        let ready = postponed.filter { rest(of: $0, at: now) == .zero }
        if !ready.isEmpty { postponed = postponed.filter { rest(of: $0, at: now) > .zero } }
        return ready
    }

    /// How long it is until `takeReady` has something; nil if nothing waits.
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

/// Places for work of which there may be so much at a time.
struct Places {
    private let maximum: Int
    private var taken = 0

    init(_ maximum: Int) {
        self.maximum = maximum
    }

    var areFree: Bool { taken == 0 }

    /// - Returns: whether there was one.
    mutating func take() -> Bool {
        guard taken < maximum else { return false }
        taken += 1
        return true
    }

    mutating func giveBack() {
        taken -= 1
    }
}

/// How much is done in one turn of work that shares the coordinator's queue with callers and refreshes.
struct BatchSize: Hashable, Sendable {
    /// How long one batch may keep the queue from the others: less than a person notices, and enough that a commit is shared.
    private static let longestBatch = Duration.milliseconds(20)
    private static let bounds = 8...1024

    /// Accounts or pages, as the work counts.
    private(set) var count = 64

    /// Makes the next batch smaller if one took too long, and larger if it took next to no time: disks and secrets differ.
    mutating func fit(to time: Duration) {
        if time > Self.longestBatch {
            count = max(count / 2, Self.bounds.lowerBound)
        } else if time < Self.longestBatch / 4 {
            count = min(count * 2, Self.bounds.upperBound)
        }
    }
}
