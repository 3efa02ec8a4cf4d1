internal import Glibc

/// Serves Varlink calls on a Unix socket, all on one thread of its own.
///
/// A peer that is slow, silent or in the middle of a call costs a descriptor and a bounded number of bytes; nobody waits
/// for it.
package actor VarlinkServer {
    private let configuration: VarlinkServerConfiguration
    private let service: VarlinkService
    /// Nil before the start and after the end.
    private var server: SocketServer?

    package init(configuration: VarlinkServerConfiguration, service: VarlinkService) {
        self.configuration = configuration
        self.service = service
    }

    /// Listens and serves; returns when peers can connect.
    ///
    /// - Throws: why it cannot. Nothing is left behind.
    package func start() async throws(VarlinkServerError) {
        let socket: ListenSocket
        switch configuration.endpoint {
        case .path(let path): socket = try .bound(to: path, backlog: configuration.limits.backlog)
        case .descriptor(let descriptor): socket = try .passed(descriptor)
        }
        let server: SocketServer
        do throws(VarlinkServerError) {
            let loop = try SocketLoop()
            server = SocketServer(configuration: configuration, service: service, loop: loop)
            try loop.begin { [server] ready in server.assumeIsolated { $0.turn(ready) } }
        } catch {
            socket.abandon()
            throw error
        }
        do throws(VarlinkServerError) {
            try await server.open(socket)
        } catch {
            server.loop.end()
            throw error
        }
        self.server = server
    }

    /// Whether a peer that connects to the path reaches us; true for a passed socket without a path.
    package var isPathIntact: Bool {
        get async { await server?.isPathIntact ?? false }
    }

    /// Calls `body` on the server's thread, after everything that the thread was asked for before; at once if there is none.
    package func inTurn(_ body: @escaping @Sendable () -> Void) {
        guard let server else { return body() }
        server.loop.execute(body)
    }

    /// Takes no new connections and no new calls; calls and streams that stand go on. The path is removed if we bound it.
    package func stopAccepting() async {
        await server?.stopAccepting()
    }

    /// Ends the server: calls in flight get their replies, up to `ServerLimits.shutdownTimeout`, streams are cut between
    /// two replies, then the thread ends. Replies made later are dropped. A second call does nothing.
    package func shutdown() async {
        guard let server else { return }
        self.server = nil
        await server.stopAccepting()
        await server.endConnections()
        server.loop.end()
    }
}

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

/// Why a server cannot listen.
package enum VarlinkServerError: Error, Equatable, Sendable {
    /// Another process answers on the path; it must be ended first.
    case alreadyListening(path: String)
    /// Something that is no socket has the path; it is left alone.
    case notASocket(path: String)
    /// The path does not fit into a socket address, `limit` bytes.
    case pathTooLong(path: String, limit: Int)
    /// Another process is binding a socket in the folder right now; trying again helps.
    case folderBusy(path: String)
    /// The folder cannot be made or opened.
    case cannotMakeFolder(path: String, errno: Int32)
    /// The folder is another user's, or everybody may write in it: they could put a socket of their own in ours' place.
    case folderOpenToOthers(path: String, owner: UInt32)
    case cannotBind(path: String, errno: Int32)
    /// The descriptor that was passed is not a listening Unix stream socket.
    case notAListenSocket(descriptor: Int32)
    /// The kernel refused a socket or a thread to serve it.
    case cannotListen(errno: Int32)
    /// The kernel has no descriptor or no memory for a connection; it is tried again.
    case cannotAccept(errno: Int32)
}

extension VarlinkServerError: CustomStringConvertible {
    /// What failed, on what, and why: lower case, no full stop.
    package var description: String {
        switch self {
        case .alreadyListening(let path): "another process listens on '\(path)'"
        case .notASocket(let path): "'\(path)' is not a socket, and is left alone"
        case .pathTooLong(let path, let limit):
            "'\(path)' is longer than the \(limit) bytes that a socket's path may have"
        case .folderBusy(let path): "another process is binding a socket in '\(path)' right now"
        case .cannotMakeFolder(let path, let errno): "the folder '\(path)' cannot be used: \(Self.reason(errno))"
        case .folderOpenToOthers(let path, let owner):
            owner == geteuid()
                ? "everybody can write to the folder '\(path)', so a socket there is not safe"
                : "the folder '\(path)' belongs to another user (uid \(owner)), so a socket there is not safe"
        case .cannotBind(let path, let errno): "'\(path)' cannot be bound: \(Self.reason(errno))"
        case .notAListenSocket(let descriptor): "descriptor \(descriptor) is not a listening Unix stream socket"
        case .cannotAccept(let errno): "no connection can be accepted: \(Self.reason(errno))"
        case .cannotListen(let errno): "the kernel gives no socket: \(Self.reason(errno))"
        }
    }

    private static func reason(_ errno: Int32) -> String {
        // strerror itself is not safe between threads.
        var text = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "error \(errno)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
