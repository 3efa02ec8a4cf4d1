internal import CSystemd
package import Dispatch
internal import Glibc

/// Tells when somebody steps the wall clock: NTP's first answer, an administrator, a resume with a wrong hardware clock.
///
/// Dispatch's own wall-clock timers follow a step but do not report it. This one is a kernel timer that never expires and
/// that the kernel cancels at every step (timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`). The kernel counts a resume as a
/// step too. Steps that follow each other before the queue turns over are told once.
package final class ClockWatch {
    /// The timer; for tests, which cannot step the machine's clock.
    let descriptor: Int32
    private let source: any DispatchSourceRead

    /// Watches from now on and calls `onStep` on `queue`.
    ///
    /// - Throws: `clockTimerUnavailable`; the caller should go on, and judge expiry at each wake-up as always.
    package init(queue: DispatchQueue, onStep: @escaping @Sendable () -> Void) throws(SystemdError) {
        let descriptor = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard descriptor >= 0 else { throw .clockTimerUnavailable(errno: errno) }
        do throws(SystemdError) {
            try Self.arm(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            guard Self.consumeStep(descriptor) else { return }
            onStep()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit { cancel() }

    /// Ends the watch; may be called twice. On the watch's queue no call of `onStep` follows.
    package func cancel() {
        source.cancel()
    }

    /// Takes the report out of the timer and arms it anew; false when there was none (the readiness was spurious).
    static func consumeStep(_ descriptor: Int32) -> Bool {
        var expirations: UInt64 = 0
        let count = unsafe read(descriptor, &expirations, MemoryLayout<UInt64>.size)
        // ECANCELED is the step. A true expiration can only be one as well, over the years up to the armed instant.
        let isStep = count > 0 || (count < 0 && errno == ECANCELED)
        // Not armed again, the timer would stay silent. Failure is impossible for a valid timer and leaves it at that.
        if isStep { try? arm(descriptor) }
        return isStep
    }

    private static func arm(_ descriptor: Int32) throws(SystemdError) {
        // The end of the kernel's time (2262); it clamps to what it can hold.
        let never = itimerspec(it_interval: timespec(), it_value: timespec(tv_sec: .max, tv_nsec: 0))
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        let result = unsafe withUnsafePointer(to: never) { unsafe timerfd_settime(descriptor, flags, $0, nil) }
        guard result == 0 else { throw .clockTimerUnavailable(errno: errno) }
    }
}

/// The clock on the wall; it can be stepped either way (`ClockWatch` tells).
package enum WallClock {
    /// µs since 1970-01-01 00:00 UTC.
    package static func now() -> Int64 {
        microseconds(of: CLOCK_REALTIME)
    }
}

/// The time of `clock` in µs.
func microseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    guard unsafe clock_gettime(clock, &time) == 0 else {
        // Linux ≥ 2.6.39 has every clock that this module asks for.
        preconditionFailure("clock_gettime does not know clock \(clock)")
    }
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

/// The clock that runs from boot, through suspends, and that nobody can step.
package enum BootClock {
    static let bootIDPath = "/proc/sys/kernel/random/boot_id"

    /// µs since boot, time asleep included.
    package static func now() -> Int64 {
        microseconds(of: CLOCK_BOOTTIME)
    }

    /// The first 64 bits of the kernel's random id of this boot: readings of this clock compare only under the same id.
    ///
    /// - Throws: `bootIDUnreadable`, `malformedBootID`; the caller should judge by the wall clock alone.
    package static func bootID() throws(SystemdError) -> Int64 {
        let descriptor = unsafe open(bootIDPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .bootIDUnreadable(errno: errno) }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor, &text, text.count)
        guard count >= 0 else { throw .bootIDUnreadable(errno: errno) }
        guard let id = bootID(in: String(decoding: text.prefix(count), as: UTF8.self)) else { throw .malformedBootID }
        return id
    }

    /// The first 64 bits of the UUID that `text` holds; nil if it holds none.
    static func bootID(in text: String) -> Int64? {
        let digits = text.filter { $0 != "-" && $0 != "\n" }
        return MessageID(text: digits).map { Int64(bitPattern: $0.high) }
    }
}

/// The two clocks that count from boot, read together.
package struct ClockReading: Hashable, Sendable {
    /// µs since boot, time asleep included (CLOCK_BOOTTIME).
    package var boot: Int64
    /// µs since boot, time asleep left out (CLOCK_MONOTONIC).
    package var monotonic: Int64

    package init(boot: Int64, monotonic: Int64) {
        self.boot = boot
        self.monotonic = monotonic
    }

    package static func now() -> ClockReading {
        ClockReading(boot: BootClock.now(), monotonic: microseconds(of: CLOCK_MONOTONIC))
    }

    /// µs that the machine has slept since boot.
    package var drift: Int64 { boot - monotonic }
}

/// Notices that the machine slept, without a bus: only the boot-time clock runs in a suspend, so its lead over the
/// monotonic clock grows by every sleep and by nothing else.
package struct SuspendDrift: Hashable, Sendable {
    /// The least sleep that counts, in µs.
    ///
    /// The two clocks are read one after the other, and a busy machine may stop the process between: tens of ms. No real
    /// suspend is shorter than a second, and one that was would leave every deadline where it was.
    package static let threshold: Int64 = 1_000_000

    private var drift: Int64

    /// Sleeps count from `reading` on.
    package init(since reading: ClockReading = .now()) {
        drift = reading.drift
    }

    /// Whether the machine slept between the last reading and this one; a sleep is told once.
    package mutating func hasSlept(at reading: ClockReading = .now()) -> Bool {
        defer { drift = reading.drift }
        return reading.drift - drift >= Self.threshold
    }
}
