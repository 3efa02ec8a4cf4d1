internal import Glibc
internal import Synchronization

/// The way back to the caller of one call, usable from any thread; none of its methods blocks.
///
/// Replies are sent in the order they were made on one thread. Those to a peer that has gone, and those after the last
/// one, are dropped.
package struct VarlinkResponder: Sendable {
    private let link: ConnectionLink
    private let number: ConnectionMachine.CallNumber
    package let peer: PeerCredentials

    init(link: ConnectionLink, peer: PeerCredentials, number: ConnectionMachine.CallNumber) {
        self.link = link
        self.peer = peer
        self.number = number
    }

    /// When the connection was accepted, in µs of `CLOCK_BOOTTIME`.
    package var acceptedAt: Int64 { link.acceptedAt }

    /// Calls `body` on the server's thread with the connection's socket, to ask the kernel more about the peer; nil if the
    /// connection is gone. The descriptor is the server's: it is good until `body` returns.
    package func withSocket(_ body: @escaping @Sendable (Int32?) -> Void) {
        link.onThread { body($0?.descriptor) }
    }

    /// Whether the connection stands; false for good once it is gone.
    package var isConnected: Bool { link.isConnected }

    /// - Parameter continues: More replies will follow. The call must have asked for it by `wantsMore`, else it traps.
    package func reply(_ parameters: some Encodable, continues: Bool = false) {
        reply(encoded: WireJSON.encode(parameters), continues: continues)
    }

    /// The same for parameters that are encoded already: `object` is a JSON object.
    package func reply(encoded object: [UInt8], continues: Bool = false) {
        send(VarlinkReply(encoded: object, continues: continues))
    }

    /// Ends the call with an error.
    package func fail(_ error: VarlinkError) {
        send(VarlinkReply(error))
    }

    /// Ends the call and the connection without a last reply. To a caller that is as if the server had gone, and a reason to ask
    /// whoever serves next; for a server that is about to end, and cannot do what was asked for before.
    package func hangUp() {
        link.onThread { [number] connection in connection?.hungUp(number) }
    }

    /// Sends a reply made before; for one that goes to many subscribers.
    package func send(_ reply: VarlinkReply) {
        guard isConnected else { return }
        link.onThread { [number] connection in
            connection?.replied(reply, to: number)
        }
    }

    /// Sends replies made before, in their order; they leave together.
    package func send(_ replies: [VarlinkReply]) {
        guard isConnected else { return }
        link.onThread { [number] connection in
            guard let connection else { return }
            for reply in replies { connection.replied(reply, to: number) }
        }
    }

    /// Calls `action` on the server's thread when the peer has read so much of what was sent until now that it makes sense to send it
    /// more; never if the connection ends before.
    package func whenRead(_ action: @escaping @Sendable () -> Void) {
        link.onThread { $0?.whenRead(action) }
    }

    /// Calls `action` on the server's thread, once, if the call ends without a last reply: the peer has gone, the
    /// server has cut it off, or the server ends. At once, on the caller's thread, if the connection is gone already.
    package func onDisconnect(_ action: @escaping @Sendable () -> Void) {
        guard isConnected else { return action() }
        // The end of the connection wakes the thread, which then comes upon this first or finds the connection gone.
        link.onThreadEventually { [number] connection in
            if let connection { connection.whenAbandoned(number, action) } else { action() }
        }
    }
}

/// What other threads may hold of a connection.
final class ConnectionLink: Sendable {
    /// The connection's, by which it is found; none is given twice.
    let number: UInt64
    /// Nil if the kernel did not say who it is.
    let peer: PeerCredentials?
    /// µs of `CLOCK_BOOTTIME`.
    let acceptedAt: Int64
    private let server: SocketServer
    private let connected = Atomic<Bool>(true)

    init(_ server: SocketServer, number: UInt64, peer: PeerCredentials?) {
        self.server = server
        self.number = number
        self.peer = peer
        var now = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        acceptedAt = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }

    var isConnected: Bool { connected.load(ordering: .acquiring) }

    func markDisconnected() { connected.store(false, ordering: .releasing) }

    /// Does `body` on the server's thread; a server that has ended drops it: its connections are gone, and have been reported.
    func onThread(_ body: @escaping @Sendable (Connection?) -> Void) {
        server.onThread(number, body)
    }

    /// The same, at the latest when something happens to the connection or is asked for.
    func onThreadEventually(_ body: @escaping @Sendable (Connection?) -> Void) {
        server.onThreadEventually(number, body)
    }
}
