internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The loopback redirect server of one sign-in (RFC 8252 §7.3): 127.0.0.1 and [::1] on one port, from `open` to `close`.
///
/// It hands on what a browser delivers on one path, and shows the page that it is told to. It judges nothing that is delivered: any
/// page in a browser of this user, and any program of theirs, can deliver something. Other users are not answered at all.
package struct RedirectListener: Sendable {
    /// What a browser delivered: a query, or the body of a form.
    package typealias Delivery = [UInt8]
    /// Takes a delivery, and calls the closure once, now or later, with the page to be shown. On any thread.
    package typealias Deliver = @Sendable (Delivery, @escaping @Sendable (RedirectPage) -> Void) -> Void

    package let port: Int
    private let channels: [any Channel]
    private let connections: NIOLoopBound<RedirectConnections>

    /// One for all: what is opened there after something was closed finds its port free.
    private static let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// A kernel without IPv6 says the one, an interface without its address the other (ip(7), ipv6(7)). Any other error, as of a
    /// process that has no descriptor left, says nothing about the machine.
    private static let withoutIPv6 = [EAFNOSUPPORT, EADDRNOTAVAIL]

    /// How often a free port is looked for that both loopback addresses have.
    private static let attempts = 8

    /// Listens.
    ///
    /// - Parameters:
    ///   - port: nil for a free one.
    ///   - path: the one that takes deliveries: `/callback`.
    @concurrent package static func open(
        port: Int?,
        path: String,
        limits: RedirectLimits = RedirectLimits(),
        deliver: @escaping Deliver
    ) async throws(RedirectListenerError) -> RedirectListener {
        let screen = RequestScreen(path: path)
        let connections = try? await loop.submit {
            NIOLoopBound(RedirectConnections(limits: limits, screen: screen, deliver: deliver), eventLoop: loop)
        }.get()
        guard let connections else { throw .cannotListen(port: port ?? 0, errno: ECANCELED) }
        for _ in 1..<attempts {
            do throws(RedirectListenerError) {
                return try await open(port: port, on: loop, connections)
            } catch .portTaken where port == nil {
                // Free on one of the two addresses only.
                continue
            }
        }
        return try await open(port: port, on: loop, connections)
    }

    /// Takes no more connections; answers that are under way are still sent.
    package func close() {
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
            // A machine without IPv6 has no [::1] that anybody could listen on.
            return RedirectListener(port: taken, channels: [first], connections: connections)
        } catch {
            // Whoever has the port there, or takes it later, would get what browsers deliver to "localhost".
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
            // A fixed port must be there again right after a sign-in; on Linux this lets no two programs listen on one port.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try connections.value.begin(channel)
                }
            }
        do {
            // By its number: a resolver may need descriptors, and has errors of its own.
            return try await bootstrap.bind(to: SocketAddress(ipAddress: host, port: port)).get()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw .portTaken(port)
        } catch let error as IOError {
            throw .cannotListen(port: port, errno: error.errnoCode)
        } catch {
            // Nothing that the system said: the event loop has ended, or takes the address for none.
            throw .cannotListen(port: port, errno: ECANCELED)
        }
    }
}

/// What a program of this machine, or a page in a browser of it, can make the listener hold.
package struct RedirectLimits: Hashable, Sendable {
    /// Bytes of one request. Half of it is for what is delivered (`AuthorizationResponse.bytesMax`), half for headers: browsers send
    /// 127.0.0.1 the cookies of every server that ever ran there.
    package var redirectBytesMax = 32 << 10
    /// From the connection's beginning to the end of its request. A browser on the same machine needs milliseconds.
    package var redirectTimeout = Duration.seconds(5)
    /// Connections of this user at once. Browsers open up to six to a host, some of them in advance: the oldest that has sent nothing
    /// makes room for one more.
    package var redirectConnectionsMax = 16
    /// From the request to its answer: the code is exchanged meanwhile, which has thirty seconds.
    package var redirectAnswerTimeout = Duration.seconds(60)

    package init() {}
}

/// Why there is nobody to send a browser to.
package enum RedirectListenerError: Error, Hashable, Sendable {
    /// Another program listens on the port.
    case portTaken(Int)
    /// The port cannot be had: `EACCES` below 1024.
    case cannotListen(port: Int, errno: Int32)
}

extension RedirectListenerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .portTaken(let port): "another program listens on port \(port) of this machine"
        case .cannotListen(let port, let errno): "the port \(port) of this machine is unavailable (error \(errno))"
        }
    }
}
