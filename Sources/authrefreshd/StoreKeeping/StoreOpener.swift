internal import AccountStorage
internal import Dispatch
internal import Systemd

/// Opens the store, and tries again whenever what it waits for may have come.
///
/// | It waits for | and tries again when |
/// |---|---|
/// | the key | the Secret Service reports a change, appears or disappears |
/// | the end of a process that has the store open | the kernel gives it that process's lock |
/// | the store itself, which the last daemon had | a file system is mounted or unmounted |
///
/// It also tries again when a caller asks, and after the configuration was read again. It does not poll, and shows no
/// prompt. It lives on the coordinator's queue and asks on another one, so that a silent bus blocks neither callers nor
/// signals.
actor StoreOpener {
    typealias Answer = Result<Disconnected<AccountStore>, StoreError>

    nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let path: String
    private let memory: StoreMemory?
    private let busAddress: String?
    /// Whether systemd serves the socket. Then callers are better told of another daemon than refused, and if this one
    /// ended, the next call would start it again.
    private let hasPassedSocket: Bool
    private let machine: String?
    private let onAnswer: @Sendable (Answer) -> Void
    private var keyring: StoreKeyring
    /// The watch on the Secret Service; nil before there is something to wait for, and without a bus.
    private var watch: SecretServiceWatch?
    /// The watch on file systems; nil before the store is missed.
    private var mounts: MountWatch?
    private var isLocked = false
    /// Whether an attempt or the wait for another process is under way. Nothing else may open the database meanwhile, because
    /// its end would release SQLite's lock.
    private var isAsking = false
    /// Whether something has happened since the current attempt began. One more attempt covers all of it.
    private var isToAskAgain = false
    private var isOver = false

    /// Creates an opener.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - memory: remembers the stores of earlier daemons.
    ///   - busAddress: the address of the session bus; nil if there is none.
    ///   - hasPassedSocket: whether systemd has passed the socket, so that another daemon is waited for, too.
    ///   - machine: identifies this machine; nil if nothing does.
    ///   - onAnswer: receives the store in the end; or the reason why it cannot be opened. The reason is final, unless
    ///     the daemon waits for it to pass; then `onAnswer` is called again.
    init(
        executor: DispatchQueueExecutor,
        path: String,
        keyring: StoreKeyring,
        memory: StoreMemory? = nil,
        busAddress: String?,
        hasPassedSocket: Bool = false,
        machine: String? = nil,
        onAnswer: @escaping @Sendable (Answer) -> Void
    ) {
        self.executor = executor
        self.path = path
        self.memory = memory
        self.keyring = keyring
        self.busAddress = busAddress
        self.hasPassedSocket = hasPassedSocket
        self.machine = machine
        self.onAnswer = onAnswer
    }

    /// Tries to open the store with the keys of `keyring`, now and until it is open.
    func open(with keyring: StoreKeyring) {
        self.keyring = keyring
        ask()
    }

    /// A caller needs the store. That is a reason to try again, and to look for a bus that was missing.
    func callerCame() {
        if watch == nil { watch = makeWatch() }
        ask()
    }

    /// Ends it; no answer follows. A running attempt is abandoned.
    func end() {
        isOver = true
        watch?.cancel()
        watch = nil
        mounts = nil
    }

    private func ask() {
        guard !isOver else { return }
        isToAskAgain = isAsking
        guard !isAsking else { return }
        isAsking = true
        let (keyring, path, memory, machine) = (keyring, path, memory, machine)
        Task {
            answered(
                await BlockingCall.result { () throws(StoreError) in
                    let store = try keyring.openStore(at: path, rememberedIn: memory)
                    try store.settle(on: machine)
                    return Disconnected(store)
                }
            )
        }
    }

    private func answered(_ answer: Answer) {
        isAsking = false
        guard !isOver else { return }
        switch answer {
        case .failure(let error) where error.isInUse && error.isAwaited(hasPassedSocket):
            onAnswer(answer)
            waitForOthers()
        case .failure(.missing):
            onAnswer(answer)
            // The store may have been mounted after the attempt and before the watch began.
            if watchMounts() || isToAskAgain { ask() }
        case .failure(let error) where error.isAwaited(hasPassedSocket):
            if !isLocked { watch = makeWatch() }
            isLocked = true
            onAnswer(answer)
            if isToAskAgain { ask() }
        case .failure where isToAskAgain:
            // The configuration has changed meanwhile. An error that is final without a keyring may pass with one.
            ask()
        case .success, .failure:
            end()
            onAnswer(answer)
        }
    }

    /// Tries again when no other process has the store open. The kernel tells that to a thread of its own.
    private func waitForOthers() {
        isAsking = true
        DispatchQueue(label: "authrefreshd.store-lock").async { [path, weak self] in
            let end = Result { () throws(StoreError) in try AccountStore.waitUntilFree(path) }
            Task { await self?.othersEnded(end) }
        }
    }

    private func othersEnded(_ result: Result<Void, StoreError>) {
        isAsking = false
        guard !isOver else { return }
        switch result {
        case .success: ask()
        case .failure(let error):
            end()
            onAnswer(.failure(error))
        }
    }

    /// Begins to watch file systems.
    ///
    /// - Returns: whether the watch is new.
    private func watchMounts() -> Bool {
        guard mounts == nil else { return false }
        mounts = MountWatch(queue: executor.queue) { [weak self] in self?.assumeIsolated { $0.ask() } }
        return mounts != nil
    }

    /// Creates the watch; nil if there is no bus now. The next caller causes another attempt.
    private func makeWatch() -> SecretServiceWatch? {
        guard let busAddress else { return nil }
        return try? SecretServiceWatch(
            queue: executor.queue,
            address: busAddress,
            onLost: { [weak self] in self?.assumeIsolated { $0.watch = nil } },
            onChange: { [weak self] in self?.assumeIsolated { $0.ask() } }
        )
    }
}

/// An error of opening the store.
extension StoreError {
    /// Whether another process has the store open.
    fileprivate var isInUse: Bool {
        if case .inUse = self { return true }
        return false
    }

    /// Whether the daemon waits for the problem to pass.
    ///
    /// - Parameter hasPassedSocket: whether systemd has passed the socket.
    func isAwaited(_ hasPassedSocket: Bool) -> Bool {
        if case .key(let error) = self { return error.isAwaited }
        if case .inUse(_, let holder) = self { return !holder.isDaemon || hasPassedSocket }
        if case .missing = self { return true }
        return false
    }

    /// Whether the store is there, and its key is in a keyring that gives it to nobody now.
    var isLocked: Bool {
        if case .key(let error) = self { return error.isPassing }
        return false
    }
}
