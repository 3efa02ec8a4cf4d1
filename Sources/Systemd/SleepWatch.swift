internal import CSystemd
package import Dispatch
internal import Glibc

/// Reports when a sleep through logind begins and ends, by the signal `PrepareForSleep` on the system bus. It can delay
/// the sleep for a moment with an inhibitor lock (org.freedesktop.login1(5)).
///
/// Without logind there is no signal, no lock and no error. `SuspendDrift` and `ClockWatch` then notice the sleep.
package final class SleepWatch {
    private let connection: BusConnection
    private let bus: BusHandle
    private let listener: SleepListener

    /// Connects without waiting, then calls `onSleep` before each sleep and `onResume` after it, on `queue`.
    ///
    /// - Parameters:
    ///   - address: a D-Bus address; nil is the system bus.
    ///   - onLost: called once, on `queue`, when the bus goes away or refuses the subscription. The watch is then over.
    /// - Throws: `busUnavailable` if there is no bus; the caller should continue without it.
    package init(
        queue: DispatchQueue,
        address: String? = nil,
        onLost: @escaping @Sendable (SystemdError) -> Void,
        onSleep: @escaping @Sendable () -> Void,
        onResume: @escaping @Sendable () -> Void
    ) throws(SystemdError) {
        listener = SleepListener(onSleep: onSleep, onResume: onResume)
        bus = try BusHandle(address: address, context: listener)
        // This call is asynchronous, because a hung bus would otherwise block the daemon's start. We set no callback
        // for the answer, so libsystemd closes the connection if the subscription is refused, and that is reported as
        // lost.
        let result = unsafe sd_bus_match_signal_async(
            bus.bus,
            nil,
            Self.logind,
            Self.path,
            Self.manager,
            "PrepareForSleep",
            { message, context, _ in unsafe SleepListener.takeSignal(message, context) },
            nil,
            Unmanaged.passUnretained(listener).toOpaque()
        )
        guard result >= 0 else { throw .busUnavailable(errno: -result) }
        connection = BusConnection(bus, queue: queue, onLost: onLost)
    }

    private static let logind = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"

    /// Makes logind delay the sleep until `allowSleep()`, for at most its `InhibitDelayMaxSec=`. Call it only on the
    /// watch's queue.
    ///
    /// - Parameter reason: the text that `systemd-inhibit --list` shows.
    package func delaySleep(_ reason: String) {
        guard listener.wantLock() else { return }
        var call: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(
            bus.bus,
            &call,
            Self.logind,
            Self.path,
            Self.manager,
            "Inhibit"
        )
        guard result >= 0, let call = unsafe call else { return listener.lockRefused(forGood: false) }
        let message = unsafe BusMessage(call)
        // Do not start logind on a machine that does not run it.
        unsafe sd_bus_message_set_auto_start(message.message, 0)
        for word in ["sleep", "authrefreshd", reason, "delay"] { message.append(word) }
        let sent = unsafe sd_bus_call_async(
            bus.bus,
            nil,
            message.message,
            { message, context, _ in unsafe SleepListener.takeLock(message, context) },
            Unmanaged.passUnretained(listener).toOpaque(),
            0
        )
        guard sent >= 0 else { return listener.lockRefused(forGood: false) }
        connection.process()
    }

    /// Releases the lock, if there is one. Call it only on the watch's queue.
    package func allowSleep() {
        listener.releaseLock()
    }

    /// Ends the watch; may be called twice. If it is called on the watch's queue, no callback follows.
    package func cancel() {
        connection.cancel()
        listener.releaseLock()
    }
}

/// The object behind the context pointer of the C callbacks. `BusHandle` keeps it alive.
private final class SleepListener {
    private enum Lock {
        case none
        /// The lock was requested, and may no longer be wanted.
        case awaited(isWanted: Bool)
        case held(Int32)
        /// There is no logind, or it refuses the lock to this user.
        case refused
    }

    private let onSleep: @Sendable () -> Void
    private let onResume: @Sendable () -> Void
    private var lock = Lock.none

    init(onSleep: @escaping @Sendable () -> Void, onResume: @escaping @Sendable () -> Void) {
        self.onSleep = onSleep
        self.onResume = onResume
    }

    deinit {
        releaseLock()
    }

    /// Notes that a lock is wanted.
    ///
    /// - Returns: whether it has to be requested.
    func wantLock() -> Bool {
        switch lock {
        case .none:
            lock = .awaited(isWanted: true)
            return true
        case .awaited: lock = .awaited(isWanted: true)
        case .held, .refused: break
        }
        return false
    }

    func releaseLock() {
        switch lock {
        case .none, .refused: break
        case .awaited: lock = .awaited(isWanted: false)
        case .held(let descriptor):
            close(descriptor)
            lock = .none
        }
    }

    func lockRefused(forGood isForGood: Bool) {
        lock = isForGood ? .refused : .none
    }

    /// Handles one `PrepareForSleep(b start)`; a malformed one is ignored.
    static func takeSignal(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        var isStarting: Int32 = 0
        guard let context = unsafe context,
            unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_BOOLEAN), &isStarting) > 0
        else { return 0 }
        let listener = unsafe Unmanaged<SleepListener>.fromOpaque(context).takeUnretainedValue()
        if isStarting == 0 { listener.onResume() } else { listener.onSleep() }
        return 0
    }

    /// Handles the answer to `Inhibit`. The lock lasts until its descriptor is closed.
    static func takeLock(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let context = unsafe context else { return 0 }
        let listener = unsafe Unmanaged<SleepListener>.fromOpaque(context).takeUnretainedValue()
        guard case .awaited(let isWanted) = listener.lock else { return 0 }
        guard unsafe sd_bus_message_is_method_error(message, nil) == 0 else {
            // Other errors are temporary: a sleep that has begun, a logind that is restarting.
            let final = ["ServiceUnknown", "NameHasNoOwner", "AccessDenied", "InteractiveAuthorizationRequired"]
            listener.lockRefused(
                forGood: final.contains {
                    unsafe sd_bus_message_is_method_error(message, "org.freedesktop.DBus.Error." + $0) > 0
                }
            )
            return 0
        }
        var descriptor: Int32 = -1
        // The message's own descriptor is closed together with the message.
        let result = unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UNIX_FD), &descriptor)
        let copy = result > 0 && isWanted ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1
        listener.lock = copy >= 0 ? .held(copy) : .none
        return 0
    }
}
