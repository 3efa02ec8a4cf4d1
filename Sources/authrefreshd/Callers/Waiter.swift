internal import AccountStorage
internal import RefreshCore

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

    /// The token set that it waits for; nil for the account's default.
    var tokenSet: TokenSet? { request.tokenSet }

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
    /// The server gave no token for the set that was asked for; the account stands as it did.
    case tokenSetFailed(RefreshFailure, AccountSnapshot)
    /// The time limit has passed; the attempt goes on.
    case timedOut
    /// The account was removed meanwhile.
    case removed
    /// No attempt is made now, for a reason that is none of the account's; this is where it stands.
    case notNow(String, AccountSnapshot)
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
        .notNow("the server has not answered yet; the daemon still waits for its answer", snapshot)
    }

    /// Where the account stands; nil if that is not known.
    var snapshot: AccountSnapshot? {
        switch self {
        case .settled(let snapshot), .notNow(_, let snapshot), .tokenSetFailed(_, let snapshot): snapshot
        case .timedOut, .removed, .stopping, .damaged, .storeFailed: nil
        }
    }
}
