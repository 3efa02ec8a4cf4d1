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
