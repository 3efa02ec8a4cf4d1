internal import Glibc

/// How a server listens and whom it serves.
package struct VarlinkServerConfiguration: Sendable {
    /// Where peers connect.
    package enum Endpoint: Equatable, Sendable {
        /// A path to bind; its folder is made with mode 0700 if it is not there, the socket has mode 0600.
        case path(String)
        /// A listening Unix stream socket that was passed to us; the server owns and closes it.
        case descriptor(Int32)
    }

    package let endpoint: Endpoint
    package var limits = ServerLimits()
    /// Whether a peer may call at all; by default the user we run as, and root.
    package var allowsPeer: @Sendable (PeerCredentials) -> Bool = { [user = geteuid()] in
        $0.uid == user || $0.uid == 0
    }
    /// Asks whoever has passed the socket to make it anew when its path has vanished, which restarts this process; called on
    /// the server's thread, it must not block, and calls back with whether that will be done. Nil: the server binds the path
    /// itself, as it does after a refusal.
    package var restorePassedSocket: (@Sendable (@escaping @Sendable (Bool) -> Void) -> Void)?
    /// Told on the server's thread what a log should know; it must not block.
    package var observe: @Sendable (VarlinkServerEvent) -> Void = { _ in }

    package init(endpoint: Endpoint) {
        self.endpoint = endpoint
    }
}

/// What happened to the server that its owner may want to log.
package enum VarlinkServerEvent: Equatable, Sendable {
    /// A peer was refused or cut off; nil if the kernel did not say who it is.
    case refused(Refusal, peer: PeerCredentials?)
    /// No connection can be taken now, for want of descriptors or memory; those that stand go on, others wait in the kernel, and
    /// are let in one at a time.
    case acceptFailed(errno: Int32)
    /// Whoever waited can be let in again.
    case acceptResumed
    /// The socket's path had vanished and has been bound anew.
    case pathRestored(String)
    /// The path of a passed socket has vanished, and its owner makes it anew.
    case pathReturned(String)
    /// The socket's path has vanished and cannot be bound now; it will be when its folder can be made again.
    case pathLost(String, VarlinkServerError)
}
