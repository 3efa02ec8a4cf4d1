/// How many requests one issuer is sent at a time and per second, so that a restart or a resume does not stampede.
///
/// A token bucket for the rate, a counter for the concurrency; both are in memory only.
package struct IssuerGate: Hashable, Sendable {
    package struct Limits: Hashable, Sendable {
        /// Requests in flight at once; 1 or more. Eight keep a server with 100 ms answers at 80 requests a second.
        package var concurrent: Int
        /// Requests per second in the long run, and the size of a burst; from one in a thousand seconds to a million, which no
        /// machine sends: configuration files can say `.inf`, of which there are no slots to count.
        package private(set) var perSecond: Double

        package init(concurrent: Int = 8, perSecond: Double = 50) {
            self.concurrent = max(concurrent, 1)
            self.perSecond = min(max(perSecond, 0.001), 1_000_000)
        }
    }

    /// May be changed at any time; requests in flight stay counted.
    package var limits: Limits
    package private(set) var inFlight = 0
    private var allowance: Double
    private var refilledAt: Moment

    package init(limits: Limits, at now: Moment) {
        self.limits = limits
        allowance = max(limits.perSecond, 1)
        refilledAt = now
    }

    /// How many requests may start at `now`.
    package mutating func openSlots(at now: Moment) -> Int {
        refill(at: now)
        return max(0, min(limits.concurrent - inFlight, Int(allowance)))
    }

    /// Counts one request that starts at `now`.
    package mutating func enter(at now: Moment) {
        refill(at: now)
        inFlight += 1
        allowance -= 1
    }

    /// Counts one request that has ended.
    package mutating func leave() {
        inFlight -= 1
    }

    /// How long until the rate allows a request again; zero if it does, and nil if only the end of a request in flight can help.
    package func wait(at now: Moment) -> Duration? {
        guard inFlight < limits.concurrent else { return nil }
        let missing = 1 - allowance - seconds(since: refilledAt, at: now) * limits.perSecond
        return missing > 0 ? .microseconds(Int64((missing / limits.perSecond * 1e6).rounded(.up))) : .zero
    }

    /// Whether the gate has recovered from all that went through it, and can be forgotten.
    package func isFull(at now: Moment) -> Bool {
        inFlight == 0 && allowance + seconds(since: refilledAt, at: now) * limits.perSecond >= max(limits.perSecond, 1)
    }

    private mutating func refill(at now: Moment) {
        allowance = min(max(limits.perSecond, 1), allowance + seconds(since: refilledAt, at: now) * limits.perSecond)
        refilledAt = now
    }

    private func seconds(since earlier: Moment, at now: Moment) -> Double {
        Double(now.elapsed(since: earlier).microseconds) / 1e6
    }
}
