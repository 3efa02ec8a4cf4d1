internal import AccountStorage
internal import Dispatch
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Systemd

/// What is known of the machine that the daemon runs on: its clocks and those of the servers, whether it is about to sleep, and whether it
/// has a route.
struct HostState {
    /// How long logind's word that the machine is about to sleep counts, should it never say that the sleep is over: it waits for delay
    /// locks for some seconds.
    private static let longestFallingAsleep = Duration.seconds(30)
    /// Issuers are few; whoever has thousands pays a look-up for each.
    private static let skewsMax = 1_000

    /// What keeps an eye on the machine.
    private var watches: [any AnyObject] = [] {
        didSet { sleepWatch = watches.lazy.compactMap { $0 as? SleepWatch }.first }
    }
    /// The one of them that has sleep delayed; nil without a system bus.
    private var sleepWatch: SleepWatch?
    private var suspendDrift = SuspendDrift()
    /// When logind said that the machine is about to sleep; nil if it is not.
    private var sleepAnnouncedAt: Moment?
    /// Whether the machine has a route.
    private(set) var isOnline = true
    /// What the store has of the clocks; nil until it is asked for.
    private var clockOffset: ClockOffset?
    /// How far the issuers' clocks are ahead of ours, as far as asked for; nil for one that has not told.
    private var clockSkews: [IssuerID: Duration?] = [:]

    /// Whether a step of the clock, a route that comes up and a resume are told by the system.
    var watchesClock: Bool { watches.contains { $0 is ClockWatch } }
    var watchesRoutes: Bool { watches.contains { $0 is RouteWatch } }
    var watchesSleep: Bool { sleepWatch != nil }

    mutating func begin(_ watches: [any AnyObject], isOnline: Bool) {
        self.watches = watches
        self.isOnline = isOnline
    }

    mutating func end() {
        watches = []
    }

    // MARK: What happens to the machine

    enum Event: Sendable {
        /// The wall clock was stepped, or the machine slept: the kernel reports both alike.
        case clockStepped
        /// logind says that the machine is about to sleep. Requests under way hold it up for a moment; a token that is sent now may be
        /// spent, and its answer lost.
        case sleepBegins
        /// logind says that the machine woke.
        case resumed
        /// The system bus is gone.
        case sleepWatchLost
        /// A route came up, or the last one went.
        case routeChanged(isOnline: Bool)
    }

    /// What follows for the daemon.
    enum Consequence {
        /// Deadlines have passed in a sleep, and connections have died.
        case slept
        case routeChanged
        /// Nothing but that it may be time for something.
        case none
    }

    mutating func take(_ event: Event, at now: Moment) -> Consequence {
        switch event {
        case .clockStepped:
            // What there is to do about a step, the turn does.
            return suspendDrift.hasSlept() ? .slept : .none
        case .sleepBegins:
            sleepAnnouncedAt = now
        case .resumed:
            sleepIsOver()
            // Where the clocks have told already, this is no news.
            return suspendDrift.hasSlept() ? .slept : .none
        case .sleepWatchLost:
            // The clocks tell of sleep, too.
            watches.removeAll { $0 is SleepWatch }
            sleepIsOver()
        case .routeChanged(let isOnline):
            guard isOnline != self.isOnline else { return .none }
            self.isOnline = isOnline
            return .routeChanged
        }
        return .none
    }

    // MARK: Sleep

    /// Has the machine wait with a sleep for the answers that are under way.
    ///
    /// It may hear of a sleep while it asks, which is told at once: so it changes nothing here.
    func delaySleep() {
        sleepWatch?.delaySleep("a token is being refreshed")
    }

    func allowSleep() {
        sleepWatch?.allowSleep()
    }

    mutating func sleepIsOver() {
        sleepAnnouncedAt = nil
    }

    /// How long nothing is to be sent, for the machine is about to sleep; nil if it is not.
    func timeToSleep(at now: Moment) -> Duration? {
        guard let sleepAnnouncedAt else { return nil }
        let rest = Self.longestFallingAsleep - now.elapsed(since: sleepAnnouncedAt)
        return rest > .zero ? rest : nil
    }

    // MARK: Clocks

    /// How the wall clock was found not to be where the stored deadlines take it to be.
    enum ClockChange: Equatable {
        case stepped(by: Duration)
        /// It is before an earlier boot: a machine whose clock has no battery begins in 1970.
        case isBehind(by: Duration)

        var size: Duration {
            switch self {
            case .stepped(let size), .isBehind(let size): size
            }
        }
    }

    /// Keeps the stored deadlines true to the time that really passes.
    ///
    /// Deadlines are wall-clock times. After a step backward they would all come too late by the size of the step, so they move with
    /// it. After a step forward some come too early; their accounts decide by both clocks what is due.
    ///
    /// Looked at in every turn: where the kernel tells of no steps, a timer that fires by the old time is enough to notice one. A step is
    /// told once it is noted, or each try at a store that cannot be written would tell it again.
    ///
    /// - Returns: what was noted; nil if the clock is where it was.
    /// - Throws: `StoreError` if it could not be noted; the next turn tries again.
    mutating func reconcileClock(in store: AccountStore, at now: Moment) throws(StoreError) -> ClockChange? {
        let offset = ClockOffset(at: now)
        if clockOffset == nil { clockOffset = try store.clocks.clockOffset() }
        guard let known = clockOffset else {
            try record(offset, shiftingBy: .zero, in: store)
            return nil
        }
        if let step = offset.step(since: known) {
            try record(offset, shiftingBy: min(step, .zero), in: store)
            return .stepped(by: step)
        }
        if let behind = offset.timeLost(since: known, at: now.wall) {
            // How long the machine was off is unknown. All accounts decide by what they have whether it is from the future.
            let last = try store.schedule.lastDeadline()
            try record(offset, shiftingBy: min(behind, last.map { now.wall - $0 } ?? .zero), in: store)
            return .isBehind(by: behind)
        }
        if known.bootID != offset.bootID { try record(offset, shiftingBy: .zero, in: store) }
        return nil
    }

    private mutating func record(
        _ offset: ClockOffset,
        shiftingBy shift: Duration,
        in store: AccountStore
    ) throws(StoreError) {
        if shift < .zero {
            try store.schedule.shiftDeadlines(by: shift, clock: offset)
        } else {
            try store.clocks.recordClockOffset(offset)
        }
        clockOffset = offset
    }

    /// Notes how far the server's clock is from ours, if that has changed.
    mutating func noteSkew(_ skew: Duration, of issuer: IssuerID, in store: AccountStore) {
        // The header counts in whole seconds, and the answer has travelled.
        let tolerance = Duration.seconds(2)
        let known = clockSkew(of: issuer, in: store)
        guard known.map({ max($0 - skew, skew - $0) > tolerance }) ?? true else { return }
        // What is lost here is shown to people only, and comes again with the next answer.
        try? store.clocks.recordSkew(skew, of: issuer)
        clockSkews[issuer] = skew
    }

    /// How far the issuer's clock is ahead of ours, as its last answer told; nil if none has.
    mutating func clockSkew(of issuer: IssuerID, in store: AccountStore) -> Duration? {
        if let known = clockSkews[issuer] { return known }
        let stored = (try? store.clocks.skew(of: issuer)) ?? nil
        if clockSkews.count >= Self.skewsMax { clockSkews = [:] }
        clockSkews[issuer] = .some(stored)
        return stored
    }
}

extension ClockOffset {
    /// When that boot began, by its own wall clock.
    fileprivate var bootedAt: Timestamp { Timestamp(microseconds: 0) + wallMinusBoot }

    /// How far the wall clock was stepped since `known` was noted; nil if it was not, or not in the same boot.
    fileprivate func step(since known: ClockOffset) -> Duration? {
        let step = wallMinusBoot - known.wallMinusBoot
        // NTP slews by milliseconds all the time, and a leap second moves nothing that matters.
        let isStep = step > .milliseconds(1_500) || step < .milliseconds(-1_500)
        return bootID == known.bootID && isStep ? step : nil
    }

    /// How far `wall` is before the beginning of an earlier boot, at least, below zero; nil if it is not. A machine whose clock has no
    /// battery begins in 1970.
    fileprivate func timeLost(since known: ClockOffset, at wall: Timestamp) -> Duration? {
        let behind = wall - known.bootedAt
        return bootID != known.bootID && behind < .zero ? behind : nil
    }
}

/// Tells the coordinator what happens to the machine: clock steps, sleep, routes. Lives on the coordinator's queue.
final class HostWatch: Sendable {
    private let coordinator: RefreshCoordinator
    private let changeLog: ChangeLog

    init(coordinator: RefreshCoordinator, changeLog: ChangeLog) {
        self.coordinator = coordinator
        self.changeLog = changeLog
    }

    /// Begins to watch. A watch that cannot be had is done without: the log says so once.
    ///
    /// - Returns: the watches, to be held as long as they are to run, and whether there is a route now.
    func begin(on queue: DispatchQueue) -> (watches: [any AnyObject], isOnline: Bool) {
        var watches: [any AnyObject] = []
        var isOnline = true
        do throws(SystemdError) {
            watches.append(
                try ClockWatch(queue: queue) { [weak coordinator] in
                    coordinator?.assumeIsolated { HostChanges.take(.clockStepped, on: $0) }
                }
            )
        } catch {
            changeLog.unwatched(error, "steps of the clock are not noticed at once")
        }
        do throws(SystemdError) {
            let routes = try RouteWatch(queue: queue) { [weak coordinator] isOnline in
                coordinator?.assumeIsolated { HostChanges.take(.routeChanged(isOnline: isOnline), on: $0) }
            }
            isOnline = routes.hadRouteAtStart
            watches.append(routes)
        } catch {
            changeLog.unwatched(error, "the network is assumed to be up")
        }
        do throws(SystemdError) {
            watches.append(
                try SleepWatch(
                    queue: queue,
                    onLost: { [weak coordinator, changeLog] error in
                        // Later: it is the watch itself that calls.
                        queue.async { [weak coordinator] in
                            coordinator?.assumeIsolated { HostChanges.take(.sleepWatchLost, on: $0) }
                        }
                        changeLog.logger.info(
                            "the system bus is gone; the daemon notices sleep by the clocks",
                            metadata: [JournalKey.error: "\(error)"]
                        )
                    },
                    onSleep: { [weak coordinator] in
                        coordinator?.assumeIsolated { HostChanges.take(.sleepBegins, on: $0) }
                    },
                    onResume: { [weak coordinator] in coordinator?.assumeIsolated { HostChanges.take(.resumed, on: $0) }
                    }
                )
            )
        } catch {
            changeLog.logger.info(
                "no system bus; the daemon notices sleep by the clocks",
                metadata: [JournalKey.error: "\(error)"]
            )
        }
        return (watches, isOnline)
    }
}
