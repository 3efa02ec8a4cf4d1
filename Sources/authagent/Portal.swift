internal import CSystemd
internal import Basics
internal import Glibc
internal import Systemd

/// Opens an address through org.freedesktop.portal.OpenURI on the session bus. Some desktops ask the person first.
final class Portal {
    /// The time limit of the call in µs. The bus may have to start the portal first.
    private static let patience: UInt64 = 10_000_000
    /// How many seconds to wait for a refusal, about as long as somebody looks at a dialog. Without an answer, the page
    /// counts as opened.
    private static let answerPatience: Int64 = 60
    private static let name = "org.freedesktop.portal.Desktop"
    private static let path = "/org/freedesktop/portal/desktop"
    private static let interface = "org.freedesktop.portal.OpenURI"

    /// The bus errors that mean that nobody opens addresses: nobody has the name, or its owner has no such method.
    private static let absences = [
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.UnknownInterface",
        "org.freedesktop.DBus.Error.UnknownMethod",
    ]

    private let handle: BusHandle
    private let inbox = PortalInbox()

    /// Connects to the bus.
    ///
    /// - Throws: if there is no bus.
    init(address: String) throws(ProgramError) {
        do throws(SystemdError) {
            handle = try BusHandle(address: address, context: inbox)
        } catch {
            throw .noBus(error)
        }
    }

    /// Opens `uri`. No error text and no argument list repeats it.
    ///
    /// - Parameters:
    ///   - parentWindow: "x11:XID" or "wayland:HANDLE"; empty for none.
    ///   - activationToken: XDG_ACTIVATION_TOKEN; nil for none.
    /// - Throws: also when the person closes the portal's dialog.
    func open(_ uri: String, parentWindow: String, activationToken: String?) throws(ProgramError) {
        try subscribe()
        guard let request = try call(uri, parentWindow, activationToken).path() else { throw .notOpened }
        switch try waitForResponse(to: request) {
        case 0, nil: return
        case 1: throw ProgramError(.cancelled, "the portal's dialog was closed")
        default: throw .notOpened
        }
    }

    /// Subscribes to the response. This comes before the call, because the portal may answer before the call returns.
    private func subscribe() throws(ProgramError) {
        let rule = "type='signal',sender='\(Self.name)',interface='org.freedesktop.portal.Request',member='Response'"
        let context = unsafe Unmanaged.passUnretained(inbox).toOpaque()
        let result = unsafe sd_bus_add_match(
            handle.bus,
            nil,
            rule,
            { message, context, _ in unsafe PortalInbox.take(message, context) },
            context
        )
        guard result >= 0 else { throw .noBus(.busUnavailable(errno: -result)) }
    }

    private func call(
        _ uri: String,
        _ parentWindow: String,
        _ activationToken: String?
    ) throws(ProgramError) -> BusMessage {
        var raw: OpaquePointer?
        let made = unsafe sd_bus_message_new_method_call(
            handle.bus,
            &raw,
            Self.name,
            Self.path,
            Self.interface,
            "OpenURI"
        )
        guard made >= 0, let raw = unsafe raw else { throw .notOpened }
        let question = unsafe BusMessage(raw)
        question.append(parentWindow)
        question.append(uri)
        question.within(.array, "{sv}") {
            // The request's path contains this connection's unique name, and the connection makes only one request. So
            // any token will do.
            Self.append("handle_token", "authagent", to: question)
            if let activationToken { Self.append("activation_token", activationToken, to: question) }
        }
        var answer: OpaquePointer?
        var error = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&error) }
        let result = unsafe sd_bus_call(handle.bus, question.message, Self.patience, &error, &answer)
        guard result >= 0, let answer = unsafe answer else {
            let isAbsent = Self.absences.contains { unsafe sd_bus_error_has_name(&error, $0) > 0 }
            guard isAbsent else { throw .notOpened }
            throw ProgramError(
                .misconfigured,
                "the session bus has no desktop portal that opens addresses",
                hint: "install the portal of your desktop, for instance:"
                    + " \(Command(program: "sudo", "apt", "install", "xdg-desktop-portal-gtk"))"
            )
        }
        return unsafe BusMessage(answer)
    }

    private static func append(_ key: String, _ value: String, to message: BusMessage) {
        message.within(.entry, "sv") {
            message.append(key)
            message.within(.variant, "s") { message.append(value) }
        }
    }

    /// The response's number; nil if none arrived in time.
    private func waitForResponse(to request: String) throws(ProgramError) -> UInt32? {
        let end = ContinuousClock.now + .seconds(Self.answerPatience)
        while true {
            var result: Int32 = 1
            while result > 0 { result = unsafe sd_bus_process(handle.bus, nil) }
            guard result >= 0 else { throw .notOpened }
            if let response = inbox.responses[request] { return response }
            let rest = (end - .now).components
            guard rest.seconds >= 0, rest.attoseconds >= 0 else { return nil }
            _ = unsafe sd_bus_wait(handle.bus, UInt64(rest.seconds) * 1_000_000 + 1)
        }
    }
}

extension ProgramError {
    /// The portal opened nothing, and does not say why.
    fileprivate static let notOpened = ProgramError(
        .unavailable,
        "the desktop portal did not open the address",
        hint: "'\(Command(program: "journalctl", "--user", "-t", "xdg-desktop-portal"))' may say why"
    )
}

/// The object behind the context pointer of the C callback. `BusHandle` keeps it alive.
private final class PortalInbox {
    /// The responses, by the path of the request.
    var responses: [String: UInt32] = [:]

    static func take(_ raw: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let context = unsafe context, let raw = unsafe raw, let path = unsafe sd_bus_message_get_path(raw) else {
            return 0
        }
        let inbox = unsafe Unmanaged<PortalInbox>.fromOpaque(context).takeUnretainedValue()
        // BusMessage takes over a reference, and this one belongs to libsystemd.
        let message = unsafe BusMessage(sd_bus_message_ref(raw))
        if let number = message.number() { inbox.responses[unsafe String(cString: path)] = number }
        return 0
    }
}
