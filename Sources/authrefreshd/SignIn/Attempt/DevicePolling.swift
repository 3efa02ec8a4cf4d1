internal import RefreshCore

/// Plans when a device asks the token endpoint again whether the person has approved (RFC 8628 §3.5).
struct DevicePolling: Hashable, Sendable {
    /// RFC 8628 §3.2: five seconds if the server states no interval.
    static let assumedInterval = Duration.seconds(5)
    /// How much each `slow_down` adds permanently.
    static let slowDown = Duration.seconds(5)
    /// The longest wait after lost answers. Once the network is back, a person who has approved waits no longer than
    /// this. A longer wait that the server asks for is kept.
    static let longestSetback = Duration.seconds(60)
    /// The longest wait that a busy server may ask for (`Retry-After`). A longer one would outlast most codes.
    static let longestRetryAfter = Duration.seconds(300)

    /// The interval that the server wants between two polls.
    private(set) var interval: Duration
    /// How many polls in a row got no answer.
    private(set) var setbacks = 0
    /// How long the server wants to be left alone after the last poll.
    private var leastWait = Duration.zero
    /// When the last poll ended, or when the code was issued.
    private var since: Moment
    /// Whether a poll is under way.
    private(set) var isOut = false

    /// Begins polling.
    ///
    /// - Parameter interval: nil if the server stated none. At least one second is used.
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
        leastWait = .zero
    }

    /// The server says that it is polled too often.
    mutating func slowedDown(at now: Moment) {
        pending(at: now)
        interval += Self.slowDown
    }

    /// No answer arrived, or none that could be understood.
    ///
    /// - Parameter retryAfter: when the server wants to be asked again (RFC 9110 §10.2.3); nil if it did not say.
    mutating func lost(at now: Moment, retryAfter: Duration? = nil) {
        end(at: now)
        setbacks += 1
        leastWait = min(retryAfter ?? .zero, Self.longestRetryAfter)
    }

    private mutating func end(at now: Moment) {
        isOut = false
        since = now
    }

    /// RFC 8628 §3.5 recommends exponential back-off after timeouts: each doubles the wait.
    private var wait: Duration {
        max(interval, leastWait, min(interval.scaled(by: Double(1 << min(setbacks, 8))), Self.longestSetback))
    }
}
