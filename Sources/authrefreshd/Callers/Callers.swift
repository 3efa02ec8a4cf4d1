internal import RefreshCore

/// What callers want of accounts, and the servers' last refusals of token targets.
///
/// It is the only queue of requests that callers cause. There is at most one waiter for each current call, and one for
/// each derived account whose request needs another account's token. Whatever holds a request up, it stays here with the
/// callers who own it: when the last of them has left, it is gone, unless it was sent.
struct Callers {
    private var wishes: [AccountID: [Wish]] = [:]
    private var lastNumber = 0
    /// The servers' last refusals of token targets. A script in a loop gets the same answer without new requests.
    private var targetFailures: [RequestedToken: (failure: RefreshFailure, at: Moment)] = [:]

    /// The most refusals that are kept, for all accounts together: some hundred kilobytes. If there is one more, all
    /// are forgotten, and each of them then costs one more request.
    private static let targetFailuresMax = 1_000

    /// The accounts that callers wait for.
    var accounts: [AccountID] { wishes.keys.filter(isAwaited) }

    func isAwaited(_ account: AccountID) -> Bool {
        wishes[account]?.contains { !$0.waiters.isEmpty } ?? false
    }

    /// The token targets of `account` that callers wait for.
    func targets(of account: AccountID) -> Set<TokenTarget> {
        Set(wishes[account, default: []].lazy.filter { !$0.waiters.isEmpty }.compactMap(\.event.target))
    }

    /// Whether a caller waits for a token, and the one with these times does not satisfy it.
    ///
    /// - Parameter target: nil for the account's default.
    func want(_ target: TokenTarget?, of account: AccountID, holding accessToken: AccessTokenTimes?, at now: Moment)
        -> Bool
    {
        wishes[account, default: []].contains { wish in
            wish.event.target == target && wish.waiters.contains { !$0.isSatisfied(by: accessToken, at: now) }
        }
    }

    /// Whether a caller waits until `account` is parked.
    func wantParking(of account: AccountID) -> Bool {
        wishes[account]?.contains { $0.event == .owner(.parked) } ?? false
    }

    /// How long until the first caller's time limit; nil if nobody waits.
    func remaining(at now: Moment) -> Duration? {
        wishes.values.joined().lazy.flatMap(\.waiters).map { $0.remaining(at: now) }.min()
    }

    // MARK: Coming and leaving

    /// Adds a waiting caller. The next turn decides on its wish, unless other callers have the same wish, and something
    /// holds it up.
    ///
    /// - Parameters:
    ///   - event: the event that it requests the token with.
    ///   - accessToken: the token that it gets if the wait fails; nil if there is none.
    /// - Returns: its number, for `forget`.
    mutating func add(
        _ purpose: Waiter.Purpose,
        of account: AccountID,
        after event: Event,
        holding accessToken: AccessTokenTimes?,
        at now: Moment,
        answer: @escaping @Sendable (WaitOutcome) -> Void
    ) -> Int {
        lastNumber += 1
        let waiter = Waiter(
            number: lastNumber,
            purpose: purpose,
            since: now,
            patience: Waiter.patience(for: purpose, holding: accessToken, at: now),
            answer: answer
        )
        change(event, of: account) { wish in
            wish.waiters.append(waiter)
            // The account's situation is another one now: its request may be overdue.
            if wish.standing == .decided { wish.standing = .new }
        }
        return waiter.number
    }

    /// Removes a caller that has gone.
    mutating func forget(_ number: Int, of account: AccountID) {
        filter(account) { $0.number != number }
    }

    /// Removes and returns all callers that wait for `account`, to give them the same answer.
    mutating func takeAll(of account: AccountID) -> [Waiter] {
        defer { filter(account) { _ in false } }
        return wishes[account, default: []].flatMap(\.waiters)
    }

    /// Removes and returns the callers whose time limit has passed.
    mutating func takeExpired(at now: Moment) -> [Waiter] {
        var expired: [Waiter] = []
        for (account, wishes) in wishes {
            let late = wishes.flatMap(\.waiters).filter { $0.remaining(at: now) == .zero }
            guard !late.isEmpty else { continue }
            expired += late
            filter(account) { $0.remaining(at: now) > .zero }
        }
        return expired
    }

    // MARK: The queue

    /// Takes the wishes to decide now, the oldest first: the new ones, and those that nothing holds up any more.
    ///
    /// - Parameter isOver: whether that is so. It is asked in the order in which the wishes came.
    mutating func takeReady(_ isOver: (Wish.Hold, QueuedEvent) -> Bool) -> [QueuedEvent] {
        guard !wishes.isEmpty else { return [] }
        let undecided = wishes.flatMap { account, wishes in
            wishes.filter { $0.standing != .decided }.map { (account: account, wish: $0) }
        }
        return undecided.sorted { $0.wish.comes(before: $1.wish) }.compactMap { account, wish -> QueuedEvent? in
            let arrival = QueuedEvent(account: account, event: wish.event)
            if case .held(let hold) = wish.standing, !isOver(hold, arrival) { return nil }
            change(wish.event, of: account) { $0.standing = .decided }
            return arrival
        }
    }

    /// Lets a wish wait until `hold` is over. A report without a caller waits, too, because it stays true. The wish for a
    /// token without one does not: somebody wanted it in good time, and the next caller asks again.
    mutating func hold(_ event: Event, of account: AccountID, by hold: Wish.Hold) {
        guard event.isReport || wishes[account]?.contains(where: { $0.event == event }) == true else { return }
        change(event, of: account) { $0.standing = .held(hold) }
    }

    /// The shortest wait of the wishes that something holds up; nil if it is not known.
    ///
    /// - Parameter wait: how long until the hold is over; nil if something has to happen first.
    func shortestHold(_ wait: (Wish.Hold, QueuedEvent) -> Duration?) -> Duration? {
        wishes.flatMap { account, wishes in
            wishes.compactMap { wish -> Duration? in
                guard case .held(let hold) = wish.standing else { return nil }
                return wait(hold, QueuedEvent(account: account, event: wish.event))
            }
        }.min()
    }

    /// Changes the wish for an event, however many callers have it.
    private mutating func change(_ event: Event, of account: AccountID, _ body: (inout Wish) -> Void) {
        var all = wishes[account, default: []]
        let index = all.firstIndex { $0.event == event } ?? all.endIndex
        if index == all.endIndex {
            lastNumber += 1
            all.append(Wish(number: lastNumber, event: event))
        }
        body(&all[index])
        keep(all, of: account)
    }

    /// Keeps only some of an account's callers.
    private mutating func filter(_ account: AccountID, _ stays: (Waiter) -> Bool) {
        guard var all = wishes[account] else { return }
        for index in all.indices { all[index].waiters.removeAll { !stays($0) } }
        keep(all, of: account)
    }

    private mutating func keep(_ all: [Wish], of account: AccountID) {
        let rest = all.filter(\.isWanted)
        wishes[account] = rest.isEmpty ? nil : rest
    }

    // MARK: Answers

    /// Removes the callers whose wait is over, successful or not.
    ///
    /// - Returns: the answer for each of them, and whether the wishes of others are new again, because an account's
    ///   requests run one after the other.
    mutating func settle(_ standing: Standing) -> (told: [(Waiter, WaitOutcome)], haveMore: Bool) {
        let account = standing.snapshot.account.id
        var told: [(Waiter, WaitOutcome)] = []
        let isUnderWay = if case .refreshing = standing.snapshot.state.phase { true } else { false }
        var all = wishes[account, default: []]
        for index in all.indices {
            let wish = all[index]
            all[index].waiters = wish.waiters.filter { waiter in
                guard let outcome = outcome(for: waiter, having: wish, standing) else { return true }
                told.append((waiter, outcome))
                return false
            }
            if wish.standing == .decided, !isUnderWay { all[index].standing = .new }
        }
        keep(all, of: account)
        return (told, wishes[account]?.contains { $0.standing == .new } ?? false)
    }

    /// The answer for a caller; nil if it has to keep waiting.
    private func outcome(for waiter: Waiter, having wish: Wish, _ standing: Standing) -> WaitOutcome? {
        let (snapshot, event, target) = (standing.snapshot, standing.event, wish.event.target)
        let accessToken = target.map { standing.targets[$0] } ?? snapshot.state.accessToken
        if waiter.isSatisfied(by: accessToken, at: snapshot.at) || waiter.isForToken && snapshot.isOver {
            return .settled(snapshot)
        }
        // Only a parked account satisfies it. After a request that was under way, the account can be parked.
        if waiter.isForParking, snapshot.state.mayBeParked { return nil }
        switch snapshot.state.phase {
        case .refreshing: return standing.isOverdue ? .overdue(snapshot) : nil
        case .signedOut, .backingOff, .interactionRequired, .parked: return .settled(snapshot)
        case .scheduled:
            // Nothing was sent yet.
            if case .answer(.leaseReturned) = event { return nil }
            if wish.standing != .decided, !event.isAnswer { return nil }
            if let target, let known = targetFailures[RequestedToken(account: snapshot.account.id, target: target)],
                waiter.since.elapsed(since: known.at) == .zero
            {
                return .targetFailed(known.failure, snapshot)
            }
            // The next attempt follows at once.
            if snapshot.state.isRefreshable, waiter.isLeftWanting(by: accessToken, at: snapshot.at) { return nil }
            return target == event.target ? .settled(snapshot) : nil
        }
    }

    /// An account's situation after a decision, for its waiting callers.
    struct Standing {
        let snapshot: AccountSnapshot
        /// The event of the decision. Callers that wait for another event have their wish decided again.
        let event: Event
        /// Whether a request is under way that has exceeded its time limit.
        let isOverdue: Bool
        /// The times of the tokens in hand for the targets that callers wait for.
        let targets: [TokenTarget: AccessTokenTimes]
    }

    // MARK: Token targets

    /// Takes note of a change of an account.
    mutating func note(_ change: AccountChange, of account: AccountID, at now: Moment) {
        switch change {
        case .targetFailed(let target, let failure):
            if targetFailures.count >= Self.targetFailuresMax { targetFailures = [:] }
            targetFailures[RequestedToken(account: account, target: target)] = (failure, now)
        case .targetRefreshed(let target):
            targetFailures[RequestedToken(account: account, target: target)] = nil
        case .grantImported, .signedIn, .accessTokenObtained, .signedOut, .signedOutByItself:
            forgetFailures(of: account)
        case .tokenRefreshed, .refreshFailed, .misconfigured, .interactionRequired, .interactionStillRequired,
            .refreshTokenExpiring, .signOutNear, .staleAnswerDropped, .parked, .unparked:
            break
        }
    }

    /// Forgets the refusals for an account that has changed.
    mutating func forgetFailures(of account: AccountID) {
        targetFailures = targetFailures.filter { $0.key.account != account }
    }

    /// The answer for callers who ask for `target` at `now` without a new request, and how long it applies; nil if the
    /// server has to be asked.
    func standingFailure(of target: TokenTarget, for account: AccountID, at now: Moment) -> (
        failure: RefreshFailure, Duration
    )? {
        guard let known = targetFailures[RequestedToken(account: account, target: target)] else { return nil }
        let rest = BackOffRule.targetRefusal(after: known.failure) - now.elapsed(since: known.at)
        return rest > .zero ? (known.failure, rest) : nil
    }
}

/// What callers want of one account: one request, however many of them there are.
struct Wish {
    /// Why nothing can begin yet.
    enum Hold: Hashable {
        /// The issuer may not be sent anything now, or the machine is about to sleep.
        case gate(IssuerID)
        /// The same token was requested less than a second ago.
        case pace
        /// Daemons have crashed during requests of the account, and another such account is being tried.
        case suspects
    }

    enum Standing: Hashable {
        /// The next turn decides on it.
        case new
        case held(Hold)
        /// It was decided. Its callers wait for the end of the account's request.
        case decided
    }

    /// Its place in the queue.
    let number: Int
    /// The event with which the machine hears of it.
    let event: Event
    var standing = Standing.new
    var waiters: [Waiter] = []

    /// Whether it is still to be kept: it has callers, or it is a report that was not decided.
    fileprivate var isWanted: Bool {
        !waiters.isEmpty || event.isReport && standing != .decided
    }

    /// Parking comes first. Otherwise callers that refresh again and again could keep the account from being parked.
    fileprivate func comes(before other: Wish) -> Bool {
        let isParking = event == .owner(.parked)
        return isParking == (other.event == .owner(.parked)) ? number < other.number : isParking
    }
}

extension Event {
    /// Whether it says that a resource server refused a token. That stays true when the caller that said so has left.
    fileprivate var isReport: Bool {
        if case .demand(.accessTokenRejected) = self { return true }
        if case .demand(.targetRejected) = self { return true }
        return false
    }
}
