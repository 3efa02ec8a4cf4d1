internal import CSystemd
internal import Glibc

/// Socket activation: the sockets that the service manager passed to this process (sd_listen_fds(3)).
package enum ListenSockets {
    /// The passed sockets in the order of the socket unit; empty when the process was not activated by a socket.
    ///
    /// The environment is left as it is: `LISTEN_PID` names this process, so no child takes the variables for its own.
    ///
    /// - Throws: `malformedListenEnvironment`; `notListeningUnixSocket` for the first socket of another kind. Either is a
    ///   fault of the unit files; the caller should refuse to start.
    package static func received() throws(SystemdError) -> [ListenSocket] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(0, &names)
        defer { unsafe release(names, count: count) }
        guard count >= 0 else { throw .malformedListenEnvironment(errno: -count) }

        var sockets: [ListenSocket] = []
        for index in 0..<Int(count) {
            let descriptor = SD_LISTEN_FDS_START + Int32(index)
            let name = if let text = unsafe names?[index] { unsafe String(cString: text) } else { "unknown" }
            // libsystemd has set close-on-exec already; it looks at the descriptors no further than that.
            guard sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
                throw .notListeningUnixSocket(name: name, descriptor: descriptor)
            }
            sockets.append(ListenSocket(descriptor: descriptor, name: name))
        }
        return sockets
    }

    private static func release(_ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int32) {
        guard let names = unsafe names else { return }
        for index in 0..<Int(max(count, 0)) {
            unsafe free(names[index])
        }
        unsafe free(names)
    }
}

/// A listening Unix stream socket that the service manager opened for us; close-on-exec is set.
package struct ListenSocket: Hashable, Sendable {
    /// The descriptor; the receiver owns it from now on.
    package let descriptor: Int32
    /// `FileDescriptorName=` of the socket unit, "unknown" where a manager gave none.
    package let name: String
}

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
