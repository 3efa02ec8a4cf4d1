internal import AccountStorage
internal import SecretService

/// Opens the store, and tries again whenever its key may have come.
///
/// That is when the Secret Service says that something has changed, when it comes or goes, when a caller asks, and when the
/// configuration was read anew; there is no polling, and nobody is prompted. Lives on the coordinator's queue and asks on another: a bus
/// that says nothing keeps neither callers nor signals from being heard.
actor StoreOpener {
    typealias Answer = Result<Disconnected<AccountStore>, StoreOpeningError>

    nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let path: String
    private let busAddress: String?
    private let onAnswer: @Sendable (Answer) -> Void
    private var keyring: StoreKeyring
    /// Nil until there is something to wait for, and while there is no bus.
    private var watch: SecretServiceWatch?
    private var isLocked = false
    private var isAsking = false
    /// Whether anything has happened since the question under way was put: one more answers all of it.
    private var isToAskAgain = false
    private var isOver = false

    /// - Parameters:
    ///   - path: the store's.
    ///   - busAddress: of the session bus; nil if there is none.
    ///   - onAnswer: is given the store, in the end; or why it cannot be opened: for good, or until it is called again if the error is
    ///     awaited.
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

    /// Somebody wants something of the store: a reason to try again, and to look for a bus that was not there.
    func callerCame() {
        if watch == nil { watch = makeWatch() }
        ask()
    }

    /// Ends it; no answer follows. A question that is under way is left to itself.
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
            // The configuration has changed meanwhile: what is final without a keyring need not be so with one.
            ask()
        case .success, .failure:
            end()
            onAnswer(answer)
        }
    }

    /// Nil if there is no bus now: the next caller has it looked for again.
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
    /// Whether the daemon waits for it to pass.
    var isAwaited: Bool {
        switch self {
        case .key(let error): error.isAwaited
        case .store: false
        }
    }
}
