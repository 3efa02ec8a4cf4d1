internal import Glibc
internal import NIOCore
internal import NIOPosix

/// The listening socket of a server, and its return when somebody removes its path. Lives on the event loop.
final class Listener {
    let registry: ConnectionRegistry
    private let group: MultiThreadedEventLoopGroup
    private let eventLoop: any EventLoop
    private let backlog: Int32
    private let restorePassedSocket: (@Sendable (@escaping @Sendable (Bool) -> Void) -> Void)?

    private var channel: (any Channel)?
    private var path: String?
    private var identity: FileIdentity?
    private var ownsPath = false
    private var watch: PathWatch?
    private var isAskingOwner = false
    private var isStopped = false

    init(
        registry: ConnectionRegistry,
        group: MultiThreadedEventLoopGroup,
        eventLoop: any EventLoop,
        backlog: Int32,
        restorePassedSocket: (@Sendable (@escaping @Sendable (Bool) -> Void) -> Void)?
    ) {
        self.restorePassedSocket = restorePassedSocket
        self.registry = registry
        self.group = group
        self.eventLoop = eventLoop
        self.backlog = backlog
    }

    var isListening: Bool { channel != nil }

    /// Whether a peer that connects to the path reaches us.
    var isPathIntact: Bool {
        guard let path else { return isListening }
        return isListening && identity != nil && FileIdentity(path: path) == identity
    }

    /// Accepts from `socket` from now on, in place of the one before.
    func open(_ socket: ListenSocket) -> EventLoopFuture<Void> {
        let registry = NIOLoopBound(registry, eventLoop: eventLoop)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let highWater = registry.value.limits.undrainedBytesHighWater
        return ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBrake(registry: registry.value))
                }
            }
            // Calls are short: a buffer of this size takes one in a single read, and stays small for a thousand peers.
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4096))
            // After each read the others have their turn.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: highWater / 2, high: highWater))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Connection(registry: registry.value))
                }
            }
            .withBoundSocket(socket.descriptor)
            .map { channel in bound.value.opened(channel, socket) }
    }

    private func opened(_ newChannel: any Channel, _ socket: ListenSocket) {
        channel?.close(promise: nil)
        channel = newChannel
        path = socket.path
        identity = socket.identity
        ownsPath = socket.ownsPath
        guard !isStopped else { return stop() }
        watchPath()
    }

    // MARK: The path

    /// Looks at the path, and has it back if it does not lead to us any more.
    func checkPath() {
        guard !isStopped, !isAskingOwner, let path, !isPathIntact else { return }
        // 1. A path that was there has vanished: a passed socket is its owner's. If we bound another in its place, the owner would
        //    still listen on the old one when we end, and start nobody.
        // 2. A path that has never been there for us may be out of our sight (a sandbox), and so for ever: no restart helps.
        if !ownsPath, identity != nil, let restorePassedSocket {
            return askOwner(restorePassedSocket, for: path)
        }
        bindAnew(path)
    }

    private func askOwner(_ restore: @Sendable (@escaping @Sendable (Bool) -> Void) -> Void, for path: String) {
        isAskingOwner = true
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        restore { [eventLoop] isGranted in
            eventLoop.execute { bound.value.ownerAnswered(isGranted, path) }
        }
    }

    private func ownerAnswered(_ isGranted: Bool, _ path: String) {
        guard !isGranted else { return registry.observe(.pathReturned(path)) }
        isAskingOwner = false
        identity = nil
        checkPath()
    }

    private func bindAnew(_ path: String) {
        do throws(VarlinkServerError) {
            let socket = try ListenSocket.bound(to: path, backlog: backlog)
            identity = socket.identity
            let bound = NIOLoopBound(self, eventLoop: eventLoop)
            open(socket).whenComplete { result in
                switch result {
                case .success:
                    bound.value.registry.observe(.pathRestored(path))
                case .failure(let error):
                    bound.value.lost(path, .cannotListen(errno: (error as? IOError)?.errnoCode ?? 0))
                }
            }
        } catch {
            lost(path, error)
        }
    }

    private func lost(_ path: String, _ error: VarlinkServerError) {
        identity = nil
        registry.observe(.pathLost(path, error))
        watchPath(isRetry: true)
    }

    /// Watches the path, then looks once more: what changed before the watch stood would be missed.
    private func watchPath(isRetry: Bool = false) {
        watch?.cancel()
        watch = nil
        guard let path else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        watch = PathWatch(path) { [eventLoop] in
            eventLoop.execute { bound.value.checkPath() }
        }
        // After a failure only a change is worth another try.
        if !isRetry, !isPathIntact {
            checkPath()
        }
    }

    // MARK: End

    /// Accepts no more; the path goes if we made it.
    func stop() {
        isStopped = true
        watch?.cancel()
        watch = nil
        if ownsPath, isPathIntact, let path {
            _ = unsafe unlink(path)
        }
        channel?.close(promise: nil)
        channel = nil
    }
}
