/// Plans when to try a daemon again that does not answer.
///
/// The pauses grow, because each attempt makes systemd start the daemon, and a daemon that cannot start needs a person
/// and not a loop.
struct Reconnection {
    /// The pause after the first failure. A restart is over by then.
    static let shortest = Duration.seconds(5)
    /// The longest pause. An account that needs its user waits at most this long for its notification after the daemon
    /// works again.
    static let longest = Duration.seconds(300)

    private var pause = Self.shortest
    /// When to try next; nil for now.
    private var next: ContinuousClock.Instant?
    private var hasAnswered = true

    func isDue(at now: ContinuousClock.Instant) -> Bool {
        next.map { $0 <= now } ?? true
    }

    /// The time until the next attempt for poll(2), rounded up, so that the attempt is due then.
    func milliseconds(from now: ContinuousClock.Instant) -> Int32 {
        guard let next else { return 0 }
        return Int32(clamping: max(0, Int64((now.duration(to: next) + .microseconds(999)) / .milliseconds(1))))
    }

    mutating func noteAnswer() {
        self = Reconnection()
    }

    /// Records that the daemon could not be reached, or has gone. If it had answered before, the next attempt follows
    /// at once: an upgrade restarts the daemon, and the socket stays for the next one.
    ///
    /// - Returns: whether to log it: the first failure in a row that is not a restart.
    mutating func noteFailure(at now: ContinuousClock.Instant) -> Bool {
        let isFirst = next == nil && !hasAnswered
        if hasAnswered {
            hasAnswered = false
        } else {
            next = now + pause
            pause = min(pause * 2, Self.longest)
        }
        return isFirst
    }
}
