internal import AccountStorage
internal import SecretService

/// Opens the store, and tries again whenever its key may have become available.
///
/// That is when the Secret Service reports a change, when it appears or disappears, when a caller asks, and after the
/// configuration was read again. It does not poll, and shows no prompt. It lives on the coordinator's queue and asks on
/// another one, so that a silent bus blocks neither callers nor signals.
actor StoreOpener {
    typealias Answer = Result<Disconnected<AccountStore>, StoreOpeningError>

    nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let path: String
    private let busAddress: String?
    private let onAnswer: @Sendable (Answer) -> Void
    private var keyring: StoreKeyring
    /// The watch on the Secret Service; nil before there is something to wait for, and without a bus.
    private var watch: SecretServiceWatch?
    private var isLocked = false
    private var isAsking = false
    /// Whether something has happened since the current attempt began. One more attempt covers all of it.
    private var isToAskAgain = false
    private var isOver = false

    /// Creates an opener.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - busAddress: the address of the session bus; nil if there is none.
    ///   - onAnswer: receives the store in the end; or the reason why it cannot be opened. The reason is final, unless
    ///     the daemon waits for it to pass; then `onAnswer` is called again.
    init(
        executor: DispatchQueueExecutor,
        path: String,
        keyring: StoreKeyring,
        busAddress: String?,
        onAnswer: @escaping @Sendable (Answer) -> Void
    ) {
        self.executor = executor
        self.path = path
        self.keyring = keyring
        self.busAddress = busAddress
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
    }

    private func ask() {
        guard !isOver else { return }
        isToAskAgain = isAsking
        guard !isAsking else { return }
        isAsking = true
        let (keyring, path) = (keyring, path)
        Task {
            answered(
                await BlockingCall.result { () throws(StoreOpeningError) in
                    Disconnected(try keyring.openStore(at: path))
                }
            )
        }
    }

    private func answered(_ answer: Answer) {
        isAsking = false
        guard !isOver else { return }
        switch answer {
        case .failure(let error) where error.isAwaited:
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

extension StoreOpeningError {
    /// Whether the daemon waits for the problem to pass.
    var isAwaited: Bool {
        switch self {
        case .key(let error): error.isAwaited
        case .store: false
        }
    }
}
