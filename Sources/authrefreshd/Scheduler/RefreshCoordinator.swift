internal import AccountStorage
internal import Basics
internal import Dispatch
internal import Glibc
internal import Logging
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// Keeps all accounts fresh: it reads what is due, decides, commits and acts.
///
/// It runs on one serial queue, and never suspends between reading an account and writing it. Only running requests and
/// waiting callers are in memory. Everything else is in the store.
actor RefreshCoordinator {
    nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    nonisolated var queue: DispatchQueue { executor.queue }

    // These members are not private, because each duty's entry points are an extension in its own folder. The inside of
    // each part is private to its file.

    let store: AccountStore
    /// What other threads may give out.
    nonisolated let tokens: TokenMap
    let client: OAuthClient
    let timebase: Timebase
    let changeLog: ChangeLog
    var settings: RefreshConfiguration
    let startedAt: Timestamp

    let records: AccountRecords
    let scheduler: Scheduler
    var lifecycle = Lifecycle()
    /// Whether the last reload found an invalid configuration.
    var isConfigurationRejected = false

    // MARK: The other duties

    var callers = Callers()
    var tokenHolds = TokenHolds()
    var proofs = GrantProofs()
    var subscribers = Subscribers()
    var registrations = Registrations()
    let signIns: SignIns
    var stepUps = StepUps()
    var confirmations = Confirmations()
    var webSessions = WebSessions()
    var host = HostState()
    var tokenFiles: TokenFiles
    var changeCommands = ChangeCommands()
    /// `$XDG_RUNTIME_DIR`, which contains the socket of the user's service manager; nil if it is not set.
    let runtimeDirectory: String?
    /// The current error in the configuration files; nil if there is none. It may block.
    nonisolated let configurationError: @Sendable () -> ProgramError?
    /// How the last daemon ended; nil if that is not known.
    private let crashMark: CrashMark?
    var requestMetrics = RequestMetrics()
    var outages = Outages()

    let storeKeeping: StoreKeeping

    private var timer: DeadlineTimer?
    private var isTurnScheduled = false
    /// Called after a change of something in the service manager's status line.
    private var onStatusChange: @Sendable () -> Void = {}
    /// Called when the daemon should start anew, with the reason.
    private var onStoreReplaced: @Sendable (StoreError) -> Void = { _ in }
    /// When decisions last changed the status line; nil before the first time.
    private var statusShownAt: Moment?

    init(
        executor: DispatchQueueExecutor,
        store: sending AccountStore,
        keyring: StoreKeyring,
        client: OAuthClient,
        settings: RefreshConfiguration,
        timebase: Timebase,
        changeLog: ChangeLog,
        tokenFolder: String,
        runtimeDirectory: String? = nil,
        crashMark: CrashMark? = nil,
        configurationError: @escaping @Sendable () -> ProgramError? = { nil }
    ) {
        self.executor = executor
        self.store = store
        records = AccountRecords(store: store)
        tokens = records.tokens
        scheduler = Scheduler(store: store, records: records, timebase: timebase)
        storeKeeping = StoreKeeping(store: store, keyring: keyring, timebase: timebase, changeLog: changeLog)
        signIns = SignIns(client: client, timebase: timebase)
        self.client = client
        self.settings = settings
        self.timebase = timebase
        self.changeLog = changeLog
        tokenFiles = TokenFiles(in: tokenFolder)
        self.runtimeDirectory = runtimeDirectory
        self.crashMark = crashMark
        self.configurationError = configurationError
        startedAt = timebase.now().wall
    }

    /// Takes over from an earlier daemon, and begins.
    ///
    /// - Parameters:
    ///   - watchesMachine: whether events of the machine are watched.
    ///   - onStatusChange: called on this queue when the status line may have changed.
    ///   - onStoreReplaced: called when the daemon should end because another store is where the open one was.
    /// - Throws: `StoreError` if the store cannot be read.
    func start(
        watchesMachine: Bool,
        onStatusChange: @escaping @Sendable () -> Void,
        onStoreReplaced: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        self.onStatusChange = onStatusChange
        self.onStoreReplaced = onStoreReplaced
        timer = DeadlineTimer(queue: queue) { [weak self] in
            self?.assumeIsolated { $0.deadlineReached() }
        }
        if watchesMachine { watchMachine() }
        let parked = store.parkedGrants
        if parked > 0 { changeLog.write(.storeFromOtherMachine(parked: parked)) }
        store.onLogRenewed = { [changeLog] in changeLog.write(.storeLogLost) }
        watchStoreFiles()
        keepMetadata()
        try reconcileClock(at: timebase.now())
        try takeBackMended(after: AccountID(0))
        try wakeAccountsLackingSource()
        StoreCopy.removeLeftovers(besides: store.path)
        carryOut(try storeKeeping.resumeRekeying())
        try beginTokenFiles()
        try settleAbandoned()
        wake()
    }

    /// Ends the requests of the last daemon. The store's lock shows that it has ended.
    private func settleAbandoned() throws(StoreError) {
        let now = timebase.now()
        let signal = crashMark?.signal
        let arrivals = try scheduler.abandoned(byCrash: signal != nil, at: now)
        if let signal { changeLog.write(.daemonCrashed(signal: signal, duringRequests: arrivals.count)) }
        do throws(StoreError) {
            if !arrivals.isEmpty { try decide(arrivals, at: now) }
        } catch {
            noteStoreFailure(error, with: arrivals, at: now)
            arrivals.forEach(submit)
        }
        // Now that the crash is stored with its accounts, it must not be counted again.
        crashMark?.begin()
    }

    /// Releases the watches of the clocks after everything under way has ended.
    func end() {
        timer = nil
        host.end()
    }

    /// Reports that the service manager's status line may have changed.
    func statusChanged() {
        onStatusChange()
    }

    // MARK: What all duties share

    var isStopping: Bool { lifecycle.isStopping }
    /// Why the store cannot be written; nil if it can.
    var trouble: StoreOutage? { storeKeeping.trouble }

    /// The client for a request of `account`.
    func requestingClient(
        of account: Account,
        correlationID: String = RandomText.correlationID()
    ) -> RequestingClient {
        RequestingClient(
            issuer: account.issuer,
            profile: settings.profile(for: account),
            registration: registrations.current(of: account.id, stored: account.registration),
            basicCredentialEncoding: account.basicCredentialEncoding,
            correlationID: correlationID
        )
    }

    /// One line for `systemctl status`.
    var statusLine: String {
        do throws(StoreError) {
            return try overview().statusLine
        } catch {
            if case .replaced = error { return Overview.trouble(error) }
            return "the store cannot be read"
        }
    }

    /// Applies a changed configuration. New policies and limits apply from the next decision on.
    func reload(_ settings: RefreshConfiguration) {
        self.settings = settings
        isConfigurationRejected = false
        storeKeeping.useSecretService(settings.usesSecretService)
        wake()
    }

    /// Records that the configuration on disk is invalid and not in force.
    func configurationRejected() {
        isConfigurationRejected = true
    }

    /// Uses profiles that a person has added or changed since the last reload. An invalid file is ignored, as at a
    /// reload.
    func use(_ profiles: Result<ProviderProfiles?, ProgramError>) {
        switch profiles {
        case .success(let profiles?):
            settings.profiles = profiles
            changeLog.write(.configurationReloaded(awaitingRestart: []))
            wake()
        case .success(nil): settings.profiles.obstacle = nil
        case .failure(let error):
            guard settings.profiles.obstacle != "\(error)" else { return }
            settings.profiles.obstacle = "\(error)"
            changeLog.write(.configurationRejected(error))
        }
    }

    /// Begins a call to a server that the daemon's end waits for. `call` runs in a later turn of the queue.
    ///
    /// - Parameter process: the caller; nil for the daemon itself.
    /// - Returns: who has the most, if there are too many such calls; then nothing begins.
    func beginServerCall(
        of process: Int32? = nil,
        _ call: @escaping @Sendable (isolated RefreshCoordinator) async -> Void
    ) -> Shares.Crowding? {
        let process = process ?? getpid()
        if let crowding = lifecycle.serverCalls.take(for: process) { return crowding }
        Task {
            await call(self)
            lifecycle.serverCalls.count(-1, for: process)
            wake()
        }
        return nil
    }

    /// Records the end of a diagnosis of `process`.
    func diagnosisEnded(of process: Int32) {
        lifecycle.diagnoses.count(-1, for: process)
    }

    // MARK: Turns

    /// Whether anything may begin, according to the other duties.
    func conditions(at now: Moment) -> Scheduler.Conditions {
        Scheduler.Conditions(
            isStopping: isStopping,
            trouble: trouble,
            timeToSleep: host.timeToSleep(at: now),
            isOnline: host.isOnline,
            timeToTrustWall: host.timeToTrustWall(at: now)
        )
    }

    /// Queues an event for the machine of `account`. It is decided in the queue's next turn, together with everything
    /// that arrives until then.
    func submit(_ event: Event, for account: AccountID) {
        submit(QueuedEvent(account: account, event: event))
    }

    func submit(_ arrival: QueuedEvent) {
        scheduler.put(arrival)
        wake()
    }

    /// Schedules a turn.
    func wake() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        later { $0.turn() }
    }

    /// Calls `body` on the queue after all earlier work, unless the coordinator has been released by then. May be
    /// called on any thread.
    nonisolated func later(_ body: @escaping @Sendable (isolated RefreshCoordinator) -> Void) {
        queue.async { [weak self] in self?.assumeIsolated(body) }
    }

    private func deadlineReached() {
        timer?.fired()
        wake()
    }

    /// One turn: decides everything that has arrived or is due, commits it once, then acts on it.
    private func turn() {
        isTurnScheduled = false
        let now = timebase.now()
        var turn = scheduler.takeArrivals()
        noteClock(at: now)
        do {
            // There may be more. Callers get their turn in between.
            if try takeDue(into: &turn, at: now) { wake() }
            if !turn.arrivals.isEmpty || trouble?.remaining(at: now) == .zero {
                try decide(turn.arrivals, at: now)
            }
        } catch {
            noteStoreFailure(error, with: turn.arrivals, at: now)
        }
        for waiter in callers.takeExpired(at: now) { waiter.answer(.timedOut) }
        carryOut(signIns.advance(at: now), at: now)
        if trouble == nil { carryOut(signIns.unadded, at: now) }
        confirmations.advance(at: now)
        webSessions.advance(at: now)
        scheduler.forgetIdleGates(at: now)
        advanceTokenFiles(at: now)
        runNextChangeCommands(at: now)
        // All answers are stored.
        if !scheduler.requests.anyAnswerIsNear, !scheduler.hasArrivals { host.allowSleep() }
        arm(at: now)
        finishShutdownIfIdle()
        if let error = reasonToStartAnew { onStoreReplaced(error) }
    }

    /// Adds what is due.
    ///
    /// - Returns: whether there was anything.
    private func takeDue(into turn: inout Scheduler.Turn, at now: Moment) throws(StoreError) -> Bool {
        defer { tell(of: turn.paceChanges) }
        try scheduler.takeDue(into: &turn, for: &callers, conditions(at: now), at: now)
        return turn.hasDue
    }

    /// Checks the clocks, unless the store has just failed. If the result cannot be stored, arrivals are still decided:
    /// the servers' answers are kept, and the waiting callers get them.
    private func noteClock(at now: Moment) {
        guard trouble?.remaining(at: now) ?? .zero == .zero else { return }
        do {
            try reconcileClock(at: now)
        } catch {
            noteStoreFailure(error, at: now)
        }
    }

    /// Sets the timer to the earliest of all future times.
    private func arm(at now: Moment) {
        guard !isTurnScheduled else { return }
        var deadlines: [Timestamp?] = []
        do {
            deadlines.append(try scheduler.nextDeadline(for: callers, conditions(at: now), at: now))
        } catch {
            noteStoreFailure(error, at: now)
        }
        deadlines += [
            callers.remaining(at: now), signIns.remaining(at: now), tokenFiles.remaining(at: now),
            changeCommands.remaining(at: now), confirmations.remaining(at: now), webSessions.remaining(at: now),
        ].map { $0.map { now.wall + $0 } }
        if let trouble {
            deadlines.append(now.wall + trouble.remaining(at: now))
        } else if let timeToSleep = host.timeToSleep(at: now) {
            deadlines.append(now.wall + timeToSleep)
        }
        let deadline = deadlines.compactMap { $0 }.min()
        // While requests are under way, one early wake-up costs less than setting the timer in every turn. Their ends
        // cause further turns.
        if scheduler.requests.anyAnswerIsNear, let armed = timer?.deadline, armed > now.wall,
            deadline.map({ $0 > armed }) ?? true
        {
            return
        }
        timer?.arm(at: deadline)
    }

    // MARK: Decide, commit, act

    /// Decides on `arrivals` in order, commits all decisions at once, and acts on them.
    ///
    /// - Parameter roster: accounts to add and remove in the same commit. If it is given, everything is committed, or
    ///   nothing is.
    /// - Returns: the accounts whose arrivals failed, and why: the account cannot be read, or the decision contradicts
    ///   the store.
    /// - Throws: `StoreError` if nothing could be committed. Answers of servers are then kept in memory, and everything
    ///   else is as if it had not happened.
    @discardableResult
    func decide(
        _ arrivals: [QueuedEvent],
        with roster: RosterChange? = nil,
        at now: Moment
    ) throws(StoreError) -> [AccountID: StoreError] {
        let conditions = conditions(at: now)
        let plan = try scheduler.plan(arrivals, for: &callers, &settings, conditions, at: now)
        for record in plan.held {
            answerWaiters(of: record.account.id, with: conditions.refusal(of: snapshot(of: record, at: now)))
        }
        let outcome: Scheduler.Outcome
        do throws(StoreError) {
            try setAside(plan.damaged, at: now)
            if roster != nil, let damaged = plan.damaged.values.first { throw damaged.cause }
            outcome = try scheduler.commit(plan, with: roster, afterTrouble: trouble != nil)
        } catch {
            scheduler.keepAnswers(of: plan)
            throw error
        }
        noteStoreSuccess()
        // The timer is only for the future. A token that expired while its answer was on its way and the machine slept
        // is due now.
        if outcome.committed.contains(where: { $0.isDue(at: now) }) { wake() }
        carryOut(outcome.committed, at: now)
        dropRefused(of: outcome, at: now)
        // This comes after the commit, which may contain another registration, and after the requests that are sent
        // with these decisions.
        do throws(StoreError) {
            try storeRegistrations(at: now)
        } catch {
            noteStoreFailure(error, at: now)
        }
        return plan.damaged.mapValues(\.cause).merging(outcome.causes) { damage, _ in damage }
    }

    /// Decides immediately on a person's request.
    ///
    /// - Throws: `StoreError` if it was not committed. A server's answer is then kept, and committed as soon as
    ///   possible.
    func decideNow(_ arrival: QueuedEvent, at now: Moment) throws(StoreError) {
        let refusals: [AccountID: StoreError]
        do throws(StoreError) {
            refusals = try decide([arrival], at: now)
        } catch {
            if arrival.event.isAnswer {
                noteStoreFailure(error, with: [arrival], at: now)
                wake()
            }
            throw error
        }
        if let refusal = refusals[arrival.account] { throw refusal }
    }

    /// The order is that of urgency: send requests, then answer callers, then tell subscribers.
    private func carryOut(_ decisions: [AccountTransition], at now: Moment) {
        var announcements: [(Announcement, of: AccountTransition)] = []
        var tokens = records.refreshTokens(for: decisions)[...]
        for decision in decisions {
            for effect in decision.effects {
                switch effect {
                case .persist: break
                case .send(let lease, let target):
                    guard let token = tokens.popFirst() else { preconditionFailure("a lease has its token looked up") }
                    let record = decision.record
                    let isSent = send(
                        lease,
                        for: target,
                        of: record,
                        spending: token,
                        after: decision.failureBefore,
                        at: now
                    )
                    if isSent { announcements.append((.refreshStarted, of: decision)) }
                case .publish(let change):
                    callers.note(change, of: decision.record.account.id, at: now)
                    let account = decision.record.account.id
                    stepUps.forget(after: change, of: account, signedInBy: signIns[account]?.proof)
                    announcements.append((.changed(change), of: decision))
                }
            }
        }
        // This comes before callers are answered, because a caller that learns of a new grant may ask for a derived
        // token at once.
        for decision in decisions where decision.concernsDerived {
            wakeAccountsDerived(from: decision.record.account.id)
        }
        for decision in decisions where decision.event.isSignIn {
            tellSignIn(.stored, of: decision.record.account.id, at: now)
        }
        for decision in decisions where callers.isAwaited(decision.record.account.id) {
            records.noteStored(decision)
        }
        for decision in decisions {
            settleWaiters(of: decision.record, after: decision.event, at: now)
        }
        records.forgetStored()
        for (announcement, decision) in announcements {
            announceLater(announcement, of: decision.record, at: now, correlationID: decision.arrival.correlationID)
        }
        for decision in decisions {
            tellOfSettings(changedBy: decision, at: now)
            askForLifetime(after: decision)
        }
        updateTokenFiles(after: decisions, at: now)
        subscribers.send()
        if !decisions.isEmpty { showStatus(at: now) }
    }

    /// While requests are under way, updating the status line once a second is enough. The end of each request brings
    /// another turn.
    private func showStatus(at now: Moment) {
        if scheduler.requests.anyAnswerIsNear, let shown = statusShownAt, now.elapsed(since: shown) < .seconds(1) {
            return
        }
        statusShownAt = now
        onStatusChange()
    }

    /// Reports that issuers' accounts have begun, or stopped, needing more requests than are allowed.
    private func tell(of paceChanges: [JournalEvent]) {
        for event in paceChanges {
            changeLog.write(event)
            onStatusChange()
        }
    }
}
