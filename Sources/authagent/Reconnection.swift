/// When a daemon that does not answer is asked again.
///
/// Ever more seldom: each attempt has systemd start the daemon, and one that cannot start needs a person, not a loop.
struct Reconnection {
    /// The pause after the first failure: a restart is over by then.
    static let shortest = Duration.seconds(5)
    /// How long an account that needs its user may wait for its notification once the daemon is well again.
    static let longest = Duration.seconds(300)

    private var pause = Self.shortest
    /// Nil: now.
    private var next: ContinuousClock.Instant?
    private var hasAnswered = true

    func isDue(at now: ContinuousClock.Instant) -> Bool {
        next.map { $0 <= now } ?? true
    }

    /// Until the next attempt, as poll(2) takes it: rounded up, so that it is due then.
    func milliseconds(from now: ContinuousClock.Instant) -> Int32 {
        guard let next else { return 0 }
        return Int32(clamping: max(0, Int64((now.duration(to: next) + .microseconds(999)) / .milliseconds(1))))
    }

    mutating func noteAnswer() {
        self = Reconnection()
    }

    /// The daemon could not be reached, or has gone. Where it had answered before, it is asked again at once: an upgrade restarts the
    /// daemon, and leaves a socket where the next one answers.
    ///
    /// - Returns: whether this is worth a line: the first failure in a row that is no restart.
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
