internal import CSystemd
internal import Glibc

/// A listening Unix stream socket that the service manager opened for us. Close-on-exec is set.
package struct ListenSocket: Hashable, Sendable {
    /// The descriptor. The receiver owns it from now on.
    package let descriptor: Int32
    /// The socket unit's `FileDescriptorName=`; "unknown" if the manager gave none.
    package let name: String

    /// The sockets that the service manager has passed to this process (sd_listen_fds(3)), in the order of the socket unit;
    /// empty if the process was not activated by a socket.
    ///
    /// The environment is not changed. `LISTEN_PID` names this process, so children ignore the variables.
    ///
    /// - Throws: if the variables contradict each other, or for the first socket of another kind. Both are errors in the
    ///   unit files, and the caller should refuse to start.
    package static func received() throws(SystemdError) -> [ListenSocket] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(0, &names)
        defer { unsafe release(names, count: count) }
        guard count >= 0 else { throw SystemdError("cannot read the sockets passed in LISTEN_FDS", errno: -count) }

        var sockets: [ListenSocket] = []
        for index in 0..<Int(count) {
            let descriptor = SD_LISTEN_FDS_START + Int32(index)
            let name = if let text = unsafe names?[index] { unsafe String(cString: text) } else { "unknown" }
            // libsystemd has already set close-on-exec; it does not check the kind of the descriptors.
            guard sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
                throw SystemdError(
                    "passed socket \"\(name)\" (descriptor \(descriptor)) is not a listening Unix stream socket"
                )
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

/// The socket unit whose sockets were passed to this process. The user's service manager created them, and can create
/// them again.
package struct SocketUnit: Equatable, Sendable {
    package let name: String

    /// The socket unit with the name of this process's service, which is systemd's rule; nil if this process does not
    /// belong to a user manager.
    package static func ofThisProcess() -> SocketUnit? {
        var unit: UnsafeMutablePointer<CChar>?
        guard unsafe sd_pid_get_user_unit(0, &unit) >= 0, let unit = unsafe unit else { return nil }
        defer { unsafe free(unit) }
        return SocketUnit(service: unsafe String(cString: unit))
    }

    /// The socket unit of a service.
    ///
    /// - Parameter service: the full name of the service; for a unit of another kind, the result is nil.
    init?(service: String) {
        let suffix = ".service"
        guard service.hasSuffix(suffix) else { return nil }
        name = service.dropLast(suffix.count) + ".socket"
    }

    /// Makes the manager restart the socket unit, and with it the service that requires it. It blocks until the job is
    /// queued, at most 25 s.
    ///
    /// - Parameter runtimeDirectory: the user's `$XDG_RUNTIME_DIR`. It contains the manager's own socket, which
    ///   `systemctl --user` uses and which exists even without a bus.
    /// - Throws: if the manager cannot be reached, or refuses.
    package func restart(runtimeDirectory: String) throws(SystemdError) {
        var bus: OpaquePointer?
        var result = unsafe sd_bus_new(&bus)
        defer { unsafe sd_bus_flush_close_unref(bus) }
        if result >= 0 { result = unsafe sd_bus_set_address(bus, "unix:path=\(runtimeDirectory)/systemd/private") }
        if result >= 0 { result = unsafe sd_bus_start(bus) }
        if result >= 0 { result = unsafe authrefresh_restart_unit(bus, name) }
        guard result >= 0 else {
            throw SystemdError("the service manager does not restart \"\(name)\"", errno: -result)
        }
    }
}
