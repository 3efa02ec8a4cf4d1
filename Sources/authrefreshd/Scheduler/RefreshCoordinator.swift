internal import AccountStorage
internal import Dispatch
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Systemd
internal import Varlink

/// Keeps all accounts fresh: reads what is due, decides, commits, acts.
///
/// It runs on one serial queue and never suspends between reading an account and writing it. What it holds in memory is what is
/// in flight and who waits; everything else is in the store.
actor RefreshCoordinator {
    nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    nonisolated var queue: DispatchQueue { executor.queue }

    let store: AccountStore
    /// The store's, for other threads.
    nonisolated let tokenReader: TokenReader
    let client: OAuthClient
    let timebase: Timebase
    let changeLog: ChangeLog
    var settings: CoordinatorSettings
    let startedAt: Timestamp

    // What follows is not private because the duties are extensions in their own folders. What is inside a part is private to its file.

    // MARK: Scheduler

    var timer: DeadlineTimer?
    var gates = IssuerGates()
    var pace = AskingPace()
    var exchanges = Exchanges()
    var unstored: UnstoredDecisions
    /// Where the walk over the accounts that a restored network concerns has come to; nil if there is none.
    var connectivityCursor: AccountID?
    /// Told whenever something changed that the service manager's status line shows.
    var onStatusChange: @Sendable () -> Void = {}
    /// When decisions last changed the status line; nil before the first.
    var statusShownAt: Moment?
    /// Whether the last reload brought a configuration that cannot be used.
    var isConfigurationRejected = false
    /// Calls of which half would be worse than none: sign-outs, registrations, proofs of a grant. The end of the daemon waits for them.
    var serverCalls = Places(CallerLimits.serverCallsMax)
    var isStopping = false
    /// Whether the store is closed, and nothing can be answered any more.
    var isOver = false
    /// Resumed when nothing is under way any more.
    var stopped: CheckedContinuation<Void, Never>?

    // MARK: The other duties

    var callers = Callers()
    var subscribers = Subscribers()
    var registrations = Registrations()
    var signIns = SignIns()
    var stepUps = StepUps()
    var host = HostState()
    /// Callers who are being told what is wrong.
    var diagnoses = Places(CallerLimits.diagnosesMax)

    // MARK: Store keeping

    /// What keeps the store from being written; nil if nothing does.
    var trouble: StoreTrouble?
    /// What the daemon works on without.
    var degradation = Degradation()
    /// Tell when one of the store's files is removed or comes back: the database and its log.
    var storeWatches: [PathWatch] = []
    /// Where the store's key is.
    var keyring: StoreKeyring
    /// The change of the store's key that is under way; nil if there is none.
    var rekeying: Rekeying?
    /// The check of the store that is under way; nil if there is none.
    var checking: StoreChecking?
    var backups = StoreBackups()

    private var inbox: [Arrival] = []
    private(set) var isTurnScheduled = false

    init(
        executor: DispatchQueueExecutor,
        store: sending AccountStore,
        keyring: StoreKeyring,
        client: OAuthClient,
        settings: CoordinatorSettings,
        timebase: Timebase,
        changeLog: ChangeLog
    ) {
        self.executor = executor
        tokenReader = store.tokenReader
        unstored = UnstoredDecisions(tokenReader: store.tokenReader)
        self.store = store
        self.keyring = keyring
        self.client = client
        self.settings = settings
        self.timebase = timebase
        self.changeLog = changeLog
        startedAt = timebase.now().wall
    }

    /// Takes up what an earlier daemon left behind, and begins.
    ///
    /// - Parameter onStatusChange: called on this queue whenever the status line may have changed.
    /// - Throws: `StoreError` if the store cannot be read.
    func start(watching machine: HostWatch?, onStatusChange: @escaping @Sendable () -> Void) throws(StoreError) {
        self.onStatusChange = onStatusChange
        timer = DeadlineTimer(queue: queue) { [weak self] in
            self?.assumeIsolated { $0.deadlineReached() }
        }
        if let machine {
            let (watches, isOnline) = machine.begin(on: queue)
            host.begin(watches, isOnline: isOnline)
        }
        store.onLogRenewed = { [changeLog] in changeLog.write(.storeLogLost) }
        watchStore()
        keepMetadata()
        try reconcileClock(at: timebase.now())
        // Whoever held the leases in the store is dead: the store's lock says so.
        for account in try store.leased(limit: .max) {
            submit(.exchangeAbandoned, for: account)
        }
        try takeBackMended(after: AccountID(0))
        try wakeLackingSource()
        StoreCopy.removeLeftovers(besides: store.path)
        try resumeRekeying()
        wake()
    }

    /// Puts an event before the machine of `account`; it is decided on in the queue's next turn, together with all that has come until
    /// then.
    func submit(_ event: Event, for account: AccountID) {
        submit(Arrival(account: account, event: event))
    }

    func submit(_ arrival: Arrival) {
        inbox.append(arrival)
        wake()
    }

    /// Whether something waits to be decided on.
    var hasArrivals: Bool { !inbox.isEmpty }

    /// Keeps an arrival for a later turn, without asking for one.
    func putBack(_ arrival: Arrival) {
        inbox.append(arrival)
    }

    /// Schedules a turn.
    func wake() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        queue.async { [weak self] in
            self?.assumeIsolated { $0.turn() }
        }
    }

    private func deadlineReached() {
        timer?.fired()
        wake()
    }

    /// One turn: everything that has arrived and everything that is due is decided together, committed once, then acted on.
    private func turn() {
        isTurnScheduled = false
        let now = timebase.now()
        var arrivals = inbox
        inbox = []
        noteClock(at: now)
        do {
            // There may be more: callers have their turn in between.
            if try takeDue(into: &arrivals, at: now) { wake() }
            if !arrivals.isEmpty || trouble?.remaining(at: now) == .zero {
                try decide(arrivals, at: now)
                unstored.damageIsStored()
            }
        } catch {
            storeFailed(error, with: arrivals, at: now)
        }
        for waiter in callers.takeExpired(at: now) { waiter.answer(.timedOut) }
        advanceSignIns(at: now)
        gates.forgetIdle(at: now)
        // All answers are stored.
        if !exchanges.areYoung, !hasArrivals { host.allowSleep() }
        arm(at: now)
        finishStopping()
    }

    /// Looks at the clocks, unless the store has failed just now. If that cannot be stored, what has arrived is decided on all the same:
    /// answers of the server are kept, and whoever waits for them gets them.
    private func noteClock(at now: Moment) {
        guard trouble?.remaining(at: now) ?? .zero == .zero else { return }
        do {
            try reconcileClock(at: now)
        } catch {
            storeFailed(error, with: [], at: now)
        }
    }
}

/// Something that has happened to an account, waiting for its turn.
struct Arrival {
    let account: AccountID
    let event: Event
    /// The tokens that came with it.
    var tokens: StoredTokens?
    /// What came beside the tokens of a new grant.
    var grantFacts = GrantFacts()
    /// What its owner changes with it; nil if nothing.
    var settings: SettingsChange?
    /// What the exchange found out about the server.
    var learnedEncoding: BasicCredentialEncoding?
    /// The exchange that it is the end of.
    var correlationID: String?
    /// Whether what was decided on it before contradicted the store.
    var isSecondTry = false
}
