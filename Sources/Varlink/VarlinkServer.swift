internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Serves Varlink calls on a Unix socket, all on one thread of its own.
///
/// A peer that is slow, silent or in the middle of a call costs a descriptor and a bounded number of bytes; nobody waits
/// for it.
package final class VarlinkServer: Sendable {
    private let configuration: VarlinkServerConfiguration
    private let group: MultiThreadedEventLoopGroup
    private let eventLoop: any EventLoop
    private let listener: NIOLoopBoundBox<Listener>
    /// Set when `shutdown()` begins: an event loop that has ended answers nobody.
    private let hasEnded = Atomic<Bool>(false)

    package init(configuration: VarlinkServerConfiguration, service: VarlinkService) {
        self.configuration = configuration
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let eventLoop = group.next()
        self.eventLoop = eventLoop
        listener = .makeBoxSendingValue(
            Listener(
                registry: ConnectionRegistry(configuration: configuration, service: service, eventLoop: eventLoop),
                group: group,
                eventLoop: eventLoop,
                backlog: configuration.limits.backlog,
                restorePassedSocket: configuration.restorePassedSocket
            ),
            eventLoop: eventLoop
        )
    }

    /// Listens and serves; returns when peers can connect.
    ///
    /// - Throws: why it cannot. Nothing is left behind; `shutdown()` still has to be called, for the thread's sake.
    package func start() async throws(VarlinkServerError) {
        let socket: ListenSocket
        switch configuration.endpoint {
        case .path(let path): socket = try .bound(to: path, backlog: configuration.limits.backlog)
        case .descriptor(let descriptor): socket = try .passed(descriptor)
        }
        do {
            try await eventLoop.flatSubmit { [listener] in listener.value.open(socket) }.get()
        } catch {
            throw .cannotListen(errno: (error as? IOError)?.errnoCode ?? 0)
        }
    }

    /// Whether a peer that connects to the path reaches us; true for a passed socket without a path.
    package var isPathIntact: Bool {
        get async {
            guard !hasEnded.load(ordering: .acquiring) else { return false }
            let answer = try? await eventLoop.submit { [listener] in listener.value.isPathIntact }.get()
            return answer ?? false
        }
    }

    /// Takes no new connections and no new calls; calls and streams that stand go on. The path is removed if we bound it.
    package func stopAccepting() async {
        guard !hasEnded.load(ordering: .acquiring) else { return }
        let stopped = eventLoop.submit { [listener] in
            listener.value.stop()
            listener.value.registry.endCalls()
        }
        try? await stopped.get()
    }

    /// Ends the server: calls in flight get their replies, up to `ServerLimits.shutdownTimeout`, streams are cut between
    /// two replies, then the thread ends. Replies made later are dropped. A second call does nothing.
    package func shutdown() async {
        await stopAccepting()
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        try? await eventLoop.flatSubmit { [listener] in listener.value.registry.shutdown() }.get()
        try? await group.shutdownGracefully()
    }
}
