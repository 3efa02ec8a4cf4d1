/// Everything a peer can make the server hold or wait for, each with its reason.
package struct ServerLimits: Sendable {
    /// Connections open at once, of all peers together.
    ///
    /// A service manager starts us with 1024 descriptors; half of them stay free for the store and for requests.
    package var connectionsMax = 512

    /// Connections open at once of one user id.
    ///
    /// Nearly all, as every peer is normally the same user; what remains lets the administrator in while that user's
    /// programs have used up theirs.
    package var connectionsPerUIDMax = 480

    /// Bytes of one call, its terminating NUL not counted.
    ///
    /// The largest call we know of imports a grant: a refresh token (up to 16 KiB seen), a client secret, a key. 1 MiB is
    /// far above that, and 512 peers that all fill it still fit into the memory of a small machine.
    package var messageBytesMax = 1 << 20

    /// Bytes of unfinished calls, on all connections of one process together: it may send some calls of the longest kind at the same time.
    /// Unfinished calls that are shorter than `pipelinedBytesMax` are taken in any case.
    package var unfinishedBytesOfProcessMax = 16 << 20

    /// The same for all processes together: what they can have us hold, whatever their number.
    package var unfinishedBytesOfAllMax = 64 << 20

    /// Bytes taken in while an earlier call of the same connection is still being answered.
    ///
    /// Further calls stay in the kernel's buffer, so that a peer that pipelines is slowed down, never refused. 16 KiB are
    /// some hundred small calls: no more than that can be answered in one go before other peers have their turn.
    package var pipelinedBytesMax = 16 << 10

    /// Bytes of replies that wait for a peer to read them before we stop reading from that peer.
    package var undrainedBytesHighWater = 64 << 10

    /// Bytes of replies that may wait for one peer; a stream that would pass it is ended with an error reply.
    ///
    /// One reply that is larger by itself is sent, if nothing else waits: the service has made it already.
    package var undrainedBytesMax = 1 << 20

    /// Bytes of replies that may wait for all connections of one process together; a reply that would pass it ends its connection with an
    /// error instead. Short ones (`shortReplyBytes`) are sent in any case: errors, tokens.
    package var undrainedBytesOfProcessMax = 32 << 20

    /// The same for all processes together: what they can have us hold, whatever their number.
    package var undrainedBytesOfAllMax = 128 << 20

    /// Bytes of a reply that is too short to be refused.
    package var shortReplyBytes = 4096

    /// How long a call may take to arrive, from its first byte. systemd's own Varlink server uses the same 45 s.
    package var messageTimeout = Duration.seconds(45)

    /// How long a connection may stay open with no call under way.
    ///
    /// Long, because a desktop program that keeps its connection does no harm; finite, because a forgotten one counts
    /// against `connectionsMax`.
    package var idleTimeout = Duration.seconds(3600)

    /// How long a peer may take to read the last replies before its connection is cut.
    package var drainTimeout = Duration.seconds(10)

    /// How long `shutdown()` waits for replies in flight. Below the 10 s that the unit file gives us to stop.
    package var shutdownTimeout = Duration.seconds(5)

    /// Values nested in one another in a call.
    package var nestingMax = 32

    /// JSON values (keys counted) in a call: it bounds what its index can take, 16 bytes for each.
    package var valuesMax = 65_536

    /// Connections that the kernel holds for us until we accept them.
    package var backlog: Int32 = 256

    package init() {}
}

extension ServerLimits {
    /// How long is waited for what a connection waits for.
    func time(for patience: ConnectionMachine.Patience) -> Duration {
        switch patience {
        case .idle: idleTimeout
        case .restOfMessage: messageTimeout
        case .drain: drainTimeout
        }
    }
}
