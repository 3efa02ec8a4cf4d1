internal import Glibc

/// Serves Varlink calls on a Unix socket, with one thread for all connections.
///
/// A peer that is slow, silent or in the middle of a call costs a descriptor and a limited number of bytes. Nobody
/// waits for it.
package actor VarlinkServer {
    private let configuration: VarlinkServerConfiguration
    private let service: VarlinkService
    /// The running server; nil before the start and after the end.
    private var server: SocketServer?

    package init(configuration: VarlinkServerConfiguration, service: VarlinkService) {
        self.configuration = configuration
        self.service = service
    }

    /// Listens and serves; returns when peers can connect.
    ///
    /// - Throws: why it cannot. Everything is then cleaned up.
    package func start() async throws(VarlinkServerError) {
        let socket: ServerSocket
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

    /// Calls `body` on the server's thread after all earlier jobs, or at once if there is no thread.
    package func inTurn(_ body: @escaping @Sendable () -> Void) {
        guard let server else { return body() }
        server.loop.execute(body)
    }

    /// Accepts no new connections and no new calls. Current calls and streams continue. The path is removed if we bound
    /// it.
    package func stopAccepting() async {
        await server?.stopAccepting()
    }

    /// Ends the server. A second call does nothing.
    ///
    /// Current calls get their replies, for up to `ServerLimits.shutdownTimeout`. Streams are cut between two replies.
    /// Then the thread ends, and later replies are dropped.
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
        /// A path to bind. Its folder is created with mode 0700 if it is missing; the socket has mode 0600.
        case path(String)
        /// A listening Unix stream socket that was passed to us. The server owns and closes it.
        case descriptor(Int32)
    }

    package let endpoint: Endpoint
    package var limits = ServerLimits()
    /// Whether a peer may call at all. The default allows the user we run as, and root.
    package var allowsPeer: @Sendable (PeerCredentials) -> Bool = { [user = geteuid()] in
        $0.uid == user || $0.uid == 0
    }
    /// Asks the owner of a passed socket to create it again after its path vanished, which restarts this process.
    ///
    /// It is called on the server's thread and must not block. It calls back with whether the owner will do that. If it
    /// is nil, or the owner refuses, the server binds the path itself.
    package var restorePassedSocket: (@Sendable (@escaping @Sendable (Bool) -> Void) -> Void)?
    /// Called on the server's thread with events for a log. It must not block.
    package var observe: @Sendable (VarlinkServerEvent) -> Void = { _ in }

    package init(endpoint: Endpoint) {
        self.endpoint = endpoint
    }
}

/// An event of the server that its owner may want to log.
package enum VarlinkServerEvent: Equatable, Sendable {
    /// A peer was refused or cut off; `peer` is nil if the kernel did not identify it.
    case refused(PeerFinding, peer: PeerCredentials?)
    /// No connection can be accepted, because descriptors or memory ran out. Existing connections continue. New peers
    /// wait in the kernel and are admitted one at a time.
    case acceptFailed(VarlinkServerError)
    /// Waiting peers can be admitted again.
    case acceptResumed
    /// The socket's path had vanished; the server has bound it again.
    case pathRestored(String)
    /// The path of a passed socket has vanished; its owner will create it again.
    case pathReturned(String)
    /// The socket's path has vanished and cannot be bound now. The server binds it when the folder can be created
    /// again.
    case pathLost(String, VarlinkServerError)
    /// Inotify does not watch the socket's path. The server checks it every `PathWatch.period` instead.
    case pathUnwatched(VarlinkServerError)
}

/// The limits on everything that a peer can make the server hold or wait for, each with its reason.
package struct ServerLimits: Sendable {
    /// Open connections of all peers together.
    ///
    /// A service manager starts us with 1024 descriptors. Half of them stay free for the store and for requests.
    package var connectionsMax = 512

    /// Calls for several replies that are under way, of all peers together. Subscribers keep theirs for as long as they
    /// like. The other half of the connections stays free for calls that end.
    package var heldCallsMax: Int { connectionsMax / 2 }

    /// Bytes of one call, without its terminating NUL.
    ///
    /// The largest call that we know of imports a grant: a refresh token (up to 16 KiB seen), a client secret and a
    /// key. 1 MiB is far above that, and 512 peers that all fill it still fit into the memory of a small machine.
    package var messageBytesMax = 1 << 20

    /// Bytes of unfinished calls of all processes together. A process may send many calls of the longest kind at the
    /// same time. Unfinished calls shorter than `pipelinedBytesMax` are always accepted.
    package var unfinishedBytesOfAllMax = 64 << 20

    /// Bytes that are read while an earlier call of the same connection is still being answered.
    ///
    /// Further calls stay in the kernel's buffer, so that a peer that pipelines is slowed down but never refused. 16
    /// KiB are about a hundred small calls. No more than that are answered before other peers get their turn.
    package var pipelinedBytesMax = 16 << 10

    /// How many bytes of unread replies a peer may have before we stop reading from it.
    package var undrainedBytesHighWater = 64 << 10

    /// How many bytes of unread replies one peer may have. A stream that would exceed it ends with an error reply.
    ///
    /// A single reply that is larger is sent if nothing else waits, because the service has already made it.
    package var undrainedBytesMax = 1 << 20

    /// Bytes of unread replies of all processes together. A reply that would exceed its process's share is replaced by
    /// an error, and its connection ends. Short replies (`shortReplyBytes`), such as errors and tokens, are always sent.
    package var undrainedBytesOfAllMax = 128 << 20

    /// A reply of at most this many bytes is never refused.
    package var shortReplyBytes = 4096

    /// How long a call may take to arrive, from its first byte. systemd's own Varlink server uses the same 45 s.
    package var messageTimeout = Duration.seconds(45)

    /// How long a connection may stay open without a current call.
    ///
    /// It is long because a desktop program that keeps its connection does no harm. It is finite because a forgotten
    /// connection counts against `connectionsMax`.
    package var idleTimeout = Duration.seconds(3600)

    /// How long a peer may take to read the last replies before its connection is cut.
    package var drainTimeout = Duration.seconds(10)

    /// How long `shutdown()` waits for current replies. It is below the 10 s that the unit file allows for stopping.
    package var shutdownTimeout = Duration.seconds(5)

    /// How deep values may be nested in a call.
    package var nestingMax = 32

    /// The most JSON values (including keys) in a call. It limits what decoding makes of them.
    package var valuesMax = 65_536

    /// How many connections the kernel queues until we accept them.
    package var backlog: Int32 = 256

    package init() {}
}

extension ServerLimits {
    /// How much of `resource` there is for all processes together. Each may have half of what the others leave.
    func capacity(for resource: HeldResource) -> Int {
        switch resource {
        case .connections: connectionsMax
        case .heldCalls: heldCallsMax
        case .unreadBytes: undrainedBytesOfAllMax
        case .unfinishedBytes: unfinishedBytesOfAllMax
        }
    }

    /// The time limit for what a connection waits for.
    func time(for patience: ConnectionMachine.Patience) -> Duration {
        switch patience {
        case .idle: idleTimeout
        case .restOfMessage: messageTimeout
        case .drain: drainTimeout
        }
    }
}

/// Why a server cannot listen, or cannot watch its path.
package enum VarlinkServerError: Error, Equatable, Sendable {
    /// Another process answers on the path. It must end first.
    case alreadyListening(path: String)
    /// The path is taken by something that is not a socket. It is left alone.
    case notASocket(path: String)
    /// The path does not fit into a socket address, `limit` bytes.
    case pathTooLong(path: String, limit: Int)
    /// Another process is binding a socket in the folder now. Trying again helps.
    case folderBusy(path: String)
    /// The folder cannot be created or opened.
    case cannotMakeFolder(path: String, errno: Int32)
    /// The folder belongs to another user, or everybody may write to it. They could replace our socket with their own.
    case folderOpenToOthers(path: String, owner: UInt32)
    case cannotBind(path: String, errno: Int32)
    /// The passed descriptor is not a listening Unix stream socket.
    case notAListenSocket(descriptor: Int32)
    /// The kernel refused a socket, or a thread for it.
    case cannotListen(errno: Int32)
    /// The kernel has no descriptor or memory for a connection. The server tries again.
    case cannotAccept(errno: Int32)
    /// Inotify does not watch the path.
    case cannotWatch(path: String, errno: Int32)
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
        case .cannotWatch(let path, let errno): "inotify cannot watch '\(path)': \(Self.reason(errno))"
        }
    }

    /// The text of an error number.
    static func reason(_ errno: Int32) -> String {
        // strerror itself is not thread-safe.
        var text = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "error \(errno)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
