internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import RefreshCore
internal import Synchronization
internal import Systemd
internal import Varlink

/// Where calls come in: on to the service, or back with the news that the store is locked. Lives on the coordinator's queue.
actor CallRouter {
    private enum State {
        case locked(StoreKeyError)
        case open(AuthRefreshService)
    }

    /// How often a caller's question counts as a reason to try again, in µs: each may start a program.
    private static let patience: Int64 = 1_000_000

    nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// The tokens, and the clocks to judge them by; nil while the store is locked.
    private nonisolated let shortcut = Mutex<(tokens: TokenReader, timebase: Timebase)?>(nil)
    private nonisolated let calls = CallQueue<(call: VarlinkCall, peer: PeerCredentials, responder: VarlinkResponder)>()
    private var state = State.locked(.secretServiceLocked)
    private let onAsked: @Sendable () -> Void
    /// When a caller was sent away last, on the clock that nobody steps.
    private var askedAt: Int64?

    /// - Parameter onAsked: called when somebody asks while the store is locked.
    init(executor: DispatchQueueExecutor, onAsked: @escaping @Sendable () -> Void) {
        self.executor = executor
        self.onAsked = onAsked
    }

    func lock(_ error: StoreKeyError) {
        shortcut.withLock { $0 = nil }
        state = .locked(error)
    }

    func open(_ service: AuthRefreshService) {
        state = .open(service)
        let coordinator = service.coordinator
        shortcut.withLock { $0 = (coordinator.tokenReader, coordinator.timebase) }
    }

    /// Answers one call; may be called on any thread.
    nonisolated func handle(_ call: VarlinkCall, from peer: PeerCredentials, _ responder: VarlinkResponder) {
        if let reply = answerAtOnce(call) { return responder.reply(encoded: reply) }
        if calls.add((call, peer, responder), of: peer.pid) { serveNext() }
    }

    /// Answers one call, and goes to the end of the queue for the next: refreshes and other work have their turn in between.
    private nonisolated func serveNext() {
        executor.queue.async { [self] in
            guard let next = calls.next() else { return }
            assumeIsolated { $0.answer(next.call, from: next.peer, next.responder) }
            serveNext()
        }
    }

    private nonisolated func answerAtOnce(_ call: VarlinkCall) -> [UInt8]? {
        guard let question = PlainAcquireToken(call), let shortcut = shortcut.withLock(\.self) else { return nil }
        return question.answer(from: shortcut.tokens, at: shortcut.timebase.now())
    }

    private func answer(_ call: VarlinkCall, from peer: PeerCredentials, _ responder: VarlinkResponder) {
        switch state {
        case .open(let service): service.handle(call, from: peer, responder)
        case .locked(let error):
            responder.fail(VarlinkError(StoreLockedError(reason: error.description, hint: error.hint)))
            let now = Int64(DispatchTime.now().uptimeNanoseconds / 1000)
            guard askedAt.map({ now - $0 >= Self.patience }) ?? true else { return }
            askedAt = now
            onAsked()
        }
    }
}
