internal import CSystemd
package import Dispatch
internal import Glibc

/// Tells when a sleep that logind leads begins and ends, by the signal `PrepareForSleep` on the system bus, and has it wait for a moment
/// by a delay lock (org.freedesktop.login1(5)).
///
/// A machine without logind gives no signal, no lock and no error; `SuspendDrift` and `ClockWatch` notice the sleep there.
package final class SleepWatch {
    private let connection: BusConnection
    private let bus: BusHandle
    private let listener: SleepListener

    /// Connects without waiting, then calls `onSleep` before each sleep and `onResume` after it, on `queue`.
    ///
    /// - Parameters:
    ///   - address: a D-Bus address; nil means the system bus.
    ///   - onLost: called once, on `queue`, when the bus goes away or refuses the subscription. The watch is over then.
    /// - Throws: `busUnavailable` when there is no bus; the caller should go on without.
    package init(
        queue: DispatchQueue,
        address: String? = nil,
        onLost: @escaping @Sendable (SystemdError) -> Void,
        onSleep: @escaping @Sendable () -> Void,
        onResume: @escaping @Sendable () -> Void
    ) throws(SystemdError) {
        listener = SleepListener(onSleep: onSleep, onResume: onResume)
        bus = try BusHandle(address: address, context: listener)
        // Asynchronous, or a hung bus would hang the daemon's start. Without a callback of ours for its answer,
        // libsystemd closes the connection when the subscription is refused, and that is reported as lost.
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

    /// Has logind wait with a sleep until `allowSleep()`, as long as its `InhibitDelayMaxSec=` says. On the watch's queue only.
    ///
    /// - Parameter reason: what `systemd-inhibit --list` shows.
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
        // A machine without logind is not given one.
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

    /// Gives the lock back, if there is one. On the watch's queue only.
    package func allowSleep() {
        listener.releaseLock()
    }

    /// Ends the watch; may be called twice. On the watch's queue no call follows.
    package func cancel() {
        connection.cancel()
        listener.releaseLock()
    }
}

/// What the C callbacks find behind their context pointer; `BusHandle` keeps it alive.
private final class SleepListener {
    private enum Lock {
        case none
        /// Asked for, and perhaps not wanted any more.
        case awaited(isWanted: Bool)
        case held(Int32)
        /// There is no logind, or it gives this user none.
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

    /// - Returns: whether a lock has to be asked for.
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

    /// Takes one `PrepareForSleep(b start)`; a malformed one is passed over.
    static func takeSignal(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        var isStarting: Int32 = 0
        guard let context = unsafe context,
            unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_BOOLEAN), &isStarting) > 0
        else { return 0 }
        let listener = unsafe Unmanaged<SleepListener>.fromOpaque(context).takeUnretainedValue()
        if isStarting == 0 { listener.onResume() } else { listener.onSleep() }
        return 0
    }

    /// Takes the answer to `Inhibit`: the lock, which lasts until its descriptor is closed.
    static func takeLock(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let context = unsafe context else { return 0 }
        let listener = unsafe Unmanaged<SleepListener>.fromOpaque(context).takeUnretainedValue()
        guard case .awaited(let isWanted) = listener.lock else { return 0 }
        guard unsafe sd_bus_message_is_method_error(message, nil) == 0 else {
            // Others pass: a sleep that has begun, a logind that is being restarted.
            let final = ["ServiceUnknown", "NameHasNoOwner", "AccessDenied", "InteractiveAuthorizationRequired"]
            listener.lockRefused(
                forGood: final.contains {
                    unsafe sd_bus_message_is_method_error(message, "org.freedesktop.DBus.Error." + $0) > 0
                }
            )
            return 0
        }
        var descriptor: Int32 = -1
        // The message's own is closed with it.
        let result = unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UNIX_FD), &descriptor)
        let copy = result > 0 && isWanted ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1
        listener.lock = copy >= 0 ? .held(copy) : .none
        return 0
    }
}
