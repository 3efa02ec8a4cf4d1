internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore

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
    let since: Moment
    /// How long it waits.
    let patience: Duration
    /// Called once, on the coordinator's queue.
    let answer: @Sendable (WaitOutcome) -> Void

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
        if case .token = purpose { true } else { false }
    }

    /// Whether it wants a token and the new one with these times has already expired, because the machine slept while
    /// the answer was on its way.
    func isLeftWanting(by accessToken: AccessTokenTimes?, at now: Moment) -> Bool {
        isForToken && accessToken?.remaining(at: now) == .zero
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
    case notNow(TemporarilyUnavailableError, AccountSnapshot)
    /// The daemon is ending and makes no more attempts. The caller should ask the next daemon.
    case stopping
    /// Its row in the store cannot be read.
    case damaged(DamagedAccount)
    /// The store could not be read or written.
    case storeFailed(StoreOutage)
}

extension WaitOutcome {
    /// The account's request has exceeded its time limit, and its answer is still awaited.
    static func overdue(_ snapshot: AccountSnapshot) -> WaitOutcome {
        .notNow("the server has not answered yet; the daemon still waits for its answer", snapshot)
    }

    /// The machine has no route to the account's issuer.
    static func offline(_ snapshot: AccountSnapshot) -> WaitOutcome {
        .notNow("there is no network; the daemon tries again when there is one", snapshot)
    }

    private static func notNow(_ reason: String, _ snapshot: AccountSnapshot) -> WaitOutcome {
        .notNow(TemporarilyUnavailableError(account: snapshot.account.name.text, reason: reason), snapshot)
    }

    /// The account's state; nil if it is unknown.
    var snapshot: AccountSnapshot? {
        switch self {
        case .settled(let snapshot), .notNow(_, let snapshot), .targetFailed(_, let snapshot): snapshot
        case .timedOut, .removed, .stopping, .damaged, .storeFailed: nil
        }
    }
}
