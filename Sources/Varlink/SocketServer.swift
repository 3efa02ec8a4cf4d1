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
    /// When descriptors are looked for again, and how many connections there were when they had run out; nil while there are some.
    private var shortage: (nextLook: SuspendingClock.Instant, connections: Int)?
    /// Lets one caller in at a time while there are none.
    private var spare = SpareDescriptor()

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
        lookForDescriptors()
        guard !registry.isLingering else { return registry.now }
        return [registry.nextCheck, shortage?.nextLook].compactMap(\.self).min()
    }

    private func acceptPeers() {
        for _ in 0..<Self.batch {
            do throws(VarlinkServerError) {
                guard let descriptor = try listener.accept() else { return }
                letIn(descriptor)
            } catch {
                return runShort(because: error)
            }
        }
    }

    private func letIn(_ descriptor: Int32) {
        lastNumber += 1
        let link = ConnectionLink(self, number: lastNumber, peer: PeerCredentials(of: descriptor))
        Connection(descriptor, registry: registry, link: link).begin()
    }

    /// Lets those who want in wait: without a descriptor for them we would be told of them again and again. One of them takes the spare.
    private func runShort(because error: VarlinkServerError) {
        spare.give()
        if let descriptor = try? listener.accept() { letIn(descriptor) }
        listener.isPaused = true
        shortage = (registry.now + Self.longestPause, registry.count)
        registry.tellShortage(error)
    }

    private func lookForDescriptors() {
        // A peer that was let in and could not be kept has told of one, too.
        if shortage == nil, registry.isShortageTold {
            shortage = (registry.now + Self.longestPause, registry.count)
        }
        guard let (nextLook, connections) = shortage, registry.count < connections || registry.now >= nextLook else {
            return
        }
        spare.take()
        listener.isPaused = false
        if spare.isOneOfSeveral {
            shortage = nil
            registry.tellShortageEnded()
        } else {
            shortage = (registry.now + Self.longestPause, registry.count)
        }
    }
}
