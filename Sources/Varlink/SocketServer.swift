/// The server on the socket's thread: lets peers in, looks after their connections, and ends them.
actor SocketServer {
    nonisolated let loop: SocketLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let registry: ConnectionRegistry
    private let listener: Listener
    private var lastNumber = Listener.key

    /// Peers let in before those who are in have their turn.
    ///
    /// Their replies leave together. More at once would have the peers idle while we work, and us while they do.
    private static let batch = 8
    /// How long nobody is let in when there is no descriptor for them, unless a connection ends before: descriptors may become free
    /// elsewhere in the process, and nobody tells of that.
    private static let longestPause = Duration.seconds(1)
    /// Until when nobody is let in, and how many were in when that began; nil if everybody is.
    private var pause: (end: SuspendingClock.Instant, connections: Int)?

    init(configuration: VarlinkServerConfiguration, service: VarlinkService, loop: SocketLoop) {
        self.loop = loop
        registry = ConnectionRegistry(configuration: configuration, service: service, loop: loop)
        listener = Listener(configuration: configuration, loop: loop)
    }

    /// Does `body` with a connection, nil if that is gone, on the server's thread: after everything that was asked for before, but
    /// at once if this is that thread.
    nonisolated func onThread(_ number: UInt64, _ body: @escaping @Sendable (Connection?) -> Void) {
        guard !loop.isCurrent else { return entered(number, body) }
        loop.execute { self.entered(number, body) }
    }

    /// The same for what need not be done before something else happens to a connection, or is asked for.
    nonisolated func onThreadEventually(_ number: UInt64, _ body: @escaping @Sendable (Connection?) -> Void) {
        guard !loop.isCurrent else { return entered(number, body) }
        loop.executeEventually { self.entered(number, body) }
    }

    private nonisolated func entered(_ number: UInt64, _ body: @Sendable (Connection?) -> Void) {
        assumeIsolated { body($0.registry.connection(number)) }
    }

    // MARK: The listening socket

    /// Accepts from `socket` from now on.
    ///
    /// - Throws: `cannotAccept` if it cannot be watched; it is closed then.
    func open(_ socket: ListenSocket) throws(VarlinkServerError) {
        listener.enter = { [weak self] body in
            guard let self else { return }
            loop.execute { self.assumeIsolated { body($0.listener) } }
        }
        try listener.open(socket)
    }

    var isPathIntact: Bool { listener.isPathIntact }

    func stopAccepting() {
        listener.stop()
        registry.endCalls()
    }

    /// Ends all connections, each in its own way; returns when there is none left.
    func endConnections() async {
        await withCheckedContinuation { registry.shutdown($0) }
    }

    // MARK: Turns

    /// Looks after the sockets that are ready.
    ///
    /// - Returns: when it wants to be called again at the latest.
    func turn(_ ready: [SocketLoop.Readiness]) -> SuspendingClock.Instant? {
        registry.beginTurn()
        for event in ready {
            if event.key == Listener.key {
                acceptPeers()
            } else {
                registry.connection(event.key)?.ready(event)
            }
        }
        registry.checkDeadlines()
        registry.settle()
        endPause()
        return [registry.nextCheck, pause?.end].compactMap(\.self).min()
    }

    private func acceptPeers() {
        for _ in 0..<Self.batch {
            do throws(VarlinkServerError) {
                guard let descriptor = try listener.accept() else { return }
                lastNumber += 1
                let link = ConnectionLink(self, number: lastNumber, peer: PeerCredentials(of: descriptor))
                Connection(descriptor, registry: registry, link: link).begin()
            } catch {
                return beginPause(because: error)
            }
        }
    }

    /// Lets those who want in wait: without a descriptor for them we would be told of them again and again.
    private func beginPause(because error: VarlinkServerError) {
        listener.isPaused = true
        pause = (registry.now + Self.longestPause, registry.count)
        registry.tellShortage(error)
    }

    private func endPause() {
        guard let (end, connections) = pause, registry.count < connections || registry.now >= end else { return }
        pause = nil
        listener.isPaused = false
    }
}
