internal import CSystemd
package import Dispatch
internal import Glibc

/// Tells when the machine wakes from a sleep that logind led: the signal `PrepareForSleep(false)` on the system bus
/// (org.freedesktop.login1(5)).
///
/// A machine without logind gives no signal and no error; `SuspendDrift` and `ClockWatch` notice the sleep there.
package final class SleepWatch {
    private let connection: BusConnection

    /// Connects without waiting, then calls `onResume` after each sleep, on `queue`.
    ///
    /// - Parameters:
    ///   - address: a D-Bus address; nil means the system bus.
    ///   - onLost: called once, on `queue`, when the bus goes away or refuses the subscription. The watch is over then.
    /// - Throws: `busUnavailable` when there is no bus; the caller should go on without.
    package init(
        queue: DispatchQueue,
        address: String? = nil,
        onLost: @escaping @Sendable (SystemdError) -> Void,
        onResume: @escaping @Sendable () -> Void
    ) throws(SystemdError) {
        let listener = ResumeListener(onResume)
        let handle = try BusHandle(address: address, context: listener)
        // Asynchronous, or a hung bus would hang the daemon's start. Without a callback of ours for its answer,
        // libsystemd closes the connection when the subscription is refused, and that is reported as lost.
        let result = unsafe sd_bus_match_signal_async(
            handle.bus,
            nil,
            "org.freedesktop.login1",
            "/org/freedesktop/login1",
            "org.freedesktop.login1.Manager",
            "PrepareForSleep",
            { message, context, _ in unsafe ResumeListener.take(message, context) },
            nil,
            Unmanaged.passUnretained(listener).toOpaque()
        )
        guard result >= 0 else { throw .busUnavailable(errno: -result) }
        connection = BusConnection(handle, queue: queue, onLost: onLost)
    }

    /// Ends the watch; may be called twice. On the watch's queue no call follows.
    package func cancel() {
        connection.cancel()
    }
}

/// What the C callback finds behind its context pointer; `BusHandle` keeps it alive.
private final class ResumeListener {
    private let onResume: @Sendable () -> Void

    init(_ onResume: @escaping @Sendable () -> Void) {
        self.onResume = onResume
    }

    /// Takes one `PrepareForSleep(b start)`; a malformed one is passed over.
    static func take(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        var isStarting: Int32 = 0
        guard let context = unsafe context,
            unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_BOOLEAN), &isStarting) > 0
        else { return 0 }
        if isStarting == 0 {
            unsafe Unmanaged<ResumeListener>.fromOpaque(context).takeUnretainedValue().onResume()
        }
        return 0
    }
}
