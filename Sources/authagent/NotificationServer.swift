internal import CSystemd
internal import Glibc
internal import Systemd

/// An event of the notification server.
enum NotificationEvent: Equatable {
    /// A person clicked. `activationToken` allows the started program to take the focus; nil if the desktop has none.
    case invoked(id: UInt32, action: String, activationToken: String?)
    /// The notification is no longer on the screen.
    ///
    /// - Parameter byPerson: whether a person dismissed it; false if the desktop removed it, or this program.
    case closed(id: UInt32, byPerson: Bool)
    /// The server started or ended.
    case changed
}

/// The notification server org.freedesktop.Notifications on the session bus (Desktop Notifications Specification 1.2).
final class NotificationServer {
    /// The time limit of a call in µs. The bus may have to start the server first.
    private static let patience: UInt64 = 10_000_000
    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    private let handle: BusHandle
    private let inbox = NotificationInbox()

    /// Connects to the bus.
    ///
    /// - Parameter address: the address of the session bus.
    /// - Throws: `busUnavailable`.
    init(address: String) throws(SystemdError) {
        handle = try BusHandle(address: address, context: inbox)
        let context = unsafe Unmanaged.passUnretained(inbox).toOpaque()
        let rules = [
            "type='signal',sender='\(Self.name)',path='\(Self.path)',interface='\(Self.name)'",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.name)'",
        ]
        for rule in rules {
            let result = unsafe sd_bus_add_match_async(
                handle.bus,
                nil,
                rule,
                { message, context, _ in unsafe NotificationInbox.take(message, context) },
                nil,
                context
            )
            guard result >= 0 else { throw .busUnavailable(errno: -result) }
        }
    }

    /// The descriptor to watch with poll(2).
    var descriptor: Int32 { handle.descriptor }

    /// Lets libsystemd process the bus, and returns the server's events.
    ///
    /// - Throws: `busUnavailable` when the bus is gone.
    func takeEvents() throws(SystemdError) -> [NotificationEvent] {
        var result: Int32 = 1
        while result > 0 { result = unsafe sd_bus_process(handle.bus, nil) }
        guard result >= 0 else { throw .busUnavailable(errno: -result) }
        guard unsafe sd_bus_is_open(handle.bus) > 0 else { throw .busUnavailable(errno: ECONNRESET) }
        defer { inbox.events = [] }
        return inbox.events
    }

    /// The time in ms until libsystemd must be called again; -1 for never.
    var timeout: Int32 {
        var deadline = UInt64.max
        guard unsafe sd_bus_get_timeout(handle.bus, &deadline) >= 0, deadline != .max else { return -1 }
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1_000
        return deadline <= microseconds ? 0 : Int32(clamping: (deadline - microseconds) / 1_000 + 1)
    }

    /// Whether libsystemd has data that the socket did not take yet.
    var wantsToWrite: Bool { unsafe sd_bus_get_events(handle.bus) & POLLOUT != 0 }

    // MARK: Calls

    /// Whether the server shows buttons; nil if it does not answer.
    func showsActions() -> Bool? {
        guard let answer = call("GetCapabilities", { _ in }) else { return nil }
        var capabilities: [String] = []
        answer.enter(.array, "s") { while let capability = answer.text() { capabilities.append(capability) } }
        return capabilities.contains("actions")
    }

    /// Shows a notification that stays until the person handles it.
    ///
    /// - Parameter isQuiet: whether it may wait until the person looks.
    /// - Parameter actions: the buttons by key; "default" is a click on the notification itself.
    /// - Returns: its number; nil if there is no server, or if it refuses.
    func show(
        _ summary: String,
        body: String,
        isQuiet: Bool = false,
        actions: [(key: String, label: String)],
        replaces: UInt32
    ) -> UInt32? {
        let answer = call("Notify") { message in
            message.append("authrefresh")
            message.append(replaces)
            message.append("dialog-password")
            message.append(summary)
            message.append(body)
            message.within(.array, "s") {
                for (key, label) in actions {
                    message.append(key)
                    message.append(label)
                }
            }
            message.within(.array, "{sv}") { Self.appendHints(to: message, isQuiet: isQuiet) }
            // It does not expire: 0.
            message.append(Int32(0))
        }
        return answer?.number()
    }

    func withdraw(_ id: UInt32) {
        _ = call("CloseNotification") { $0.append(id) }
    }

    /// Urgency 1 is normal, because nothing is lost within a day; 0 is low.
    private static func appendHints(to message: BusMessage, isQuiet: Bool) {
        message.within(.entry, "sv") {
            message.append("urgency")
            message.within(.variant, "y") { message.append(byte: isQuiet ? 0 : 1) }
        }
        message.within(.entry, "sv") {
            message.append("category")
            message.within(.variant, "s") { message.append("network") }
        }
    }

    private func call(_ method: String, _ write: (BusMessage) -> Void) -> BusMessage? {
        var message: OpaquePointer?
        let made = unsafe sd_bus_message_new_method_call(handle.bus, &message, Self.name, Self.path, Self.name, method)
        guard made >= 0, let message = unsafe message else { return nil }
        let question = unsafe BusMessage(message)
        write(question)
        var answer: OpaquePointer?
        let result = unsafe sd_bus_call(handle.bus, question.message, Self.patience, nil, &answer)
        guard result >= 0, let answer = unsafe answer else { return nil }
        return unsafe BusMessage(answer)
    }
}

/// The object behind the context pointer of the C callback. `BusHandle` keeps it alive.
private final class NotificationInbox {
    var events: [NotificationEvent] = []
    /// The activation token for the click that the server will report next.
    private var activation: (id: UInt32, token: String)?

    static func take(_ raw: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let context = unsafe context, let raw = unsafe raw,
            let member = unsafe sd_bus_message_get_member(raw)
        else { return 0 }
        let inbox = unsafe Unmanaged<NotificationInbox>.fromOpaque(context).takeUnretainedValue()
        // BusMessage takes over a reference, and this one belongs to libsystemd.
        let message = unsafe BusMessage(sd_bus_message_ref(raw))
        switch unsafe String(cString: member) {
        case "ActivationToken": inbox.activation = message.number().flatMap { id in message.text().map { (id, $0) } }
        case "ActionInvoked": if let id = message.number() { inbox.noteInvoked(id, message.text() ?? "") }
        case "NotificationClosed":
            // Reason 2: dismissed by the user. Others: it expired, a program closed it, or the server does not say why.
            if let id = message.number() { inbox.events.append(.closed(id: id, byPerson: message.number() == 2)) }
        case "NameOwnerChanged": inbox.events.append(.changed)
        default: break
        }
        return 0
    }

    private func noteInvoked(_ id: UInt32, _ action: String) {
        let token = activation.flatMap { $0.id == id ? $0.token : nil }
        activation = nil
        events.append(.invoked(id: id, action: action, activationToken: token))
    }
}
