internal import Glibc
internal import VarlinkClient

/// Accepts and serves programs of the other machine. None of them waits for another.
final class TokenRelay {
    private let listener: Int32
    private let filter: ForwardedCallFilter
    private let limits: ForwardingLimits
    private let connect: ForwardClient.Connect
    /// The clients, in the order of their connection.
    private var clients: [ForwardClient] = []

    /// Creates a relay.
    ///
    /// - Parameter listener: a non-blocking listening socket.
    init(
        listener: Int32,
        accounts: [String],
        host: String,
        limits: ForwardingLimits = ForwardingLimits(),
        connect: @escaping ForwardClient.Connect
    ) {
        self.listener = listener
        filter = ForwardedCallFilter(accounts: accounts, host: host)
        self.limits = limits
        self.connect = connect
    }

    /// What poll(2) has to watch: the listening socket, then two descriptors for each client.
    var interests: [pollfd] {
        // New clients wait in the kernel.
        let listener = hasRoom ? listener : -1
        return [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)] + clients.flatMap(\.interests)
    }

    /// Does everything that is possible without waiting.
    ///
    /// - Parameter ready: `interests` with poll(2)'s results.
    func serve(_ ready: ArraySlice<pollfd>) {
        for (index, client) in clients.enumerated() {
            let first = ready.startIndex + 1 + 2 * index
            client.serve(ready[first..<first + 2])
        }
        clients.removeAll(where: \.isDone)
        if let listening = ready.first, listening.revents != 0 { letIn() }
    }

    private var hasRoom: Bool {
        clients.count < limits.forwardedClientsMax || !clients.allSatisfy(\.isAsking)
    }

    private func letIn() {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard Self.isOurs(descriptor) else {
            close(descriptor)
            return
        }
        makeRoom()
        clients.append(ForwardClient(descriptor: descriptor, filter: filter, limits: limits, connect: connect))
    }

    /// Makes room for a new client: it closes the oldest idle client, or else the oldest that does not wait for the
    /// daemon.
    private func makeRoom() {
        guard clients.count >= limits.forwardedClientsMax else { return }
        let index = clients.firstIndex(where: \.isIdle) ?? clients.firstIndex { !$0.isAsking }
        if let index { clients.remove(at: index) }
    }

    /// Whether our own ssh has connected, and nobody else.
    private static func isOurs(_ descriptor: Int32) -> Bool {
        // struct ucred, which glibc declares only for C programs.
        var peer: (pid: UInt32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid()
    }
}
