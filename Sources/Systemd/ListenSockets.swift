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
