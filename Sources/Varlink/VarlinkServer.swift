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
