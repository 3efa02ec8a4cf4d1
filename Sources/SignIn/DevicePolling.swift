internal import RefreshCore

/// When a device asks the token endpoint again whether the person has approved (RFC 8628 §3.5).
package struct DevicePolling: Hashable, Sendable {
    /// RFC 8628 §3.2: if the server names no interval, five seconds.
    package static let assumedInterval = Duration.seconds(5)
    /// What each `slow_down` adds, for good.
    static let slowDown = Duration.seconds(5)
    /// The longest wait that lost answers lead to: a person who has approved is not kept waiting longer than this once the network is
    /// back. What the server itself asks for is not cut.
    static let longestSetback = Duration.seconds(60)

    /// What the server wants between two polls.
    private(set) var interval: Duration
    /// Polls in a row that were not answered.
    private(set) var setbacks = 0
    /// When the last one ended, or the code was given out.
    private var since: Moment
    /// Whether a poll is under way.
    private(set) var isOut = false

    /// - Parameter interval: nil if the server named none. Less than a second is taken for one.
    init(interval: Duration?, at now: Moment) {
        self.interval = max(interval ?? Self.assumedInterval, .seconds(1))
        since = now
    }

    /// How long until the next poll; nil while one is under way.
    func remaining(at now: Moment) -> Duration? {
        isOut ? nil : max(wait - now.elapsed(since: since), .zero)
    }

    mutating func begin() {
        isOut = true
    }

    /// The server says that the person has not decided yet.
    mutating func pending(at now: Moment) {
        end(at: now)
        setbacks = 0
    }

    /// The server says that it is asked too often.
    mutating func slowedDown(at now: Moment) {
        pending(at: now)
        interval += Self.slowDown
    }

    /// No answer came, or none that says anything.
    mutating func lost(at now: Moment) {
        end(at: now)
        setbacks += 1
    }

    private mutating func end(at now: Moment) {
        isOut = false
        since = now
    }

    /// RFC 8628 §3.5 wants an exponential back-off on timeouts: each doubles the wait.
    private var wait: Duration {
        max(interval, min(interval.scaled(by: Double(1 << min(setbacks, 8))), Self.longestSetback))
    }
}
