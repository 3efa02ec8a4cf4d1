internal import Dispatch
internal import Glibc
internal import RefreshCore
// The compiler takes timespec from Glibc or from this module, whichever it loads first.
internal import SwiftOverlayShims
internal import Systemd

/// The coordinator's source of time and randomness. Tests replace it.
struct Timebase: Sendable {
    /// Reads both clocks together.
    var now: @Sendable () -> Moment
    /// A random number, 0..<1, new at each call.
    var jitter: @Sendable () -> Double

    /// The machine's clocks and the system's random numbers.
    ///
    /// - Throws: `SystemdError` if this boot has no ID.
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

/// The daemon's only timer. It fires once at a wall-clock instant.
///
/// libdispatch sets a `CLOCK_REALTIME` timerfd to the absolute time. That fires after a resume, and when the clock is
/// stepped forward past it. `ClockWatch` reports steps backward.
final class DeadlineTimer {
    private let source: any DispatchSourceTimer
    /// When the timer fires; nil if it is not set.
    private(set) var deadline: Timestamp?

    /// Creates a timer.
    ///
    /// - Parameter queue: where `onDeadline` runs.
    init(queue: DispatchQueue, onDeadline: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: onDeadline)
        source.schedule(wallDeadline: .distantFuture)
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Sets the timer to `deadline`. A past deadline fires at once, and nil stops the timer.
    func arm(at deadline: Timestamp?) {
        guard deadline != self.deadline else { return }
        self.deadline = deadline
        guard let deadline else {
            source.schedule(wallDeadline: .distantFuture)
            return
        }
        // For Dispatch, the beginning of 1970 means no time.
        let microseconds = max(deadline.microseconds, 1)
        let time = timespec(
            tv_sec: Int(microseconds / 1_000_000),
            tv_nsec: Int(microseconds % 1_000_000) * 1_000
        )
        // No leeway: the refresh rule has its own jitter, and a single timer cannot be combined with others.
        source.schedule(wallDeadline: DispatchWallTime(timespec: time), leeway: .nanoseconds(0))
    }

    /// Call this when the timer has fired. It must then be set again, even to the same instant.
    func fired() {
        deadline = nil
    }
}
