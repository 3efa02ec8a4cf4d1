internal import CSystemd
package import Dispatch
internal import Glibc

/// A service that the service manager runs once and then forgets (org.freedesktop.systemd1(5), `StartTransientUnit`).
package struct TransientUnit: Sendable, Equatable {
    package var name: String
    package var description: String
    /// The command, beginning with an absolute path. systemd expands nothing in it.
    package var command: [String]
    package var environment: [String: String]
    /// The time in µs after which systemd stops it.
    package var timeLimitUSec: UInt64

    package init(
        name: String,
        description: String,
        command: [String],
        environment: [String: String],
        timeLimitUSec: UInt64
    ) {
        self.name = name
        self.description = description
        self.command = command
        self.environment = environment
        self.timeLimitUSec = timeLimitUSec
    }
}

/// Starts transient units of the user's service manager, and reports when they have ended. Everything happens on one
/// queue.
package final class TransientUnits {
    package enum Event: Sendable, Equatable {
        /// A unit of this name exists and has not ended.
        case exists(String)
        /// Nothing was started.
        case refused(String, reason: String)
        /// The unit has ended, or a unit of this name that was not ours.
        case removed(String)
    }

    private let bus: BusHandle
    private let connection: BusConnection
    private let listener: Listener

    /// Connects without waiting.
    ///
    /// - Parameters:
    ///   - runtimeDirectory: the user's `$XDG_RUNTIME_DIR`, which contains the manager's own socket even if there is no
    ///     session bus.
    ///   - onEvent: called on `queue`.
    ///   - onLost: called once, on `queue`, when the manager goes away. After that, no events are reported.
    /// - Throws: `busUnavailable` if there is no manager.
    package init(
        runtimeDirectory: String,
        queue: DispatchQueue,
        onEvent: @escaping @Sendable (Event) -> Void,
        onLost: @escaping @Sendable (SystemdError) -> Void
    ) throws(SystemdError) {
        listener = Listener(onEvent)
        let address = "unix:path=\(runtimeDirectory)/systemd/private"
        bus = try BusHandle(address: address, isDirect: true, context: listener)
        // The manager sends all signals to clients on its own socket, without a subscription.
        let result = unsafe sd_bus_match_signal(
            bus.bus,
            nil,
            nil,
            Self.path,
            Self.manager,
            "UnitRemoved",
            { message, context, _ in unsafe Listener.takeRemoval(message, context) },
            Unmanaged.passUnretained(listener).toOpaque()
        )
        guard result >= 0 else { throw .busUnavailable(errno: -result) }
        connection = BusConnection(bus, queue: queue, onLost: onLost)
    }

    private static let path = "/org/freedesktop/systemd1"
    private static let manager = "org.freedesktop.systemd1.Manager"

    /// Requests the start of `unit`. `onEvent` reports failures and the end, but not the successful start.
    package func start(_ unit: TransientUnit) {
        var call: OpaquePointer?
        let made = unsafe sd_bus_message_new_method_call(
            bus.bus,
            &call,
            nil,
            Self.path,
            Self.manager,
            "StartTransientUnit"
        )
        guard made >= 0, let call = unsafe call else { return listener.refuse(unit.name, errno: -made) }
        let message = unsafe BusMessage(call)
        write(unit, to: message)
        let sent = unsafe sd_bus_call_async(
            bus.bus,
            nil,
            message.message,
            { message, context, _ in unsafe Listener.takeReply(message, context) },
            Unmanaged.passUnretained(listener).toOpaque(),
            0
        )
        var cookie: UInt64 = 0
        guard sent >= 0, unsafe sd_bus_message_get_cookie(message.message, &cookie) >= 0 else {
            return listener.refuse(unit.name, errno: -sent)
        }
        listener.await(cookie, unit.name)
        connection.process()
    }

    private func write(_ unit: TransientUnit, to message: BusMessage) {
        message.append(unit.name)
        message.append("fail")
        message.within(.array, "(sv)") {
            property("Description", "s", message) { message.append(unit.description) }
            property("Type", "s", message) { message.append("exec") }
            property("ExecStartEx", "a(sasas)", message) {
                message.within(.array, "(sasas)") {
                    message.within(.structure, "sasas") {
                        message.append(unit.command.first ?? "")
                        message.append(unit.command)
                        // An argument with a dollar sign stays as it is.
                        message.append(["no-env-expand"])
                    }
                }
            }
            property("Environment", "as", message) {
                message.append(unit.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
            }
            property("StandardOutput", "s", message) { message.append("journal") }
            property("StandardError", "s", message) { message.append("journal") }
            property("RuntimeMaxUSec", "t", message) { message.append(unit.timeLimitUSec) }
            property("TimeoutStopUSec", "t", message) { message.append(Self.stopLimitUSec) }
            // systemd also forgets a failed unit; its output is in the journal.
            property("CollectMode", "s", message) { message.append("inactive-or-failed") }
        }
        message.within(.array, "(sa(sv))") {}
    }

    /// The time between SIGTERM and SIGKILL.
    private static let stopLimitUSec: UInt64 = 5_000_000

    private func property(_ name: String, _ type: String, _ message: BusMessage, _ value: () -> Void) {
        message.within(.structure, "sv") {
            message.append(name)
            message.within(.variant, type, value)
        }
    }
}

/// The object behind the context pointer of the C callbacks. `BusHandle` keeps it alive.
private final class Listener {
    private let onEvent: @Sendable (TransientUnits.Event) -> Void
    /// The units whose start request has not been answered, by the call's number.
    private var awaited: [UInt64: String] = [:]

    init(_ onEvent: @escaping @Sendable (TransientUnits.Event) -> Void) {
        self.onEvent = onEvent
    }

    func await(_ cookie: UInt64, _ unit: String) { awaited[cookie] = unit }

    func refuse(_ unit: String, errno: Int32) {
        onEvent(.refused(unit, reason: SystemdError.busUnavailable(errno: errno).description))
    }

    static func takeReply(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let context = unsafe context else { return 0 }
        let listener = unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        var cookie: UInt64 = 0
        guard unsafe sd_bus_message_get_reply_cookie(message, &cookie) >= 0,
            let unit = listener.awaited.removeValue(forKey: cookie),
            unsafe sd_bus_message_is_method_error(message, nil) > 0
        else { return 0 }
        if unsafe sd_bus_message_is_method_error(message, "org.freedesktop.systemd1.UnitExists") > 0 {
            listener.onEvent(.exists(unit))
        } else {
            let error = unsafe sd_bus_message_get_error(message)
            let text = unsafe error?.pointee.message.map { unsafe String(cString: $0) }
            listener.onEvent(.refused(unit, reason: text ?? "the service manager refuses"))
        }
        return 0
    }

    /// Handles one `UnitRemoved(s id, o path)`; a malformed one is ignored.
    static func takeRemoval(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        var name: UnsafePointer<CChar>?
        guard let context = unsafe context,
            unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_STRING), &name) > 0, let name = unsafe name
        else { return 0 }
        let listener = unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        listener.onEvent(.removed(unsafe String(cString: name)))
        return 0
    }
}
