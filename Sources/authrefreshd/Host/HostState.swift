internal import AccountStorage
internal import RefreshCore
internal import Systemd

/// The state of the machine: its clocks and those of the servers, whether it is about to sleep, and whether it has a
/// route.
struct HostState {
    /// How long logind's announcement of a sleep counts if logind never reports the end of the sleep. logind waits some
    /// seconds for delay locks.
    private static let longestFallingAsleep = Duration.seconds(30)
    /// How many skews are kept. Most stores have few issuers. With thousands of them, each skew is looked up in the
    /// store.
    private static let skewsMax = 1_000

    // The watches on the machine; nil for what is not watched.
    private var clockWatch: ClockWatch?
    private var routeWatch: RouteWatch?
    private var sleepWatch: SleepWatch?
    private var suspendDrift = SuspendDrift()
    /// When logind announced a sleep; nil if the machine is not about to sleep.
    private var sleepAnnouncedAt: Moment?
    /// Whether the machine has a route.
    private(set) var isOnline = true
    /// The clocks' offset in the store; nil until it is read.
    private var clockOffset: ClockOffset?
    /// When the wall clock was last seen to be disturbed, or when the daemon began to look; nil before that.
    private var wallDisturbedAt: Moment?
    /// How far the issuers' clocks are ahead of ours, as far as they were read; nil for an issuer that has not shown
    /// it.
    private var clockSkews: [IssuerID: Duration?] = [:]

    /// Whether the system reports steps of the clock, new routes and resumes.
    var watchesClock: Bool { clockWatch != nil }
    var watchesRoutes: Bool { routeWatch != nil }
    var watchesSleep: Bool { sleepWatch != nil }

    mutating func begin(_ clock: ClockWatch?, _ routes: RouteWatch?, _ sleep: SleepWatch?) {
        (clockWatch, routeWatch, sleepWatch) = (clock, routes, sleep)
        if let routes { isOnline = routes.hadRouteAtStart }
    }

    mutating func end() {
        (clockWatch, routeWatch, sleepWatch) = (nil, nil, nil)
    }

    /// Records whether the machine has a route.
    ///
    /// - Returns: whether that has changed.
    mutating func note(isOnline: Bool) -> Bool {
        defer { self.isOnline = isOnline }
        return isOnline != self.isOnline
    }

    // MARK: Sleep

    /// Records that logind has announced a sleep.
    mutating func sleepBegins(at now: Moment) {
        sleepAnnouncedAt = now
    }

    /// Whether the machine has slept since the last question, by its clocks.
    mutating func hasSlept() -> Bool {
        suspendDrift.hasSlept()
    }

    /// Records that logind reports no more sleeps.
    mutating func sleepWatchLost() {
        sleepWatch = nil
        sleepIsOver()
    }

    /// Delays the machine's next sleep until the current requests are answered.
    ///
    /// logind may report a sleep during this call, and that report is handled at once. So this call does not change the
    /// state itself.
    func delaySleep() {
        sleepWatch?.delaySleep("a token is being refreshed")
    }

    func allowSleep() {
        sleepWatch?.allowSleep()
    }

    mutating func sleepIsOver() {
        sleepAnnouncedAt = nil
    }

    /// How long nothing should be sent because the machine is about to sleep; nil if it is not.
    func timeToSleep(at now: Moment) -> Duration? {
        guard let sleepAnnouncedAt else { return nil }
        let rest = Self.longestFallingAsleep - now.elapsed(since: sleepAnnouncedAt)
        return rest > .zero ? rest : nil
    }

    // MARK: Clocks

    /// How the wall clock has changed against the stored deadlines.
    enum ClockChange: Equatable {
        case stepped(by: Duration)
        /// It is before an earlier boot: a machine whose clock has no battery starts in 1970.
        case isBehind(by: Duration)

        var size: Duration {
            switch self {
            case .stepped(let size), .isBehind(let size): size
            }
        }
    }

    /// Adjusts the stored deadlines to the time that has really passed.
    ///
    /// Deadlines are wall-clock times. After a step backward, all of them would come too late by the size of the step,
    /// so they are moved with it. After a step forward, some come too early, and their accounts check both clocks.
    ///
    /// It runs in every turn. If the kernel reports no steps, a timer that fires by the old time is enough to notice
    /// one. A step is reported only after it is stored. Otherwise, each attempt to write to a broken store would report
    /// it again.
    ///
    /// - Returns: what was stored; nil if the clock was not stepped.
    /// - Throws: `StoreError` if it could not be stored. The next turn tries again.
    mutating func reconcileClock(in store: AccountStore, at now: Moment) throws(StoreError) -> ClockChange? {
        let offset = ClockOffset(at: now)
        if wallDisturbedAt == nil { wallDisturbedAt = now }
        if clockOffset == nil { clockOffset = try store.clockOffset() }
        guard let known = clockOffset else {
            try record(offset, shiftingBy: .zero, in: store)
            return nil
        }
        if known.bootID != offset.bootID { wallDisturbedAt = now }
        if let step = offset.step(since: known) {
            wallDisturbedAt = now
            try record(offset, shiftingBy: min(step, .zero), in: store)
            return .stepped(by: step)
        }
        if let behind = offset.timeLost(since: known, at: now.wall) {
            // We do not know how long the machine was off. Each account checks whether its times are from the future.
            let last = try store.schedule.lastDeadline()
            try record(offset, shiftingBy: min(behind, last.map { now.wall - $0 } ?? .zero), in: store)
            return .isBehind(by: behind)
        }
        if known.bootID != offset.bootID { try record(offset, shiftingBy: .zero, in: store) }
        return nil
    }

    /// How long until the wall clock has gone undisturbed for long enough to be believed alone.
    func timeToTrustWall(at now: Moment) -> Duration {
        guard let wallDisturbedAt else { return SignOutRule.agreement }
        return max(SignOutRule.agreement - now.elapsed(since: wallDisturbedAt), .zero)
    }

    private mutating func record(
        _ offset: ClockOffset,
        shiftingBy shift: Duration,
        in store: AccountStore
    ) throws(StoreError) {
        if shift < .zero {
            try store.schedule.shiftDeadlines(by: shift, clock: offset)
        } else {
            try store.recordClockOffset(offset)
        }
        clockOffset = offset
    }

    /// Records how far the server's clock is from ours, if that has changed.
    mutating func noteSkew(_ skew: Duration, of issuer: IssuerID, in store: AccountStore) {
        // The header counts whole seconds, and the answer took some time.
        let tolerance = Duration.seconds(2)
        let known = clockSkew(of: issuer, in: store)
        guard known.map({ max($0 - skew, skew - $0) > tolerance }) ?? true else { return }
        // The skew is only shown to people, and the next answer states it again.
        try? store.recordSkew(skew, of: issuer)
        clockSkews[issuer] = skew
    }

    /// How far the issuer's clock is ahead of ours, by its last answer; nil if none has shown it.
    mutating func clockSkew(of issuer: IssuerID, in store: AccountStore) -> Duration? {
        if let known = clockSkews[issuer] { return known }
        let stored = (try? store.skew(of: issuer)) ?? nil
        if clockSkews.count >= Self.skewsMax { clockSkews = [:] }
        clockSkews[issuer] = .some(stored)
        return stored
    }
}

extension ClockOffset {
    /// When that boot began, by its own wall clock.
    fileprivate var bootedAt: Timestamp { Timestamp(microseconds: 0) + wallMinusBoot }

    /// How far the wall clock was stepped since `known`; nil if it was not, or if the boot differs.
    fileprivate func step(since known: ClockOffset) -> Duration? {
        let step = wallMinusBoot - known.wallMinusBoot
        // NTP adjusts the clock by milliseconds all the time, and a leap second does not matter.
        let isStep = step > .milliseconds(1_500) || step < .milliseconds(-1_500)
        return bootID == known.bootID && isStep ? step : nil
    }

    /// How far, at least, `wall` is before the start of an earlier boot (negative); nil if it is not. A machine whose
    /// clock has no battery starts in 1970.
    fileprivate func timeLost(since known: ClockOffset, at wall: Timestamp) -> Duration? {
        let behind = wall - known.bootedAt
        return bootID != known.bootID && behind < .zero ? behind : nil
    }
}
