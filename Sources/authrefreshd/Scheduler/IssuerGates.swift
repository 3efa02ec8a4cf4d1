internal import RefreshCore

/// The gates of all issuers that are being asked, which of them accounts wait for, and how many requests there are in
/// all.
///
/// An issuer with a closed gate is *backlogged*: its due accounts stay in the store, where the index by issuer finds
/// them again, and the wishes of its callers stay with them. If that lasts for `longestCatchUp` without a break, the
/// issuer is *behind*: its accounts need more requests than are allowed.
///
/// An issuer is *silent* if it did not answer its last request. Such requests keep their connections for minutes, because
/// the answer may hold the only refresh token that still works. So silent issuers share a quarter of all requests, and
/// the last quarter is only for issuers that answer. Accounts whose servers are well never wait for silent ones.
struct IssuerGates {
    /// The most requests at a time. Each has a descriptor, and 100 ms with a server that answers: 2,500 in a second.
    static let requestsMax = 256
    private static let quarter = requestsMax / 4

    /// What to expect of an issuer, from its last request.
    enum Expectation {
        case answers
        /// It was never asked.
        case unknown
        case silent
    }

    /// The requests that a turn is about to begin.
    struct Claims {
        fileprivate var ofIssuer: [IssuerID: Int] = [:]
        fileprivate var all = 0
        fileprivate var silent = 0
    }

    private struct Entry {
        var gate: IssuerGate
        var expectation: Expectation
        /// When the latest request began that was answered; nil if none was.
        var answeredStart: Moment?
        /// The requests that have a connection. Those past their time limit have no place at the gate any more.
        var open = 0
    }

    private struct Backlog {
        /// Its place in the order of waiting.
        let number: Int
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

    private var entries: [IssuerID: Entry] = [:]
    /// The requests that have a connection, and those of silent issuers among them.
    private var open = 0
    private var openSilent = 0
    private var backlogs: [IssuerID: Backlog] = [:]
    private var lastNumber = 0

    // MARK: Requests

    /// How many requests may start for `issuer` at `now`, within `limits`.
    ///
    /// - Parameter expectation: what to expect of an issuer that this daemon has not asked yet.
    mutating func openSlots(
        for issuer: IssuerID,
        limits: IssuerGate.Limits,
        expecting expectation: @autoclosure () -> Expectation,
        besides claims: Claims = Claims(),
        at now: Moment
    ) -> Int {
        if entries[issuer] == nil {
            entries[issuer] = Entry(gate: IssuerGate(limits: limits, at: now), expectation: expectation())
        }
        entries[issuer]?.gate.limits = limits
        return openSlots(for: issuer, besides: claims, at: now)
    }

    /// The same for an issuer that already has a gate, because it was asked before; 0 for other issuers.
    mutating func openSlots(for issuer: IssuerID, besides claims: Claims = Claims(), at now: Moment) -> Int {
        guard let slots = entries[issuer]?.gate.openSlots(at: now), let entry = entries[issuer] else { return 0 }
        return max(0, min(slots - claims.ofIssuer[issuer, default: 0], room(for: entry.expectation, besides: claims)))
    }

    /// How many requests may start for issuers of which `expectation` is to be expected, whatever their gates say.
    private func room(for expectation: Expectation, besides claims: Claims) -> Int {
        let free = Self.requestsMax - open - claims.all
        return switch expectation {
        case .answers: free
        case .unknown: free - Self.quarter
        case .silent: min(free - Self.quarter, Self.quarter - openSilent - claims.silent)
        }
    }

    /// Whether any request may start, whatever its issuer. If not, more due accounts would only wait in memory.
    func hasRoom(besides claims: Claims) -> Bool {
        room(for: .answers, besides: claims) > 0
    }

    /// Adds requests for `issuer` that a turn is about to begin.
    func claim(_ count: Int = 1, of issuer: IssuerID, in claims: inout Claims) {
        claims.ofIssuer[issuer, default: 0] += count
        claims.all += count
        if entries[issuer]?.expectation == .silent { claims.silent += count }
    }

    /// Begins a request.
    ///
    /// - Returns: the request's place, for `passLimit` and `end`.
    mutating func enter(
        _ issuer: IssuerID,
        limits: @autoclosure () -> IssuerGate.Limits,
        at now: Moment
    ) -> IssuerGate.Place {
        var entry = entries[issuer] ?? Entry(gate: IssuerGate(limits: limits(), at: now), expectation: .unknown)
        let place = entry.gate.enter(at: now)
        entry.open += 1
        entries[issuer] = entry
        open += 1
        if entry.expectation == .silent { openSilent += 1 }
        return place
    }

    /// Frees the place of a request that has exceeded its time limit. Its connection stays.
    mutating func passLimit(_ place: IssuerGate.Place, of issuer: IssuerID, askedAt start: Moment) {
        entries[issuer]?.gate.leave(place)
        expect(.silent, of: issuer, askedAt: start)
    }

    /// Records the end of a request that began at `start`, once.
    mutating func end(
        _ place: IssuerGate.Place,
        of issuer: IssuerID,
        hasAnswer: Bool,
        askedAt start: Moment,
        at now: Moment
    ) {
        entries[issuer]?.gate.leave(place)
        entries[issuer]?.open -= 1
        open -= 1
        if entries[issuer]?.expectation == .silent { openSilent -= 1 }
        // A refused connection costs no more than an answer.
        let isSilent = !hasAnswer && now.elapsed(since: start) >= IssuerGate.patience
        expect(isSilent ? .silent : .answers, of: issuer, askedAt: start)
    }

    private mutating func expect(_ expectation: Expectation, of issuer: IssuerID, askedAt start: Moment) {
        guard var entry = entries[issuer] else { return }
        // A server that has answered a later request is not silent.
        let isAnsweredLater = entry.answeredStart.map { $0.elapsed(since: start) > .zero } ?? false
        if expectation == .silent, isAnsweredLater { return }
        if expectation == .answers, !isAnsweredLater { entry.answeredStart = start }
        if entry.expectation == .silent { openSilent -= entry.open }
        if expectation == .silent { openSilent += entry.open }
        entry.expectation = expectation
        entries[issuer] = entry
    }

    /// Records what an issuer's answer to a request of `account`, which began at `start`, says about the rate of
    /// requests.
    mutating func note(
        _ outcome: IssuerGate.RateSignal,
        of issuer: IssuerID,
        to account: AccountID,
        askedAt start: Moment,
        at now: Moment
    ) {
        entries[issuer]?.gate.note(outcome, to: account, askedAt: start, at: now)
    }

    /// Removes gates without requests whose allowance is full again. Who is silent stays known.
    mutating func forgetIdle(at now: Moment) {
        entries = entries.filter { id, entry in
            entry.open > 0 || backlogs[id] != nil || entry.expectation == .silent || !entry.gate.isFull(at: now)
        }
    }

    // MARK: Waiting

    var backlogged: Set<IssuerID> { Set(backlogs.keys) }

    /// The backlogged issuers, the longest waiting first.
    var backloggedInOrder: [IssuerID] { backlogs.sorted { $0.value.number < $1.value.number }.map(\.key) }

    /// The issuers that are behind, and since when.
    var behind: [(issuer: Issuer, since: Moment)] {
        backlogs.values.filter(\.isBehind).map { ($0.issuer, $0.since) }.sorted { $0.issuer.url < $1.issuer.url }
    }

    mutating func markBacklogged(_ id: IssuerID, _ issuer: Issuer, at now: Moment) {
        guard backlogs[id] == nil else { return }
        lastNumber += 1
        backlogs[id] = Backlog(number: lastNumber, issuer: issuer, since: now, seenAt: now)
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
    /// - Returns: the issuer, if it is behind from now on. Of a silent one, its accounts say that it does not answer.
    mutating func look(at id: IssuerID, at now: Moment) -> Issuer? {
        guard var backlog = backlogs[id] else { return nil }
        if now.elapsed(since: backlog.seenAt) > Self.longestGap { backlog.since = now }
        backlog.seenAt = now
        defer { backlogs[id] = backlog }
        guard !backlog.isBehind, now.elapsed(since: backlog.since) >= Self.longestCatchUp,
            entries[id]?.expectation != .silent
        else { return nil }
        backlog.isBehind = true
        return backlog.issuer
    }

    /// When the first backlogged issuer may be sent a request; nil if a request has to end first.
    func nextOpening(at now: Moment) -> Timestamp? {
        backlogs.keys.compactMap { id -> Duration? in
            guard let entry = entries[id], room(for: entry.expectation, besides: Claims()) > 0 else { return nil }
            return entry.gate.wait(at: now)
        }.min().map { now.wall + $0 }
    }
}

extension RefreshState {
    /// What to expect of an issuer that this daemon has not asked yet, as an earlier daemon found it.
    var expectation: IssuerGates.Expectation {
        let isUnanswered = isOutcomeUnknown || phase.failure?.failureClass == .unanswered
        // One answer can be lost with a daemon that is killed.
        if isUnanswered, failures > 1 { return .silent }
        return hasWorked && !isUnanswered ? .answers : .unknown
    }
}

/// Limits the requests that callers cause to one per second for the same token.
///
/// A caller that asks again within that second waits for the rest of it, and then one request answers all such callers.
/// So `--force` and `Refresh` always bring a token newer than the call, and a program in a loop costs one request per
/// second. That includes a program that reports each new token as refused.
struct RequestThrottle {
    /// The shortest time between two requests for the same token that callers cause.
    static let interval = RefreshRule.shortestInterval

    private var lastAsked: [RequestedToken: Moment] = [:]
    /// How many tokens are stored before old ones are removed.
    private var crowd = 64

    /// Records that the server is being asked for a token.
    mutating func note(_ account: AccountID, _ target: TokenTarget?, at now: Moment) {
        if lastAsked.count >= crowd {
            lastAsked = lastAsked.filter { Self.rest(since: $0.value, at: now) > .zero }
            crowd = max(64, 2 * lastAsked.count)
        }
        lastAsked[RequestedToken(account: account, target: target)] = now
    }

    /// How long the request for an arrival has to wait; zero if nobody asked for the same token within the last second.
    func rest(of arrival: QueuedEvent, at now: Moment) -> Duration {
        guard arrival.event.isPaced,
            let last = lastAsked[RequestedToken(account: arrival.account, target: arrival.event.target)]
        else { return .zero }
        return Self.rest(since: last, at: now)
    }

    private static func rest(since last: Moment, at now: Moment) -> Duration {
        max(interval - now.elapsed(since: last), .zero)
    }
}

/// A token that callers ask for.
struct RequestedToken: Hashable {
    let account: AccountID
    /// Nil for the account's default token.
    let target: TokenTarget?
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
