internal import CSystemd
internal import Glibc

/// The socket unit whose sockets this process was given: the user's service manager has made them, and can make them anew.
package struct SocketUnit: Equatable, Sendable {
    package let name: String

    /// The one with the name of this process's service, as systemd has it; nil if this process is none of a user manager's.
    package static func ofThisProcess() -> SocketUnit? {
        var unit: UnsafeMutablePointer<CChar>?
        guard unsafe sd_pid_get_user_unit(0, &unit) >= 0, let unit = unsafe unit else { return nil }
        defer { unsafe free(unit) }
        return SocketUnit(service: unsafe String(cString: unit))
    }

    /// - Parameter service: the full name of the service; nil comes out for a unit of another kind.
    init?(service: String) {
        let suffix = ".service"
        guard service.hasSuffix(suffix) else { return nil }
        name = service.dropLast(suffix.count) + ".socket"
    }

    /// Has the manager restart the socket unit, and with it the service that requires it; blocks until the job is queued, at most
    /// 25 s.
    ///
    /// - Parameter runtimeDirectory: the user's, `$XDG_RUNTIME_DIR`. The manager's own socket is in it, which `systemctl --user`
    ///   speaks to and which is there without a bus, too.
    /// - Throws: `managerRefused`.
    package func restart(runtimeDirectory: String) throws(SystemdError) {
        var bus: OpaquePointer?
        var result = unsafe sd_bus_new(&bus)
        defer { unsafe sd_bus_flush_close_unref(bus) }
        if result >= 0 { result = unsafe sd_bus_set_address(bus, "unix:path=\(runtimeDirectory)/systemd/private") }
        if result >= 0 { result = unsafe sd_bus_start(bus) }
        if result >= 0 { result = unsafe authrefresh_restart_unit(bus, name) }
        guard result >= 0 else { throw .managerRefused(unit: name, errno: -result) }
    }
}
