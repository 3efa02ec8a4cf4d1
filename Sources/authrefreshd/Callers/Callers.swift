internal import AccountStorage
internal import RefreshCore

/// Those who wait for what becomes of an account, and what servers said last of token targets that they gave no token for.
///
/// At most one waits for each call under way, and one for each derived account whose request needs another account's token.
struct Callers {
    private var waiters: [AccountID: [Waiter]] = [:]
    private var lastNumber = 0
    private var targetFailures = TokenTargetFailures()

    /// Accounts that somebody waits for.
    var accounts: [AccountID] { Array(waiters.keys) }

    func isAwaited(_ account: AccountID) -> Bool {
        waiters[account] != nil
    }

    /// The token targets of `account` that are waited for.
    func targets(of account: AccountID) -> [TokenTarget] {
        waiters[account]?.compactMap(\.target) ?? []
    }

    /// Whether somebody waits for a token that one with these times does not replace.
    ///
    /// - Parameter target: nil for the account's default.
    func want(_ target: TokenTarget?, of account: AccountID, holding accessToken: AccessTokenTimes?, at now: Moment)
        -> Bool
    {
        waiters[account]?.contains { $0.target == target && !$0.isSatisfied(by: accessToken, at: now) } ?? false
    }

    /// How long until the first of them has waited for too long; nil if nobody waits.
    func remaining(at now: Moment) -> Duration? {
        waiters.values.joined().map { $0.remaining(at: now) }.min()
    }

    /// Adds one who waits.
    ///
    /// - Parameters:
    ///   - event: what it asks for by.
    ///   - accessToken: what it gets if it has waited in vain; nil if there is nothing.
    /// - Returns: its number, to forget it by.
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

    /// Forgets one who has gone.
    mutating func forget(_ number: Int, of account: AccountID) {
        keep(waiters[account]?.filter { $0.number != number } ?? [], of: account)
    }

    /// Takes all who wait for `account`: they are told the same.
    mutating func takeAll(of account: AccountID) -> [Waiter] {
        waiters.removeValue(forKey: account) ?? []
    }

    /// Takes those who have waited for too long.
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

    /// Takes those who have what they waited for, or will not get it.
    ///
    /// - Returns: what each is told, and what the others ask for again: exchanges follow one after the other.
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
        guard standing.snapshot.state.phase == .scheduled else { return (told, []) }
        var asked: Set<Event> = []
        return (told, rest.map(\.request).filter { asked.insert($0).inserted })
    }

    /// What a waiter is told; nil if it has to wait on.
    private func outcome(for waiter: Waiter, _ standing: Standing) -> WaitOutcome? {
        let (snapshot, event) = (standing.snapshot, standing.event)
        let accessToken = waiter.target.map { standing.targets[$0] } ?? snapshot.state.accessToken
        if waiter.isSatisfied(by: accessToken, at: snapshot.at) { return .settled(snapshot) }
        switch snapshot.state.phase {
        case .refreshing: return standing.isOverdue ? .overdue(snapshot) : nil
        case .signedOut, .backingOff, .interactionRequired, .parked: return .settled(snapshot)
        case .scheduled:
            // Nothing was asked yet.
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

    /// Takes note of what has happened to an account.
    mutating func note(_ change: AccountChange, of account: AccountID, at now: Moment) {
        targetFailures.note(change, of: account, at: now)
    }

    /// Forgets what was said of the token targets of an account that is not what it was.
    mutating func forgetFailures(of account: AccountID) {
        targetFailures.forget(account)
    }

    /// What those are told who ask for `target` at `now`, and how long it is until the server would be asked again; nil if it is now.
    func standingFailure(of target: TokenTarget, for account: AccountID, at now: Moment) -> (
        failure: RefreshFailure, Duration
    )? {
        targetFailures.standing(of: target, for: account, at: now)
    }

    /// Where an account stands after a decision, for those who wait for it.
    struct Standing {
        let snapshot: AccountSnapshot
        /// What was decided on. Those whom it was not about ask again.
        let event: Event
        /// Whether a request is under way that has passed its time limit.
        let isOverdue: Bool
        /// The times of the tokens that are held of the targets that are waited for.
        let targets: [TokenTarget: AccessTokenTimes]
        /// The requests that wait for the rest of their second.
        let postponed: Set<Event>
    }
}

/// What servers said of token targets that they gave no token for, so that a script in a loop is told it without asking them again.
struct TokenTargetFailures {
    /// Sets remembered, of all accounts: some hundred kilobytes. When one more comes, all are forgotten; each costs one request.
    static let maximum = 1_000

    private struct Key: Hashable {
        let account: AccountID
        let target: TokenTarget
    }

    private var failures: [Key: (failure: RefreshFailure, at: Moment)] = [:]

    /// What was said at `since` or later; nil if nothing was.
    func failure(of target: TokenTarget, for account: AccountID, since: Moment) -> RefreshFailure? {
        guard let known = failures[Key(account: account, target: target)] else { return nil }
        return since.elapsed(since: known.at) == .zero ? known.failure : nil
    }

    /// What callers who come at `now` are told, and how long it is until the server would be asked again; nil if it is now.
    func standing(of target: TokenTarget, for account: AccountID, at now: Moment) -> (
        failure: RefreshFailure, Duration
    )? {
        guard let known = failures[Key(account: account, target: target)] else { return nil }
        let rest = BackOffRule.targetRefusal(after: known.failure) - now.elapsed(since: known.at)
        return rest > .zero ? (known.failure, rest) : nil
    }

    /// Takes note of what has happened to an account.
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

    /// Forgets what was said for an account that is not what it was.
    mutating func forget(_ account: AccountID) {
        failures = failures.filter { $0.key.account != account }
    }
}

/// A caller that waits for what becomes of an account.
struct Waiter {
    /// What it waits for.
    enum Purpose {
        /// An access token with this much left; forced: one that was issued after the call.
        case token(minimumValidity: Duration?, isForced: Bool)
        /// The end of an attempt, whatever it is.
        case attempt
    }

    /// How long a caller waits at most: longer than one request may take (30 s), so that it hears of that one's end.
    static let timeLimit = Duration.seconds(40)

    /// How long a caller waits that finds `accessToken` there.
    ///
    /// A valid token is not withheld for the sake of a validity that nobody asked for: one that lasts for half of its rest still opens
    /// what it is for, when the server is silent.
    static func patience(for purpose: Purpose, holding accessToken: AccessTokenTimes?, at now: Moment) -> Duration {
        switch purpose {
        case .token(minimumValidity: nil, isForced: false):
            guard let rest = accessToken?.remaining(at: now), rest > .zero else { return timeLimit }
            return min(rest / 2, timeLimit)
        case .token, .attempt:
            return timeLimit
        }
    }

    /// Tells it from the others.
    let number: Int
    let purpose: Purpose
    /// What it asked for by; asked again when another exchange of the account came before its own.
    let request: Event
    let since: Moment
    /// How long it waits.
    let patience: Duration
    /// Called once, on the coordinator's queue.
    let answer: @Sendable (WaitOutcome) -> Void

    /// The token target that it waits for; nil for the account's default.
    var target: TokenTarget? { request.target }

    /// Whether an access token with these times is what it wants, so that no request need be made for it.
    func isSatisfied(by accessToken: AccessTokenTimes?, at now: Moment) -> Bool {
        switch purpose {
        case .token(let minimumValidity, isForced: false):
            accessToken?.suffices(for: minimumValidity, at: now) ?? false
        case .token(_, isForced: true), .attempt: false
        }
    }

    /// Whether it wants a token, and the one with these times, which has just come, has ended: the machine slept while the answer was on
    /// its way.
    func isLeftWanting(by accessToken: AccessTokenTimes?, at now: Moment) -> Bool {
        switch purpose {
        case .token: accessToken?.remaining(at: now) == .zero
        case .attempt: false
        }
    }

    func remaining(at now: Moment) -> Duration {
        max(patience - now.elapsed(since: since), .zero)
    }
}

/// What a waiter is told.
enum WaitOutcome: Sendable {
    /// The attempt is over, and this is where the account stands.
    case settled(AccountSnapshot)
    /// The server gave no token for the target that was asked for; the account stands as it did.
    case targetFailed(RefreshFailure, AccountSnapshot)
    /// The time limit has passed; the attempt goes on.
    case timedOut
    /// The account was removed meanwhile.
    case removed
    /// No attempt is made now, for a reason that is none of the account's; this is where it stands.
    case notNow(NotNow, AccountSnapshot)
    /// No attempt is made any more: the daemon ends, and whoever comes after it is to be asked.
    case stopping
    /// Its row in the store cannot be read.
    case damaged(DamagedAccount)
    /// The store could not be read or written.
    case storeFailed(StoreTrouble)
}

extension WaitOutcome {
    /// A request is under way that has passed its time limit.
    static func overdue(_ snapshot: AccountSnapshot) -> WaitOutcome {
        .notNow(.serverIsSlow, snapshot)
    }

    /// The machine has no route to the account's issuer.
    static func offline(_ snapshot: AccountSnapshot) -> WaitOutcome {
        .notNow(.offline, snapshot)
    }

    /// Nothing can be sent for an account now, which stands as `snapshot` says.
    init(_ obstacle: Scheduler.Obstacle, _ snapshot: AccountSnapshot) {
        self =
            switch obstacle {
            case .trouble(let trouble): .storeFailed(trouble)
            case .stopping: .stopping
            case .offline: .offline(snapshot)
            }
    }

    /// Where the account stands; nil if that is not known.
    var snapshot: AccountSnapshot? {
        switch self {
        case .settled(let snapshot), .notNow(_, let snapshot), .targetFailed(_, let snapshot): snapshot
        case .timedOut, .removed, .stopping, .damaged, .storeFailed: nil
        }
    }
}
