/// The server on the socket's thread: it admits peers, serves their connections, and ends them.
actor SocketServer {
    nonisolated let loop: SocketLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let registry: ConnectionRegistry
    private let listener: Listener
    private var lastNumber = Listener.key

    /// How many peers are admitted before those already connected get their turn.
    ///
    /// Their replies leave together. With a larger number, the peers would be idle while we work, and we would be idle
    /// while they work.
    private static let batch = 8
    /// The longest pause in admitting peers after descriptors ran out. A connection that ends ends the pause earlier. A
    /// descriptor may also become free elsewhere in the process, and nothing reports that.
    private static let longestPause = Duration.seconds(1)
    /// When to check for free descriptors again, and how many connections there were when they ran out; nil if
    /// descriptors are free.
    private var shortage: (nextLook: SuspendingClock.Instant, connections: Int)?
    /// Lets one caller in at a time while no descriptors are left.
    private var spare = SpareDescriptor()

    init(configuration: VarlinkServerConfiguration, service: VarlinkService, loop: SocketLoop) {
        self.loop = loop
        registry = ConnectionRegistry(configuration: configuration, service: service, loop: loop)
        listener = Listener(configuration: configuration, loop: loop)
    }

    /// Calls `body` on the server's thread with a connection, or with nil if it is closed.
    ///
    /// It runs after all jobs that were requested before, or at once if this already is that thread.
    nonisolated func onThread(_ number: UInt64, _ body: @escaping @Sendable (Connection?) -> Void) {
        guard !loop.isCurrent else { return entered(number, body) }
        loop.execute { self.entered(number, body) }
    }

    /// Like `onThread`, but without waking the thread. `body` runs before the next event of a connection or the next
    /// job.
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
    /// - Throws: `cannotAccept` if the socket cannot be watched. It is then closed.
    func open(_ socket: ServerSocket) throws(VarlinkServerError) {
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

    /// Ends all connections in an orderly way; returns when none is left.
    func endConnections() async {
        await withCheckedContinuation { registry.shutdown($0) }
    }

    // MARK: Turns

    /// Handles the sockets that are ready.
    ///
    /// - Returns: when it has to be called again at the latest.
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

    /// Makes new peers wait. Without a free descriptor, the loop would report them again and again. One of them gets
    /// the spare.
    private func runShort(because error: VarlinkServerError) {
        spare.give()
        if let descriptor = try? listener.accept() { letIn(descriptor) }
        listener.isPaused = true
        shortage = (registry.now + Self.longestPause, registry.count)
        registry.tellShortage(error)
    }

    private func lookForDescriptors() {
        // A peer that was admitted but could not be kept has also shown a shortage.
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
