internal import Dispatch
internal import Glibc
internal import RefreshCore
internal import Systemd

/// Where the coordinator gets time and chance from; tests put in their own.
struct Timebase: Sendable {
    /// Both clocks, read together.
    var now: @Sendable () -> Moment
    /// 0..<1, drawn anew at each call.
    var jitter: @Sendable () -> Double

    /// The machine's clocks and the system's random numbers.
    ///
    /// - Throws: `SystemdError` if this boot has no id.
    static func system() throws(SystemdError) -> Timebase {
        let bootID = try BootClock.bootID()
        return Timebase(
            now: {
                Moment(
                    wall: Timestamp(microseconds: WallClock.now()),
                    boot: BootTime(bootID: bootID, microseconds: BootClock.now())
                )
            },
            jitter: { Double.random(in: 0..<1) }
        )
    }
}

/// The daemon's one timer: fires once at a wall-clock instant.
///
/// libdispatch arms a `CLOCK_REALTIME` timerfd with an absolute time for it, which fires on resume from a suspend and when the
/// clock is stepped forward past it. Steps backward are the `ClockWatch`'s to tell.
final class DeadlineTimer {
    private let source: any DispatchSourceTimer
    /// What the timer is armed on; nil while it is not.
    private(set) var deadline: Timestamp?

    /// - Parameters:
    ///   - queue: where `onDeadline` runs.
    init(queue: DispatchQueue, onDeadline: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: onDeadline)
        source.schedule(wallDeadline: .distantFuture)
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Arms the timer on `deadline`, at once if that is past; nil disarms it.
    func arm(at deadline: Timestamp?) {
        guard deadline != self.deadline else { return }
        self.deadline = deadline
        guard let deadline else {
            source.schedule(wallDeadline: .distantFuture)
            return
        }
        // Dispatch takes the beginning of 1970 for no time at all.
        let microseconds = max(deadline.microseconds, 1)
        let time = timespec(
            tv_sec: Int(microseconds / 1_000_000),
            tv_nsec: Int(microseconds % 1_000_000) * 1_000
        )
        // No leeway: the refresh rule has jitter of its own, and one timer has nothing to be merged with.
        source.schedule(wallDeadline: DispatchWallTime(timespec: time), leeway: .nanoseconds(0))
    }

    /// To be called when the timer has fired: it must be armed anew, even on the same instant.
    func fired() {
        deadline = nil
    }
}
