internal import CSystemd
package import Dispatch
internal import Glibc

/// Reports steps of the wall clock: NTP's first answer, an administrator, a resume with a wrong hardware clock.
///
/// Dispatch's wall-clock timers follow a step but do not report it. This watch uses a kernel timer that never expires
/// and that the kernel cancels at every step (timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`). The kernel also counts a
/// resume as a step. Several steps before the queue's next turn are reported once.
package final class ClockWatch {
    /// The timer's descriptor. Tests use it, because they cannot step the machine's clock.
    let descriptor: Int32
    private let source: any DispatchSourceRead

    /// Watches from now on and calls `onStep` on `queue`.
    ///
    /// - Throws: if the kernel has no such timer. The caller should continue, and check expiry at each wake-up as usual.
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

    /// Ends the watch; may be called twice. If it is called on the watch's queue, `onStep` is not called any more.
    package func cancel() {
        source.cancel()
    }

    /// Reads the timer's report and arms the timer again; false if there was no report (a spurious wake-up).
    static func consumeStep(_ descriptor: Int32) -> Bool {
        var expirations: UInt64 = 0
        let count = unsafe read(descriptor, &expirations, MemoryLayout<UInt64>.size)
        // ECANCELED means a step. Reaching the armed instant, years ahead, also requires a step.
        let isStep = count > 0 || (count < 0 && errno == ECANCELED)
        // Without this, the timer would stay silent. Arming a valid timer cannot fail.
        if isStep { try? arm(descriptor) }
        return isStep
    }

    private static func arm(_ descriptor: Int32) throws(SystemdError) {
        // The end of the kernel's time (2262); the kernel clamps the value.
        let never = itimerspec(it_interval: timespec(), it_value: timespec(tv_sec: .max, tv_nsec: 0))
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        let result = unsafe withUnsafePointer(to: never) { unsafe timerfd_settime(descriptor, flags, $0, nil) }
        guard result == 0 else { throw .clockTimerUnavailable(errno: errno) }
    }
}

extension SystemdError {
    fileprivate static func bootIDUnreadable(errno: Int32) -> SystemdError {
        SystemdError("cannot read \"\(BootClock.bootIDPath)\"", errno: errno)
    }

    /// The kernel provides no timer that reports clock steps.
    fileprivate static func clockTimerUnavailable(errno: Int32) -> SystemdError {
        SystemdError("cannot watch the clock for steps", errno: errno)
    }
}

/// The wall clock. It can be stepped in either direction (`ClockWatch` reports that).
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
        // Linux 2.6.39 and later have every clock that this module uses.
        preconditionFailure("clock_gettime does not know clock \(clock)")
    }
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

/// The clock that counts from boot, including suspends, and that nobody can step.
package enum BootClock {
    static let bootIDPath = "/proc/sys/kernel/random/boot_id"

    /// µs since boot, including suspends.
    package static func now() -> Int64 {
        microseconds(of: CLOCK_BOOTTIME)
    }

    /// The first 64 bits of the kernel's random ID of this boot. Readings of this clock can be compared only if their
    /// IDs are equal.
    ///
    /// - Throws: if it cannot be read. The caller should use the wall clock alone.
    package static func bootID() throws(SystemdError) -> Int64 {
        let descriptor = unsafe open(bootIDPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .bootIDUnreadable(errno: errno) }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor, &text, text.count)
        guard count >= 0 else { throw .bootIDUnreadable(errno: errno) }
        guard let id = bootID(in: String(decoding: text.prefix(count), as: UTF8.self)) else {
            throw SystemdError("\"\(bootIDPath)\" is not a UUID")
        }
        return id
    }

    /// The first 64 bits of the UUID in `text`; nil if it is not a UUID.
    static func bootID(in text: String) -> Int64? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "\n") }
        guard digits.count == 32, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        return UInt64(String(decoding: digits.prefix(16), as: UTF8.self), radix: 16).map { Int64(bitPattern: $0) }
    }
}

/// The two clocks that count from boot, read one after the other.
package struct ClockReading: Hashable, Sendable {
    /// µs since boot, including suspends (CLOCK_BOOTTIME).
    package var boot: Int64
    /// µs since boot, without suspends (CLOCK_MONOTONIC).
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

/// Notices a suspend without a bus. Only the boot-time clock runs during a suspend, so only a suspend increases its
/// lead over the monotonic clock.
package struct SuspendDrift: Hashable, Sendable {
    /// The shortest suspend that counts, in µs.
    ///
    /// The two clocks are read one after the other, and a busy machine may stop the process in between for tens of ms.
    /// No real suspend is shorter than a second, and one that was would change no deadline noticeably.
    package static let threshold: Int64 = 1_000_000

    private var drift: Int64

    /// Counts suspends after `reading`.
    package init(since reading: ClockReading = .now()) {
        drift = reading.drift
    }

    /// Whether the machine was suspended between the last reading and this one. Each suspend is reported once.
    package mutating func hasSlept(at reading: ClockReading = .now()) -> Bool {
        defer { drift = reading.drift }
        return reading.drift - drift >= Self.threshold
    }
}
