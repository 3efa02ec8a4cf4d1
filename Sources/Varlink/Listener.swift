internal import Glibc

/// The listening socket of a server, and its return when somebody removes its path. Lives on the socket's thread.
final class Listener {
    /// What the loop watches it by.
    static let key: UInt64 = 1

    private let loop: SocketLoop
    private let backlog: Int32
    private let observe: @Sendable (VarlinkServerEvent) -> Void
    private let restorePassedSocket: (@Sendable (@escaping @Sendable (Bool) -> Void) -> Void)?
    /// Does something with the listener on the socket's thread; may be called on any. Set by its owner.
    var enter: @Sendable (@escaping @Sendable (Listener) -> Void) -> Void = { _ in }

    private var descriptor: Int32?
    private var path: String?
    private var identity: FileIdentity?
    private var ownsPath = false
    private var watch: PathWatch?
    private var isAskingOwner = false
    private var isStopped = false

    /// Whether those who want to connect have to wait.
    var isPaused = false {
        didSet {
            guard let descriptor, isPaused != oldValue else { return }
            loop.change(descriptor, key: Self.key, to: isPaused ? [] : .input)
        }
    }

    init(configuration: VarlinkServerConfiguration, loop: SocketLoop) {
        self.loop = loop
        backlog = configuration.limits.backlog
        observe = configuration.observe
        restorePassedSocket = configuration.restorePassedSocket
    }

    /// Whether a peer that connects to the path reaches us.
    var isPathIntact: Bool {
        guard let path else { return descriptor != nil }
        return descriptor != nil && identity != nil && FileIdentity(path: path) == identity
    }

    /// Accepts from `socket` from now on, in place of the one before.
    ///
    /// - Throws: `cannotAccept` if it cannot be watched; it is closed then.
    func open(_ socket: ListenSocket) throws(VarlinkServerError) {
        do throws(VarlinkServerError) {
            try loop.watch(socket.descriptor, key: Self.key, for: isPaused ? [] : .input)
        } catch {
            socket.abandon()
            throw error
        }
        closeSocket()
        // A passed socket may be a blocking one; nobody else accepts from it.
        let flags = fcntl(socket.descriptor, F_GETFL)
        _ = fcntl(socket.descriptor, F_SETFL, flags | O_NONBLOCK)
        descriptor = socket.descriptor
        path = socket.path
        identity = socket.identity
        ownsPath = socket.ownsPath
        watchPath()
    }

    /// The next connection's descriptor; nil if nobody waits.
    ///
    /// - Throws: `cannotAccept` if there is no descriptor for somebody who waits.
    func accept() throws(VarlinkServerError) -> Int32? {
        guard let descriptor else { return nil }
        return try SocketSystem.accept(descriptor)
    }

    // MARK: The path

    /// Looks at the path, and has it back if it does not lead to us any more.
    func checkPath() {
        guard !isStopped, !isAskingOwner, let path, !isPathIntact else { return }
        // 1. A path that was there has vanished: a passed socket is its owner's. If we bound another in its place, the owner would
        //    still listen on the old one when we end, and start nobody.
        // 2. A path that has never been there for us may be out of our sight (a sandbox), and so for ever: no restart helps.
        if !ownsPath, identity != nil, let restorePassedSocket {
            isAskingOwner = true
            return restorePassedSocket { [enter] isGranted in
                enter { $0.ownerAnswered(isGranted, path) }
            }
        }
        bindAnew(path)
    }

    private func ownerAnswered(_ isGranted: Bool, _ path: String) {
        guard !isGranted else { return observe(.pathReturned(path)) }
        isAskingOwner = false
        identity = nil
        checkPath()
    }

    private func bindAnew(_ path: String) {
        do throws(VarlinkServerError) {
            try open(ListenSocket.bound(to: path, backlog: backlog))
            observe(.pathRestored(path))
        } catch {
            identity = nil
            observe(.pathLost(path, error))
            watchPath(isRetry: true)
        }
    }

    /// Watches the path, then looks once more: what changed before the watch stood would be missed.
    private func watchPath(isRetry: Bool = false) {
        watch?.cancel()
        watch = nil
        guard let path else { return }
        watch = PathWatch(path) { [enter] in
            enter { $0.checkPath() }
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
        closeSocket()
    }

    /// A passed socket lives on with its owner, and so would what the loop watches: those who connect to it later would keep the
    /// loop awake, with nobody to let them in.
    private func closeSocket() {
        guard let descriptor else { return }
        loop.forget(descriptor)
        close(descriptor)
        self.descriptor = nil
    }
}
