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
    /// Told whenever something changed that the service manager's status line shows.
    var onStatusChange: @Sendable () -> Void = {}
    /// When decisions last changed the status line; nil before the first.
    var statusShownAt: Moment?

    var settings: CoordinatorSettings
    var timer: DeadlineTimer?
    var gates = IssuerGates()
    /// Who asks again too soon.
    var pace = AskingPace()
    /// The requests under way, by account.
    var exchanges: [AccountID: Exchange] = [:]
    /// Those of them that have not passed their time limit, each with a slot at its issuer's gate, by correlation identifier.
    var youngExchanges: Set<String> = []
    /// Those who wait, by account: at most one for each call under way, and so no more than there are connections.
    var waiters: [AccountID: [Waiter]] = [:]
    var lastWaiter = 0
    /// What the server said last of token sets that it gave no token for.
    var tokenSetFailures = TokenSetFailures()
    var subscribers = Subscribers()
    /// The sign-ins that are under way.
    var signIns = SignIns()
    /// What is wanted beyond an account's grant: at most one demand for each account, the last.
    var stepUps: [AccountID: StepUp] = [:]
    /// Decisions about answers that could not be committed; they are kept here until they can.
    var unsaved: [AccountID: Decision] = [:] {
        didSet { tellReader() }
    }
    /// What the decisions that are acted on have stored for those who wait for it; nothing between turns.
    var justStored: [AccountID: StoredTokens] = [:]
    /// Whether a caller came upon damage that the store does not know of until the next turn.
    var hasFoundDamage = false {
        didSet { tellReader() }
    }
    /// What keeps the store from being written; nil if nothing does.
    var trouble: StoreTrouble?
    /// What it works on without.
    var lacks = Lacks()
    /// Whether the last reload brought a configuration that cannot be used.
    var isConfigurationRejected = false
    /// Tell when one of the store's files is removed or comes back: the database and its log.
    var storeWatches: [PathWatch] = []
    /// What keeps an eye on the machine.
    var watches: [any AnyObject] = [] {
        didSet { sleepWatch = watches.lazy.compactMap { $0 as? SleepWatch }.first }
    }
    /// The one of them that has sleep delayed; nil without a system bus.
    private(set) var sleepWatch: SleepWatch?
    var suspendDrift = SuspendDrift()
    /// What the store has of the clocks; nil until it is asked for.
    var clockOffset: ClockOffset?
    /// How far the issuers' clocks are ahead of ours, as far as asked for; nil for one that has not told.
    var clockSkews: [IssuerID: Duration?] = [:]
    /// When logind said that the machine is about to sleep; nil if it is not.
    var sleepAnnouncedAt: Moment?
    /// Whether the machine has a route.
    var isOnline = true
    /// Where the walk over the accounts that a restored network concerns has come to; nil if there is none.
    var connectivityCursor: AccountID?
    var isStopping = false
    /// Whether the store is closed, and nothing can be answered any more.
    var isOver = false
    /// Resumed when nothing is under way any more.
    var stopped: CheckedContinuation<Void, Never>?
    let startedAt: Timestamp
    /// Where the store's key is.
    var keyring: StoreKeyring
    /// The change of the store's key that is under way; nil if there is none.
    var rekeying: Rekeying?
    /// The check of the store that is under way; nil if there is none.
    var checking: StoreChecking?
    /// The backups that callers want.
    var backups = StoreBackups()
    /// Sign-outs and registrations that are under way: half of one is none.
    var errands = 0
    /// How many callers are being told what is wrong.
    var diagnoses = 0
    /// What was done about client secrets that end; absent where nothing was yet.
    var clientSecretCare: [AccountID: ClientSecretCare] = [:]
    /// The renewals of client secrets that are under way: each with the registration as its server has it.
    var renewals: [AccountID: ClientRegistration] = [:]
    /// Registrations that could not be stored; they are kept here until they can.
    var unsavedRegistrations: [AccountID: UnsavedRegistration] = [:]

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
    func start(watching machine: MachineWatch?, onStatusChange: @escaping @Sendable () -> Void) throws(StoreError) {
        self.onStatusChange = onStatusChange
        timer = DeadlineTimer(queue: queue) { [weak self] in
            self?.assumeIsolated { $0.deadlineReached() }
        }
        if let machine { (watches, isOnline) = machine.begin(on: queue) }
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

    /// What the store does not say yet, the socket's thread must not overlook.
    private func tellReader() {
        tokenReader.setBehind(!unsaved.isEmpty || hasFoundDamage)
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
                if hasFoundDamage { hasFoundDamage = false }
            }
        } catch {
            storeFailed(error, with: arrivals, at: now)
        }
        expireWaiters(at: now)
        advanceSignIns(at: now)
        gates.forgetIdle(at: now)
        // All answers are stored.
        if youngExchanges.isEmpty, !hasArrivals { allowSleep() }
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
