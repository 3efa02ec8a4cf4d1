internal import Glibc

/// The listening socket of a server. It restores the socket if somebody removes its path. It lives on the socket's
/// thread.
final class Listener {
    /// The key by which the loop watches the socket.
    static let key: UInt64 = 1

    private let loop: SocketLoop
    private let backlog: Int32
    private let observe: @Sendable (VarlinkServerEvent) -> Void
    private let restorePassedSocket: (@Sendable (@escaping @Sendable (Bool) -> Void) -> Void)?
    /// Runs something with the listener on the socket's thread. It may be called on any thread, and is set by the
    /// owner.
    var enter: @Sendable (@escaping @Sendable (Listener) -> Void) -> Void = { _ in }

    private var descriptor: Int32?
    private var path: String?
    private var identity: FileIdentity?
    private var ownsPath = false
    private var watch: PathWatch?
    /// Whether the owner knows that inotify does not watch the path.
    private var isUnwatchedTold = false
    /// Why the path could not be bound again, as the owner was last told; nil while it is bound.
    private var lossTold: VarlinkServerError?
    private var isAskingOwner = false
    private var isStopped = false

    /// Whether new peers have to wait.
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

    /// Accepts from `socket` from now on, instead of the previous socket.
    ///
    /// - Throws: `cannotAccept` if the socket cannot be watched. It is then closed.
    func open(_ socket: ServerSocket) throws(VarlinkServerError) {
        do throws(VarlinkServerError) {
            try loop.watch(socket.descriptor, key: Self.key, for: isPaused ? [] : .input)
        } catch {
            socket.abandon()
            throw error
        }
        closeSocket()
        // A passed socket may be in blocking mode. We may change that, because nobody else accepts from it.
        let flags = fcntl(socket.descriptor, F_GETFL)
        _ = fcntl(socket.descriptor, F_SETFL, flags | O_NONBLOCK)
        descriptor = socket.descriptor
        path = socket.path
        identity = socket.identity
        ownsPath = socket.ownsPath
        watchPath()
    }

    /// The next connection's descriptor; nil if no peer waits.
    ///
    /// - Throws: `cannotAccept` if a peer waits and no descriptor is left for it.
    func accept() throws(VarlinkServerError) -> Int32? {
        guard let descriptor else { return nil }
        return try SocketSystem.accept(descriptor)
    }

    // MARK: The path

    /// Checks the path, and restores it if it no longer leads to us.
    func checkPath() {
        guard !isStopped, !isAskingOwner, let path, !isPathIntact else { return }
        // 1. A path that existed has vanished. A passed socket belongs to its owner. If we bound another one instead,
        //    the owner would still listen on the old one after we end, and start nobody.
        // 2. A path that we have never seen may be hidden from us for good (a sandbox). A restart would not help.
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

    /// Binds the path again. The folder can vanish while we bind in it. If that happens before the watch begins, the
    /// watch does not report it. So if the folder is missing, we try again.
    private func bindAnew(_ path: String) {
        let attempts = 3
        for attempt in 1...attempts {
            do throws(VarlinkServerError) {
                try open(ServerSocket.bound(to: path, backlog: backlog))
                lossTold = nil
                return observe(.pathRestored(path))
            } catch {
                identity = nil
                watchPath(isRetry: true)
                if attempt < attempts, FileIdentity(path: Folder.parent(of: path)) == nil { continue }
                // Without inotify, the same attempt fails every `PathWatch.period`.
                if error != lossTold { observe(.pathLost(path, error)) }
                lossTold = error
                return
            }
        }
    }

    /// Watches the path, then checks it once more, because a change before the watch began would be missed.
    private func watchPath(isRetry: Bool = false) {
        watch?.cancel()
        watch = nil
        guard let path else { return }
        let watch = PathWatch(path) { [enter] in
            enter { $0.checkPath() }
        }
        self.watch = watch
        if let failure = watch.failure, !isUnwatchedTold { observe(.pathUnwatched(failure)) }
        isUnwatchedTold = watch.failure != nil
        // After a failure, only a change makes another attempt worthwhile.
        if !isRetry, !isPathIntact {
            checkPath()
        }
    }

    // MARK: End

    /// Stops accepting, and removes the path if we made it.
    func stop() {
        isStopped = true
        watch?.cancel()
        watch = nil
        if ownsPath, isPathIntact, let path {
            _ = unsafe unlink(path)
        }
        closeSocket()
    }

    /// Stops watching and closes the socket. A passed socket stays open at its owner. If the loop still watched it,
    /// later peers would keep waking the loop, and nobody would admit them.
    private func closeSocket() {
        guard let descriptor else { return }
        loop.forget(descriptor)
        close(descriptor)
        self.descriptor = nil
    }
}
