internal import AccountStorage
internal import RefreshCore

/// The callers that wait for an account, and the servers' last refusals of token targets.
///
/// There is at most one waiter for each current call, and one for each derived account whose request needs another
/// account's token.
struct Callers {
    private var waiters: [AccountID: [Waiter]] = [:]
    private var lastNumber = 0
    private var targetFailures = TokenTargetFailures()

    /// The accounts that callers wait for.
    var accounts: [AccountID] { Array(waiters.keys) }

    func isAwaited(_ account: AccountID) -> Bool {
        waiters[account] != nil
    }

    /// The token targets of `account` that callers wait for.
    func targets(of account: AccountID) -> [TokenTarget] {
        waiters[account]?.compactMap(\.target) ?? []
    }

    /// Whether a caller waits for a token, and the one with these times does not satisfy it.
    ///
    /// - Parameter target: nil for the account's default.
    func want(_ target: TokenTarget?, of account: AccountID, holding accessToken: AccessTokenTimes?, at now: Moment)
        -> Bool
    {
        waiters[account]?.contains { $0.target == target && !$0.isSatisfied(by: accessToken, at: now) } ?? false
    }

    /// Whether a caller waits until `account` is parked.
    func wantParking(of account: AccountID) -> Bool {
        waiters[account]?.contains(where: \.isForParking) ?? false
    }

    /// How long until the first caller's time limit; nil if nobody waits.
    func remaining(at now: Moment) -> Duration? {
        waiters.values.joined().map { $0.remaining(at: now) }.min()
    }

    /// Adds a waiting caller.
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
            request: event,
            since: now,
            patience: Waiter.patience(for: purpose, holding: accessToken, at: now),
            answer: answer
        )
        waiters[account, default: []].append(waiter)
        return lastNumber
    }

    /// Removes a caller that has gone.
    mutating func forget(_ number: Int, of account: AccountID) {
        keep(waiters[account]?.filter { $0.number != number } ?? [], of: account)
    }

    /// Removes and returns all callers that wait for `account`, to give them the same answer.
    mutating func takeAll(of account: AccountID) -> [Waiter] {
        waiters.removeValue(forKey: account) ?? []
    }

    /// Removes and returns the callers whose time limit has passed.
    mutating func takeExpired(at now: Moment) -> [Waiter] {
        var expired: [Waiter] = []
        for (account, waiting) in waiters {
            let late = waiting.filter { $0.remaining(at: now) == .zero }
            guard !late.isEmpty else { continue }
            expired += late
            keep(waiting.filter { $0.remaining(at: now) > .zero }, of: account)
        }
        return expired
    }

    /// Removes the callers whose wait is over, successful or not.
    ///
    /// - Returns: the answer for each of them, and the events that the remaining callers request again, because
    ///   requests run one after the other.
    mutating func settle(_ standing: Standing) -> (told: [(Waiter, WaitOutcome)], again: [Event]) {
        let account = standing.snapshot.account.id
        var told: [(Waiter, WaitOutcome)] = []
        var rest: [Waiter] = []
        for waiter in takeAll(of: account) {
            if let outcome = outcome(for: waiter, standing) {
                told.append((waiter, outcome))
            } else {
                rest.append(waiter)
            }
        }
        keep(rest, of: account)
        if case .refreshing = standing.snapshot.state.phase { return (told, []) }
        var asked: Set<Event> = []
        // Parking comes first. Otherwise callers that refresh again and again could keep the account from being parked.
        let requests = rest.filter(\.isForParking) + rest.filter { !$0.isForParking }
        return (told, requests.map(\.request).filter { asked.insert($0).inserted })
    }

    /// The answer for a caller; nil if it has to keep waiting.
    private func outcome(for waiter: Waiter, _ standing: Standing) -> WaitOutcome? {
        let (snapshot, event) = (standing.snapshot, standing.event)
        let accessToken = waiter.target.map { standing.targets[$0] } ?? snapshot.state.accessToken
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
            if case .leaseReturned = event { return nil }
            if !event.isAnswer, standing.postponed.contains(waiter.request) { return nil }
            if let target = waiter.target,
                let failure = targetFailures.failure(of: target, for: snapshot.account.id, since: waiter.since)
            {
                return .targetFailed(failure, snapshot)
            }
            // The next attempt follows at once.
            if snapshot.state.isRefreshable, waiter.isLeftWanting(by: accessToken, at: snapshot.at) { return nil }
            return waiter.target == event.target ? .settled(snapshot) : nil
        }
    }

    private mutating func keep(_ rest: [Waiter], of account: AccountID) {
        waiters[account] = rest.isEmpty ? nil : rest
    }

    // MARK: Token targets

    /// Takes note of a change of an account.
    mutating func note(_ change: AccountChange, of account: AccountID, at now: Moment) {
        targetFailures.note(change, of: account, at: now)
    }

    /// Forgets the refusals for an account that has changed.
    mutating func forgetFailures(of account: AccountID) {
        targetFailures.forget(account)
    }

    /// The answer for callers who ask for `target` at `now` without a new request, and how long it applies; nil if the
    /// server has to be asked.
    func standingFailure(of target: TokenTarget, for account: AccountID, at now: Moment) -> (
        failure: RefreshFailure, Duration
    )? {
        targetFailures.standing(of: target, for: account, at: now)
    }

    /// An account's situation after a decision, for its waiting callers.
    struct Standing {
        let snapshot: AccountSnapshot
        /// The event of the decision. Callers that wait for another event submit that event again.
        let event: Event
        /// Whether a request is under way that has exceeded its time limit.
        let isOverdue: Bool
        /// The times of the tokens in hand for the targets that callers wait for.
        let targets: [TokenTarget: AccessTokenTimes]
        /// The requests that wait until their second is over.
        let postponed: Set<Event>
    }
}

/// The servers' last refusals of token targets. A script in a loop gets the same answer without new requests.
struct TokenTargetFailures {
    /// The most refusals that are kept, for all accounts together: some hundred kilobytes. If there is one more, all
    /// are forgotten, and each of them then costs one more request.
    static let maximum = 1_000

    private struct Key: Hashable {
        let account: AccountID
        let target: TokenTarget
    }

    private var failures: [Key: (failure: RefreshFailure, at: Moment)] = [:]

    /// The refusal at `since` or later; nil if there was none.
    func failure(of target: TokenTarget, for account: AccountID, since: Moment) -> RefreshFailure? {
        guard let known = failures[Key(account: account, target: target)] else { return nil }
        return since.elapsed(since: known.at) == .zero ? known.failure : nil
    }

    /// The answer for callers at `now`, and how long it applies; nil if the server has to be asked.
    func standing(of target: TokenTarget, for account: AccountID, at now: Moment) -> (
        failure: RefreshFailure, Duration
    )? {
        guard let known = failures[Key(account: account, target: target)] else { return nil }
        let rest = BackOffRule.targetRefusal(after: known.failure) - now.elapsed(since: known.at)
        return rest > .zero ? (known.failure, rest) : nil
    }

    /// Takes note of a change of an account.
    mutating func note(_ change: AccountChange, of account: AccountID, at now: Moment) {
        switch change {
        case .targetFailed(let target, let failure):
            if failures.count >= Self.maximum { failures = [:] }
            failures[Key(account: account, target: target)] = (failure, now)
        case .targetRefreshed(let target):
            failures[Key(account: account, target: target)] = nil
        case .grantImported, .signedIn, .accessTokenObtained, .signedOut, .signedOutByItself:
            forget(account)
        case .tokenRefreshed, .refreshFailed, .misconfigured, .interactionRequired, .interactionStillRequired,
            .refreshTokenExpiring, .signOutNear, .staleAnswerDropped, .parked, .unparked:
            break
        }
    }

    /// Forgets the refusals for an account that has changed.
    mutating func forget(_ account: AccountID) {
        failures = failures.filter { $0.key.account != account }
    }
}

/// A caller that waits for an account.
struct Waiter {
    /// What the caller waits for.
    enum Purpose {
        /// An access token that is valid for this long. If the call is forced, the token must have been issued after
        /// the call.
        case token(minimumValidity: Duration?, isForced: Bool)
        /// The end of an attempt, with any result.
        case attempt
        /// The account is parked. An attempt that is under way ends first.
        case parking
    }

    /// The longest wait of a caller. It is longer than the time limit of a request (30 s), so that the caller learns
    /// how the request ended.
    static let timeLimit = Duration.seconds(40)

    /// How long a caller waits if the account already holds `accessToken`.
    ///
    /// The caller does not have to wait just for a longer validity that it did not ask for. If the server is silent,
    /// the caller gets the old token while half of its remaining lifetime is left, and can still use it.
    static func patience(for purpose: Purpose, holding accessToken: AccessTokenTimes?, at now: Moment) -> Duration {
        switch purpose {
        case .token(minimumValidity: nil, isForced: false):
            guard let rest = accessToken?.remaining(at: now), rest > .zero else { return timeLimit }
            return min(rest / 2, timeLimit)
        case .token, .attempt, .parking:
            return timeLimit
        }
    }

    /// The caller's number.
    let number: Int
    let purpose: Purpose
    /// The event that it requested. It is requested again if another exchange of the account came first.
    let request: Event
    let since: Moment
    /// How long it waits.
    let patience: Duration
    /// Called once, on the coordinator's queue.
    let answer: @Sendable (WaitOutcome) -> Void

    /// The token target that it waits for; nil for the account's default.
    var target: TokenTarget? { request.target }

    var isForParking: Bool {
        if case .parking = purpose { true } else { false }
    }

    /// Whether an access token with these times satisfies it, so that no request is needed.
    func isSatisfied(by accessToken: AccessTokenTimes?, at now: Moment) -> Bool {
        switch purpose {
        case .token(let minimumValidity, isForced: false):
            accessToken?.suffices(for: minimumValidity, at: now) ?? false
        case .token(_, isForced: true), .attempt, .parking: false
        }
    }

    /// Whether it waits for a token, and not only for the end of an attempt.
    var isForToken: Bool {
        switch purpose {
        case .token: true
        case .attempt, .parking: false
        }
    }

    /// Whether it wants a token and the new one with these times has already expired, because the machine slept while
    /// the answer was on its way.
    func isLeftWanting(by accessToken: AccessTokenTimes?, at now: Moment) -> Bool {
        switch purpose {
        case .token: accessToken?.remaining(at: now) == .zero
        case .attempt, .parking: false
        }
    }

    func remaining(at now: Moment) -> Duration {
        max(patience - now.elapsed(since: since), .zero)
    }
}

/// The answer for a waiting caller.
enum WaitOutcome: Sendable {
    /// The attempt is over; the account is now in this state.
    case settled(AccountSnapshot)
    /// The server refused the token for the requested target; the account's state has not changed.
    case targetFailed(RefreshFailure, AccountSnapshot)
    /// The caller's time limit has passed; the attempt continues.
    case timedOut
    /// The account was removed in the meantime.
    case removed
    /// No attempt can be made now, for a reason outside the account. The account is in this state.
    case notNow(NotNow, AccountSnapshot)
    /// The daemon is ending and makes no more attempts. The caller should ask the next daemon.
    case stopping
    /// Its row in the store cannot be read.
    case damaged(DamagedAccount)
    /// The store could not be read or written.
    case storeFailed(StoreTrouble)
}

extension WaitOutcome {
    /// The account's request has exceeded its time limit, and its answer is still awaited.
    static func overdue(_ snapshot: AccountSnapshot) -> WaitOutcome {
        .notNow(.serverIsSlow, snapshot)
    }

    /// The machine has no route to the account's issuer.
    static func offline(_ snapshot: AccountSnapshot) -> WaitOutcome {
        .notNow(.offline, snapshot)
    }

    /// Nothing can be sent for the account now.
    init(_ obstacle: Scheduler.Obstacle, _ snapshot: AccountSnapshot) {
        self =
            switch obstacle {
            case .trouble(let trouble): .storeFailed(trouble)
            case .stopping: .stopping
            case .offline: .offline(snapshot)
            }
    }

    /// The account's state; nil if it is unknown.
    var snapshot: AccountSnapshot? {
        switch self {
        case .settled(let snapshot), .notNow(_, let snapshot), .targetFailed(_, let snapshot): snapshot
        case .timedOut, .removed, .stopping, .damaged, .storeFailed: nil
        }
    }
}
