internal import CLinux
internal import Glibc
internal import AuthRefreshInterface

/// Accepts and serves programs of the other machine. None of them waits for another.
final class TokenRelay {
    /// The most bytes of one call. The longest useful one names a token set (1 KiB) or contains a server's challenge.
    static let forwardedCallBytesMax = 65_536
    /// The most bytes of the daemon's reply, with room for a token of 64 KiB.
    static let forwardedReplyBytesMax = 1_048_576
    /// The most connected programs on the other machine. The daemon has one connection for each of them that waits for
    /// a token, out of 480 for its user.
    static let forwardedClientsMax = 64

    private let listener: Int32
    private let filter: ForwardedCallFilter
    private let connect: ForwardClient.Connect
    /// The clients, in the order of their connection.
    private var clients: [ForwardClient] = []
    /// Whether the last client could not be let in, and no event has come since.
    private var isShut = false

    /// Creates a relay.
    ///
    /// - Parameter listener: a non-blocking listening socket.
    init(listener: Int32, filter: ForwardedCallFilter, connect: @escaping ForwardClient.Connect) {
        self.listener = listener
        self.filter = filter
        self.connect = connect
    }

    /// How long `serve` need not be called if nothing happens, in µs; nil for ever. When the process has no descriptor
    /// left, a client that waits in the kernel would make every poll(2) return at once.
    var pauseMicroseconds: Int64? { isShut ? 1_000_000 : nil }

    /// What poll(2) has to watch: the listening socket, then two descriptors for each client.
    var interests: [pollfd] {
        // New clients wait in the kernel.
        let listener = hasRoom && !isShut ? listener : -1
        return [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)] + clients.flatMap(\.interests)
    }

    /// Does everything that is possible without waiting.
    ///
    /// - Parameter ready: `interests` with poll(2)'s results.
    func serve(_ ready: ArraySlice<pollfd>) {
        isShut = false
        for (index, client) in clients.enumerated() {
            let first = ready.startIndex + 1 + 2 * index
            client.serve(ready[first..<first + 2])
        }
        clients.removeAll(where: \.isDone)
        if let listening = ready.first, listening.revents != 0 { letIn() }
    }

    private var hasRoom: Bool {
        clients.count < Self.forwardedClientsMax || !clients.allSatisfy(\.isAsking)
    }

    private func letIn() {
        let descriptor = accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        guard descriptor >= 0 else {
            // accept(2): an error that is not about one client is about descriptors or memory. An idle client gives way.
            isShut = ![EAGAIN, ECONNABORTED, EINTR].contains(errno) && !makeRoom()
            return
        }
        guard Self.isOurs(descriptor) else {
            close(descriptor)
            return
        }
        if clients.count >= Self.forwardedClientsMax { makeRoom() }
        clients.append(ForwardClient(descriptor: descriptor, filter: filter, connect: connect))
    }

    /// Makes room for a new client: it closes the oldest idle client, or else the oldest that does not wait for the
    /// daemon.
    ///
    /// - Returns: false if all wait for the daemon, or if there are none.
    @discardableResult
    private func makeRoom() -> Bool {
        let index = clients.firstIndex(where: \.isIdle) ?? clients.firstIndex { !$0.isAsking }
        if let index { clients.remove(at: index) }
        return index != nil
    }

    /// Whether our own ssh has connected, and nobody else.
    private static func isOurs(_ descriptor: Int32) -> Bool {
        // struct ucred, which glibc declares only for C programs.
        var peer: (pid: UInt32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid()
    }
}
