internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The loopback redirect server of one sign-in (RFC 8252 §7.3). It listens on 127.0.0.1 and [::1], on the same port,
/// from `open` to `close`.
///
/// It passes on what a browser delivers on one path, and shows the page that it is given. It does not judge deliveries:
/// each page in a browser of this user, and each program of this user, can deliver something. Other users get no
/// answer.
struct RedirectListener: Sendable {
    /// The content that a browser delivered: a query, or the body of a form.
    typealias Delivery = [UInt8]
    /// Takes a delivery. Calls the closure once, now or later, on any thread, with the page to show.
    typealias Deliver = @Sendable (Delivery, @escaping @Sendable (RedirectPage) -> Void) -> Void

    let port: Int
    private let channels: [any Channel]
    private let connections: NIOLoopBound<RedirectConnections>

    /// One event loop for all listeners, so that a port that was closed before is free for the next listener.
    private static let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// The errors that mean that the machine has no IPv6: a kernel without IPv6 gives the first, an interface without
    /// its address the second (ip(7), ipv6(7)). Other errors, such as that of a process without free descriptors, say
    /// nothing about the machine.
    private static let withoutIPv6 = [EAFNOSUPPORT, EADDRNOTAVAIL]

    /// How many ports to try until one is free on both loopback addresses.
    private static let attempts = 8

    /// Opens a listener.
    ///
    /// - Parameters:
    ///   - port: the port; nil for any free one.
    ///   - path: the path that accepts deliveries: `/callback`.
    @concurrent static func open(
        port: Int?,
        path: String,
        limits: RedirectLimits = RedirectLimits(),
        deliver: @escaping Deliver
    ) async throws(RedirectListenerError) -> RedirectListener {
        let connections = try? await loop.submit {
            NIOLoopBound(RedirectConnections(limits: limits, path: path, deliver: deliver), eventLoop: loop)
        }.get()
        guard let connections else { throw .cannotListen(port: port ?? 0, errno: ECANCELED) }
        for _ in 1..<attempts {
            do throws(RedirectListenerError) {
                return try await open(port: port, on: loop, connections)
            } catch .portTaken where port == nil {
                // The port is free on one of the two addresses only.
                continue
            }
        }
        return try await open(port: port, on: loop, connections)
    }

    /// A port that is free now on both loopback addresses, to be registered for a client; nil if none was found.
    @concurrent static func freePort() async -> Int? {
        for _ in 1...attempts {
            // Above the ports that Linux gives to connections (`ip_local_port_range`: 32768 to 60999), and among those
            // that IANA assigns to no service, so that it is free at the next sign-ins, too.
            let port = Int.random(in: 61_000...65_535)
            if await isFree(port) { return port }
        }
        return nil
    }

    /// Whether nobody listens on the port now.
    @concurrent static func isFree(_ port: Int) async -> Bool {
        guard let listener = try? await open(port: port, path: "/", deliver: { _, _ in }) else { return false }
        listener.close()
        return true
    }

    /// Accepts no more connections. Answers that are being sent are completed.
    func close() {
        for channel in channels { channel.close(promise: nil) }
        connections.eventLoop.execute { [connections] in connections.value.finish() }
    }

    private static func open(
        port: Int?,
        on loop: any EventLoop,
        _ connections: NIOLoopBound<RedirectConnections>
    ) async throws(RedirectListenerError) -> RedirectListener {
        let first = try await bind("127.0.0.1", port ?? 0, on: loop, connections)
        let taken = first.localAddress?.port ?? port ?? 0
        do throws(RedirectListenerError) {
            let second = try await bind("::1", taken, on: loop, connections)
            return RedirectListener(port: taken, channels: [first, second], connections: connections)
        } catch .cannotListen(port: _, let errno) where Self.withoutIPv6.contains(errno) {
            // Without IPv6, no program can listen on [::1].
            return RedirectListener(port: taken, channels: [first], connections: connections)
        } catch {
            // Another program that has the port on [::1], or takes it later, would get what browsers deliver to
            // "localhost".
            first.close(promise: nil)
            throw error
        }
    }

    private static func bind(
        _ host: String,
        _ port: Int,
        on loop: any EventLoop,
        _ connections: NIOLoopBound<RedirectConnections>
    ) async throws(RedirectListenerError) -> any Channel {
        let bootstrap = ServerBootstrap(group: loop)
            // A fixed port must be available again right after a sign-in. On Linux this option does not let two
            // programs listen on one port.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try connections.value.begin(channel)
                }
            }
        do {
            // Bind by address, because looking up a name may need descriptors, and has other errors.
            return try await bootstrap.bind(to: SocketAddress(ipAddress: host, port: port)).get()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw .portTaken(port)
        } catch let error as IOError {
            throw .cannotListen(port: port, errno: error.errnoCode)
        } catch {
            // No error of the system: the event loop has ended, or does not accept the address.
            throw .cannotListen(port: port, errno: ECANCELED)
        }
    }
}

/// The limits on what a program or a web page on this machine can make the listener hold.
struct RedirectLimits: Hashable, Sendable {
    /// The longest request, in bytes. Half of it is for the delivery (`AuthorizationResponse.bytesMax`), half for
    /// headers, because browsers send 127.0.0.1 the cookies of every server that ever ran there.
    var redirectBytesMax = 32 << 10
    /// The time from the beginning of the connection to the end of its request. A browser on the same machine needs
    /// milliseconds.
    var redirectTimeout = Duration.seconds(5)
    /// The most connections of this user at once. Browsers open up to six to a host, some of them in advance. If there
    /// is one more, the oldest that has sent nothing is closed.
    var redirectConnectionsMax = 16
    /// The time from the request to its answer. The code is exchanged in this time, which may take thirty seconds.
    var redirectAnswerTimeout = Duration.seconds(60)

    init() {}
}

/// Why the listener for a browser's answer could not be opened.
enum RedirectListenerError: Error, Hashable, Sendable {
    /// Another program listens on the port.
    case portTaken(Int)
    /// The port cannot be used: `EACCES` below 1024.
    case cannotListen(port: Int, errno: Int32)

    /// Lower case, no full stop.
    var reason: String {
        switch self {
        case .portTaken(let port): "another program listens on port \(port) of this machine"
        case .cannotListen(let port, let errno): "port \(port) of this machine is unavailable (error \(errno))"
        }
    }
}
