/// Limits how many requests one issuer gets at a time and per second.
///
/// After a restart or a resume, the accounts do not all ask at once. A server that wants fewer requests gets fewer. A
/// few requests that hang do not delay the others.
///
/// It is a token bucket for the rate and a counter for the concurrency. Both exist only in memory.
package struct IssuerGate: Hashable, Sendable {
    package struct Limits: Hashable, Sendable {
        /// Requests in flight at once; 1 or more. With answers in 100 ms, eight allow 80 requests per second.
        package var concurrent: Int
        /// Requests per second in the long run, and the size of a burst.
        ///
        /// The range is 0.001 to 1,000,000; no machine sends more. The upper limit is needed because a configuration
        /// file can say `.inf`, which has no number of slots.
        package private(set) var perSecond: Double

        package init(concurrent: Int = 8, perSecond: Double = 50) {
            self.concurrent = max(concurrent, 1)
            self.perSecond = min(max(perSecond, 0.001), 1_000_000)
        }

        /// Requests in flight at once, including those that hang. With `patience` and a request's time limit of 30 s,
        /// seven times `concurrent` requests can hang before the first of them ends.
        var inFlight: Int { concurrent > Int.max / 8 ? .max : concurrent * 8 }
    }

    /// The gate's record of a request in flight.
    package struct Place: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// What an answer says about the rate of requests.
    package enum RateSignal: Hashable, Sendable {
        /// The server answered the request.
        case served
        /// The server wants fewer requests; nil if it did not say for how long.
        case throttled(retryAfter: Duration?)
    }

    /// How long a request counts against `Limits.concurrent`.
    ///
    /// After that the gate assumes that it hangs, and the accounts behind it wait no longer. Five seconds are short
    /// enough for an account whose token lives 20 s, which is due 10 s before its expiry.
    package static let patience = Duration.seconds(5)
    /// The longest pause for a throttled issuer. The refused accounts have their own back-offs; this pause is for the
    /// accounts that were not refused.
    package static let longestPause = Duration.seconds(60)

    /// The limits. They may be changed at any time; requests in flight stay counted.
    package var limits: Limits
    private var places: [Place: Moment] = [:]
    private var lastPlace = 0
    private var allowance: Double
    private var refilledAt: Moment
    private var throttle: Throttle?
    /// Accounts that were refused while others were served. The refusal is about these accounts, not about the issuer.
    private var throttledAlone: Set<AccountID> = []

    /// The state while a server wants fewer requests.
    ///
    /// 1. One account is refused: one request at a time may start, because other accounts may be served.
    /// 2. Another account is refused, too: no request starts for as long as the server said, at most one minute. Then
    ///    one request may start.
    /// 3. A request that began after the last refusal is served: the gate is open again.
    private struct Throttle: Hashable {
        var accounts: Set<AccountID>
        /// When the last refusal came.
        var at: Moment
        var pause: Duration
        /// The number of refusals after the first one.
        var repeats: Int

        /// Whether a request that began at `start` began after the last refusal, so that its answer is newer.
        func isFollowed(by start: Moment) -> Bool {
            start == at || start.elapsed(since: at) > .zero
        }
    }

    package init(limits: Limits, at now: Moment) {
        self.limits = limits
        allowance = max(limits.perSecond, 1)
        refilledAt = now
    }

    package var inFlight: Int { places.count }

    /// How many requests may start at `now`.
    package mutating func openSlots(at now: Moment) -> Int {
        refill(at: now)
        return max(0, min(room(at: now), Int(allowance)))
    }

    /// Counts a request that starts at `now`.
    ///
    /// - Returns: the request's place, for `leave`.
    @discardableResult package mutating func enter(at now: Moment) -> Place {
        refill(at: now)
        allowance -= 1
        lastPlace += 1
        let place = Place(number: lastPlace)
        places[place] = now
        return place
    }

    /// Counts a request as ended. A second call changes nothing.
    package mutating func leave(_ place: Place) {
        places[place] = nil
    }

    /// Records what the answer to a request of `account`, which began at `start`, says about the rate.
    package mutating func note(_ signal: RateSignal, to account: AccountID, askedAt start: Moment, at now: Moment) {
        switch signal {
        case .served:
            throttledAlone.remove(account)
            guard let throttle, throttle.isFollowed(by: start) else { return }
            throttledAlone.formUnion(throttle.accounts.subtracting([account]))
            self.throttle = nil
        case .throttled(let retryAfter):
            guard !throttledAlone.contains(account) else { return }
            refill(at: now)
            allowance = min(allowance, 1)
            var throttle = throttle ?? Throttle(accounts: [], at: now, pause: .zero, repeats: -1)
            throttle.accounts.insert(account)
            throttle.at = now
            throttle.repeats += 1
            let wish = retryAfter ?? .seconds(2).scaled(by: Double(1 << min(throttle.repeats, 5)))
            if throttle.accounts.count > 1 { throttle.pause = min(max(wish, .seconds(1)), Self.longestPause) }
            self.throttle = throttle
        }
    }

    /// How long until a request may start; zero if it may start now; nil if a request in flight has to end first.
    package func wait(at now: Moment) -> Duration? {
        guard places.count < limits.inFlight else { return nil }
        let missing = 1 - allowance - seconds(since: refilledAt, at: now) * limits.perSecond
        let rate =
            missing > 0 ? Duration.microseconds(Int64((missing / limits.perSecond * 1e6).rounded(.up))) : .zero
        if let throttle {
            let pause = throttle.pause - now.elapsed(since: throttle.at)
            let probe = places.values.filter { throttle.isFollowed(by: $0) }.map { patience(with: $0, at: now) }.max()
            return max(rate, pause, probe ?? .zero)
        }
        let counted = places.values.map { patience(with: $0, at: now) }.filter { $0 > .zero }.sorted()
        let excess = counted.count - limits.concurrent
        return excess < 0 ? rate : max(rate, counted[excess])
    }

    /// Whether no request is in flight and no limit is used up, so that the gate need not be kept.
    package func isFull(at now: Moment) -> Bool {
        places.isEmpty && throttle == nil
            && allowance + seconds(since: refilledAt, at: now) * limits.perSecond >= max(limits.perSecond, 1)
    }

    /// How many requests may start, apart from the rate limit.
    private func room(at now: Moment) -> Int {
        let spare = limits.inFlight - places.count
        let counted = places.values.filter { patience(with: $0, at: now) > .zero }
        guard let throttle else { return min(limits.concurrent - counted.count, spare) }
        let mayAsk = now.elapsed(since: throttle.at) >= throttle.pause
        return mayAsk && !counted.contains { throttle.isFollowed(by: $0) } ? min(1, spare) : 0
    }

    /// How long a request that began at `start` still counts as in flight.
    private func patience(with start: Moment, at now: Moment) -> Duration {
        max(Self.patience - now.elapsed(since: start), .zero)
    }

    private mutating func refill(at now: Moment) {
        allowance = min(max(limits.perSecond, 1), allowance + seconds(since: refilledAt, at: now) * limits.perSecond)
        refilledAt = now
    }

    private func seconds(since earlier: Moment, at now: Moment) -> Double {
        Double(now.elapsed(since: earlier).microseconds) / 1e6
    }
}
