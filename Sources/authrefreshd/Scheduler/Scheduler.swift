internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Decides on accounts: what is due, what has happened to them, what is committed, which requests may begin, and when
/// the next thing is due.
///
/// Only the scheduler writes the states of accounts. What has happened waits in its inbox for the next turn; what callers
/// want waits with them (`Callers`). A turn consists of `takeDue`, `plan` and `commit`; then the coordinator acts on what
/// was committed.
final class Scheduler {
    /// Facts from the other duties that decide whether anything may begin.
    struct Conditions {
        /// Whether the daemon is stopping.
        var isStopping = false
        /// Why the store cannot be written; nil if it can.
        var trouble: StoreOutage?
        /// How long nothing should be sent because the machine is about to sleep; nil if it is not.
        var timeToSleep: Duration?
        /// Whether the machine has a route.
        var isOnline = true
        /// How long until the wall clock alone is believed (`SignOutRule`).
        var timeToTrustWall = Duration.zero

        /// Whether accounts may sign out by themselves. That needs neither a network nor a server.
        var maySignOut: Bool { !isStopping && trouble == nil }
        var mayBegin: Bool { !isStopping && trouble == nil && timeToSleep == nil }

        /// Whether something can be sent for an account, now or after a sleep, so that callers wait for it.
        func allowWaiting(for account: Account) -> Bool {
            trouble == nil && !isStopping && (isOnline || account.issuer.isLoopback)
        }

        /// The answer for callers of an account for which nothing can be sent.
        func refusal(of snapshot: AccountSnapshot) -> WaitOutcome {
            if let trouble { return .storeFailed(trouble) }
            return isStopping ? .stopping : .offline(snapshot)
        }
    }

    /// The arrivals of one turn.
    struct Turn {
        var arrivals: [QueuedEvent]
        /// Whether anything was due. There may be more.
        fileprivate(set) var hasDue = false
        /// Issuers whose accounts have begun, or stopped, needing more requests than are allowed.
        fileprivate(set) var paceChanges: [JournalEvent] = []
    }

    /// Decisions before they are committed.
    struct Plan {
        fileprivate(set) var decisions: [AccountTransition] = []
        /// Accounts that cannot be read.
        fileprivate(set) var damaged: [AccountID: DamagedAccount] = [:]
        /// Accounts whose request cannot be sent now. Their callers are told.
        fileprivate(set) var held: [Record] = []
    }

    /// The result of committing a plan.
    struct Outcome {
        /// The committed decisions, beginning with those that could not be committed earlier.
        var committed: [AccountTransition]
        /// Decisions that contradict the store, and would be refused each time.
        fileprivate(set) var refused: [AccountTransition] = []
        /// The reasons, by account.
        fileprivate(set) var causes: [AccountID: StoreError] = [:]
    }

    /// How many accounts are decided in one turn. They share one commit, and callers are answered between turns.
    static let batchSize = 256

    private let store: AccountStore
    private let records: AccountRecords
    private let timebase: Timebase
    private var inbox: [QueuedEvent] = []
    private var gates = IssuerGates()
    private var pace = RequestThrottle()
    private var suspects: CrashSuspects
    /// The position in the walk over the accounts that a restored network concerns; nil if there is no walk.
    private var connectivityCursor: AccountID?
    /// The account that got tokens last at each issuer, and when.
    private var served: [IssuerID: (account: AccountID, at: Moment)] = [:]
    /// When there are more issuers, all are forgotten. Only a hint depends on them.
    private static let servedMax = 1_000
    /// The requests under way. Snapshots of accounts and the daemon's end read them.
    private(set) var requests = PendingRequests()

    init(store: AccountStore, records: AccountRecords, timebase: Timebase) {
        self.store = store
        self.records = records
        self.timebase = timebase
        suspects = CrashSuspects(store: store)
    }

    // MARK: Inbox

    /// Whether something that has happened waits for a decision.
    var hasArrivals: Bool { !inbox.isEmpty }

    /// Queues an arrival for the next turn.
    func put(_ arrival: QueuedEvent) {
        inbox.append(arrival)
    }

    /// Takes all arrivals.
    func takeArrivals() -> Turn {
        defer { inbox = [] }
        return Turn(arrivals: inbox)
    }

    /// Queues the answer in a decision that contradicts the store for another decision.
    ///
    /// 1. The state that the decision was based on was never stored, or another one was stored later. The machine
    ///    decides about the answer again, with the stored state. The answer's tokens may be the only ones that the
    ///    server still accepts.
    /// 2. If the second decision contradicts the store as well, a third one would, too.
    ///
    /// - Returns: false if the decision carries no answer, or if it is the second one.
    func putAgain(_ decision: AccountTransition) -> Bool {
        guard decision.carriesAnswer, !decision.arrival.isSecondTry else { return false }
        var arrival = decision.arrival
        arrival.isSecondTry = true
        put(arrival)
        return true
    }

    // MARK: The schedule

    /// Adds an account, with the grant in `arrival` if there is one, in one commit. The first refresh of an imported grant
    /// or of a service account is due at once.
    ///
    /// - Returns: the stored account, and the announcements about its grant.
    /// - Throws: `StoreError.nameTaken` if the name exists.
    func add(
        _ new: NewAccount,
        having arrival: QueuedEvent?,
        policy: RefreshPolicy,
        at now: Moment
    ) throws(StoreError) -> (Record, [AccountChange]) {
        let (new, changes) = prepared(new, having: arrival, policy: policy, at: now)
        return (try records.add(new), changes)
    }

    /// A new account in the state in which it is added, and the announcements about its grant.
    func prepared(
        _ new: NewAccount,
        having arrival: QueuedEvent? = nil,
        policy: RefreshPolicy,
        at now: Moment
    ) -> (new: NewAccount, changes: [AccountChange]) {
        let state = new.registration.serviceGrant == nil ? RefreshState.unused : .service(at: now)
        var machine = RefreshMachine(state: state, policy: policy)
        let effects = arrival.map { machine.handle($0.event, at: now, jitter: timebase.jitter()) } ?? []
        var new = new
        new.createdAt = now.wall
        new.state = machine.state
        new.tokens = arrival?.tokens
        if let arrival { new.grantFacts = arrival.grantFacts }
        if let learned = arrival?.learnedEncoding { new.basicCredentialEncoding = learned }
        return (new, effects.compactMap { if case .publish(let change) = $0 { change } else { nil } })
    }

    /// Returns a batch of accounts to the schedule that were set aside and can be read again.
    ///
    /// - Parameter start: the last account that was checked before.
    /// - Returns: the last account that was checked now, nil if there are no more; and whether any account returned.
    func takeBackMended(after start: AccountID) throws(StoreError) -> (last: AccountID?, hasMended: Bool) {
        let (repaired, last) = try store.schedule.takeBack(after: start, limit: Self.batchSize)
        for account in repaired where requests[account] == nil {
            // Its request was sent by an earlier daemon, which has ended.
            if case .refreshing? = try store.record(account)?.state.phase {
                put(QueuedEvent(account: account, event: .host(.requestAbandoned(crashes: 0))))
            }
        }
        return (last, !repaired.isEmpty)
    }

    // MARK: After a crash

    /// The end of the requests that an earlier daemon had under way, as arrivals to decide on.
    ///
    /// - Parameter hasCrashed: whether that daemon ended by a fault of its own.
    func abandoned(byCrash hasCrashed: Bool, at now: Moment) throws(StoreError) -> [QueuedEvent] {
        let leased = try store.schedule.leased(limit: .max)
        try suspects.begin(with: hasCrashed ? leased : [], at: now)
        return leased.map { account in
            QueuedEvent(account: account, event: .host(.requestAbandoned(crashes: hasCrashed ? suspects[account] : 0)))
        }
    }

    // MARK: What is due

    /// Adds to `turn` what can be handled now: the wishes of callers, the accounts whose deadline has passed, and those
    /// that a restored network concerns.
    ///
    /// - Throws: `StoreError` if the store cannot be read. Whatever was found before that is added.
    func takeDue(
        into turn: inout Turn,
        for callers: inout Callers,
        _ conditions: Conditions,
        at now: Moment
    ) throws(StoreError) {
        var claims = IssuerGates.Claims()
        turn.arrivals += callers.takeReady { hold, arrival in
            conditions.mayBegin && isOver(hold, of: arrival, &claims, at: now)
        }
        try takeSignOuts(into: &turn, conditions, at: now)
        guard conditions.mayBegin else { return }
        let before = turn.arrivals.count
        turn.arrivals += due(suspects.takeReady(during: requests, at: now))
        for issuer in gates.backloggedInOrder {
            if let behind = gates.look(at: issuer, at: now) { turn.paceChanges.append(.issuerBehind(behind)) }
            try takeBacklog(of: issuer, into: &turn, &claims, conditions, at: now)
        }
        let room = Self.batchSize - (turn.arrivals.count - before)
        if room > 0, gates.hasRoom(besides: claims) {
            let due = try store.schedule.due(
                at: now.wall,
                online: conditions.isOnline,
                excluding: gates.backlogged,
                limit: room + suspects.waitingCount
            )
            turn.arrivals += self.due(suspects.withoutWaiting(due))
        }
        turn.arrivals += try connectivityArrivals()
        turn.hasDue = turn.hasDue || turn.arrivals.count > before
    }

    /// Adds the sign-outs that are due. They come before everything else, so that nothing begins that they would end.
    private func takeSignOuts(into turn: inout Turn, _ conditions: Conditions, at now: Moment) throws(StoreError) {
        guard conditions.maySignOut else { return }
        let isTrusted = conditions.timeToTrustWall == .zero
        let due = try store.schedule.signOutsDue(at: now, byWall: isTrusted, limit: Self.batchSize)
        turn.arrivals.insert(contentsOf: due.map { QueuedEvent(account: $0, event: .host(.signOutReached)) }, at: 0)
        turn.hasDue = !due.isEmpty
    }

    private func due(_ accounts: [AccountID]) -> [QueuedEvent] {
        accounts.map { QueuedEvent(account: $0, event: .host(.deadlineReached)) }
    }

    /// Whether what held up a wish is over. If that was a gate, the wish takes one of its places.
    private func isOver(
        _ hold: Wish.Hold,
        of arrival: QueuedEvent,
        _ claims: inout IssuerGates.Claims,
        at now: Moment
    ) -> Bool {
        guard case .gate(let issuer) = hold else { return remaining(hold, of: arrival, at: now) == .zero }
        guard gates.openSlots(for: issuer, besides: claims, at: now) > 0 else { return false }
        gates.claim(of: issuer, in: &claims)
        return true
    }

    /// How long something holds up a wish; nil if a request has to end first, or if a gate holds it up
    /// (`IssuerGates.nextOpening`).
    private func remaining(_ hold: Wish.Hold, of arrival: QueuedEvent, at now: Moment) -> Duration? {
        switch hold {
        case .gate: nil
        case .pace: pace.rest(of: arrival, at: now)
        case .suspects: suspects.wait(during: requests, at: now)
        }
    }

    /// Adds the due accounts of an issuer for which its gate has room, after the wishes of callers.
    private func takeBacklog(
        of issuer: IssuerID,
        into turn: inout Turn,
        _ claims: inout IssuerGates.Claims,
        _ conditions: Conditions,
        at now: Moment
    ) throws(StoreError) {
        let slots = gates.openSlots(for: issuer, besides: claims, at: now)
        guard slots > 0 else { return }
        let due = suspects.withoutWaiting(
            try store.schedule.due(
                issuer: issuer,
                at: now.wall,
                online: conditions.isOnline,
                limit: slots + suspects.waitingCount
            )
        )
        turn.arrivals += self.due(due)
        gates.claim(due.count, of: issuer, in: &claims)
        if due.count < slots, let issuer = gates.markServed(issuer) {
            turn.paceChanges.append(.issuerCaughtUp(issuer))
        }
    }

    /// The next accounts in the walk over those that back off because of the network.
    private func connectivityArrivals() throws(StoreError) -> [QueuedEvent] {
        guard let cursor = connectivityCursor else { return [] }
        let accounts = try store.schedule.awaitingConnectivity(after: cursor, limit: Self.batchSize)
        connectivityCursor = accounts.count < Self.batchSize ? nil : accounts.last
        return accounts.map { QueuedEvent(account: $0, event: .host(.connectivityRestored)) }
    }

    /// Retries, in the next turns, the accounts that may have failed because of the network or a wrong clock.
    func retryUnreached() {
        connectivityCursor = AccountID(0)
    }

    /// The next future time at which something can begin; nil if there is none, or if nothing may begin. Whatever is
    /// overdue waits for something else: its issuer's gate, a network, the store.
    func nextDeadline(
        for callers: Callers,
        _ conditions: Conditions,
        at now: Moment
    ) throws(StoreError) -> Timestamp? {
        let timeToSignOut =
            conditions.maySignOut
            ? try store.schedule.timeToSignOut(at: now, trustingWallIn: conditions.timeToTrustWall) : nil
        let signOut = timeToSignOut.map { now.wall + $0 }
        guard conditions.mayBegin else { return signOut }
        let stored = try store.schedule.nextDeadline(after: now.wall, online: conditions.isOnline)
        let held = callers.shortestHold { remaining($0, of: $1, at: now) }
        let suspect = suspects.waitingCount > 0 ? suspects.wait(during: requests, at: now) : nil
        return [signOut, stored, gates.nextOpening(at: now), held.map { now.wall + $0 }, suspect.map { now.wall + $0 }]
            .compactMap(\.self).min()
    }

    /// Issuers whose accounts need more requests than are allowed, and since when.
    var behind: [(issuer: Issuer, since: Moment)] { gates.behind }

    func forgetIdleGates(at now: Moment) {
        gates.forgetIdle(at: now)
    }

    // MARK: Decisions

    /// Decides on `arrivals` in order.
    ///
    /// - Parameter callers: the waiting callers. An arrival for which nobody waits any more is dropped. A wish that cannot
    ///   begin yet waits with its callers.
    /// - Throws: `StoreError` if the store cannot be read.
    func plan(
        _ arrivals: [QueuedEvent],
        for callers: inout Callers,
        _ settings: inout RefreshConfiguration,
        _ conditions: Conditions,
        at now: Moment
    ) throws(StoreError) -> Plan {
        var plan = Plan()
        var decided: [AccountID: Record] = [:]
        var starting = Starting()
        var rest = arrivals[...]
        while let arrival = rest.popFirst() {
            let known = decided[arrival.account].map(AccountEntry.intact)
            // The account was removed in the meantime, so there is nothing to decide.
            guard let entry = if let known { known } else { try records.entry(of: arrival.account) } else { continue }
            guard case .intact(let record) = entry else {
                if case .damaged(let account) = entry { plan.damaged[arrival.account] = account }
                continue
            }
            guard isStillWanted(arrival, of: record, by: callers, at: now) else { continue }
            let event = event(of: arrival, for: record)
            let jitter = timebase.jitter()
            let decision = AccountTransition(on: arrival, as: event, of: record, &settings, at: now, jitter: jitter)
            if decision.sends, decision.event.waitsForGate {
                guard conditions.allowWaiting(for: record.account) else {
                    plan.held.append(record)
                    continue
                }
                let limits = settings.limits(for: record.account)
                let isAwake = conditions.timeToSleep == nil
                if let hold = hold(of: arrival, of: record, &starting, limits, isAwake: isAwake, at: now) {
                    postpone(arrival, of: record, by: hold, &callers, at: now)
                    continue
                }
            }
            decided[arrival.account] = decision.record
            plan.decisions.append(decision)
            if decision.erasesTokens { rest = try ends(ofAccountsDerivedFrom: decision.record.account) + rest }
        }
        return plan
    }

    /// What a sign-out means for the accounts whose tokens are derived from the account's. It is committed together with
    /// the sign-out.
    private func ends(ofAccountsDerivedFrom account: Account) throws(StoreError) -> [QueuedEvent] {
        let failure = RefreshFailure(.userRequired, derivedFrom: account.name, which: "is signed out")
        return try store.derived(from: account.id, limit: CallerLimits.derivedAccountsMax * 2).map {
            QueuedEvent(account: $0, event: .source(.signedOut(failure)))
        }
    }

    /// The requests that a plan begins.
    private struct Starting {
        var claims = IssuerGates.Claims()
        /// Whether one of them is of an account during whose requests a daemon has crashed.
        var hasSuspect = false
    }

    /// Why the request for an arrival cannot begin in this turn; nil if it begins.
    private func hold(
        of arrival: QueuedEvent,
        of record: Record,
        _ starting: inout Starting,
        _ limits: IssuerGate.Limits,
        isAwake: Bool,
        at now: Moment
    ) -> Wish.Hold? {
        if isAwake, pace.rest(of: arrival, at: now) > .zero { return .pace }
        let isSuspect = suspects[record.account.id] > 0
        if isSuspect, starting.hasSuspect || suspects.wait(during: requests, at: now) != .zero { return .suspects }
        let issuer = record.issuerID
        let slots = gates.openSlots(
            for: issuer,
            limits: limits,
            expecting: record.state.expectation,
            besides: starting.claims,
            at: now
        )
        guard isAwake, slots > 0 else { return .gate(issuer) }
        gates.claim(of: issuer, in: &starting.claims)
        starting.hasSuspect = starting.hasSuspect || isSuspect
        return nil
    }

    /// Lets an arrival wait. A due account stays due in the store, and is found there again; a wish waits with its callers.
    private func postpone(
        _ arrival: QueuedEvent,
        of record: Record,
        by hold: Wish.Hold,
        _ callers: inout Callers,
        at now: Moment
    ) {
        if case .gate(let issuer) = hold { gates.markBacklogged(issuer, record.account.issuer, at: now) }
        guard arrival.event == .host(.deadlineReached) else {
            return callers.hold(arrival.event, of: arrival.account, by: hold)
        }
        if hold == .suspects { suspects.postpone(arrival.account) }
    }

    /// The event of an arrival for an account. A deadline during a request does not end the request.
    private func event(of arrival: QueuedEvent, for record: Record) -> Event {
        guard arrival.event == .host(.deadlineReached), record.state.phase.isPhase(of: requests[arrival.account]) else {
            return arrival.event
        }
        return .host(.requestContinues)
    }

    /// Whether somebody still waits for what `arrival` requests.
    ///
    /// Callers ask one by one, and one request serves them all. Its answer may have come since they asked, because it
    /// was earlier in the queue, or because they waited at the issuer's gate.
    private func isStillWanted(_ arrival: QueuedEvent, of record: Record, by callers: Callers, at now: Moment) -> Bool {
        // Whoever wanted to move the account has left, so it stays in use here.
        if arrival.event == .owner(.parked) { return callers.wantParking(of: arrival.account) }
        // Their wait is over in any case.
        guard arrival.event.isForWaiters, !record.state.isSignOutDue(at: now) else { return true }
        let target = arrival.event.target
        let accessToken = records.accessTokenTimes(of: record, for: target)
        // A target's token in use is replaced before it expires, without a waiting caller.
        if target != nil, accessToken?.isDue(at: now) == true { return true }
        return callers.want(target, of: arrival.account, holding: accessToken, at: now)
    }

    /// Commits a plan, together with what could not be committed earlier. After a failure of the store, if there is
    /// nothing to write, a test write checks the store.
    ///
    /// Decisions that the store refuses permanently are left out. Otherwise they would be refused again and again,
    /// together with those of all other accounts.
    ///
    /// - Parameter roster: the accounts to add and remove; if it is given, the plan is committed as a whole or not at all.
    /// - Throws: `StoreError` if nothing could be committed.
    func commit(
        _ plan: Plan,
        with roster: RosterChange? = nil,
        afterTrouble: Bool
    ) throws(StoreError) -> Outcome {
        var outcome = Outcome(committed: records.areStored ? plan.decisions : records.unstored + plan.decisions)
        while true {
            do throws(StoreError) {
                // An empty commit would prove nothing.
                if afterTrouble && outcome.committed.allSatisfy({ $0.write == nil }) { try store.probe() }
                try records.commit(outcome.committed, with: roster ?? RosterChange(), at: timebase.now())
                records.forgetKept()
                return outcome
            } catch {
                guard roster == nil, let account = error.contradictedAccount ?? error.damagedAccount,
                    outcome.causes[account] == nil
                else { throw error }
                outcome.causes[account] = error
                outcome.refused += outcome.committed.filter { $0.record.account.id == account }
                outcome.committed.removeAll { $0.record.account.id == account }
            }
        }
    }

    /// Keeps the servers' answers of a plan that could not be committed. They may contain the only refresh tokens that
    /// are still accepted.
    func keepAnswers(of plan: Plan) {
        for decision in plan.decisions where decision.carriesAnswer { records.keep(decision) }
    }

    // MARK: Requests

    /// Begins a request, which takes its place at the issuer's gate.
    ///
    /// - Parameter target: what is asked for; nil for the account's default access token.
    func enter(_ record: Record, _ target: TokenTarget?, limits: IssuerGate.Limits, at now: Moment) -> IssuerGate.Place
    {
        pace.note(record.account.id, target, at: now)
        return gates.enter(record.issuerID, limits: limits, at: now)
    }

    /// Records a request that is under way, or that waits for another account's token.
    func begin(_ request: PendingRequest, of account: AccountID) {
        requests.begin(request, of: account)
    }

    /// Records that a request has exceeded its time limit, and frees its place at the gate.
    ///
    /// - Returns: whether its answer is still awaited.
    func passLimit(_ correlationID: String, at place: IssuerGate.Place, of issuer: IssuerID, _ lease: Lease) -> Bool {
        guard requests.passLimit(correlationID) else { return false }
        gates.passLimit(place, of: issuer, askedAt: lease.startedAt)
        return true
    }

    /// Records that a request has ended, frees its place at the gate, and notes what the answer says about the rate of
    /// requests.
    ///
    /// - Returns: the request; nil if the account has another grant now.
    func end(
        _ lease: Lease,
        of record: Record,
        _ outcome: RefreshOutcome,
        at place: IssuerGate.Place,
        _ correlationID: String,
        now: Moment
    ) -> PendingRequest? {
        let (issuer, account) = (record.issuerID, record.account.id)
        if case .success = outcome.result {
            if served.count >= Self.servedMax { served = [:] }
            served[issuer] = (account, now)
        }
        gates.end(place, of: issuer, hasAnswer: outcome.hasAnswer, askedAt: lease.startedAt, at: now)
        suspects.clear(account)
        if let word = outcome.rateSignal {
            gates.note(word, of: issuer, to: account, askedAt: lease.startedAt, at: now)
        }
        return requests.end(lease, of: account, correlationID: correlationID)
    }

    /// Whether the issuer has served another account since `account` got its last tokens, and within the last hour.
    func isServingOthers(than account: AccountID, of issuer: IssuerID, since last: Moment?, at now: Moment) -> Bool {
        guard let other = served[issuer], other.account != account else { return false }
        let age = now.elapsed(since: other.at)
        return age < .seconds(3600) && last.map { age < now.elapsed(since: $0) } ?? true
    }

    /// Ends the wait for another account's token.
    ///
    /// - Returns: whether `account` was waiting with this lease.
    func endWaiting(_ lease: Lease, of account: AccountID) -> Bool {
        requests.endWaiting(lease, of: account)
    }

    /// Ends all waits for other accounts' tokens and returns the leases, because the daemon's end does not wait for
    /// them.
    func returnWaitingLeases() {
        for (account, lease) in requests.endAllWaiting() {
            put(QueuedEvent(account: account, event: .answer(.leaseReturned(lease.generation))))
        }
    }
}

extension Phase {
    /// Whether this is the phase of `request`, which is under way. A request of an earlier grant does not count.
    fileprivate func isPhase(of request: PendingRequest?) -> Bool {
        guard let request, case .refreshing(let lease) = self else { return false }
        return request.lease == lease
    }
}

extension RefreshOutcome {
    /// Whether anything came back.
    fileprivate var hasAnswer: Bool {
        guard case .failure(let failure) = result else { return true }
        return ![.unreachable, .unanswered].contains(failure.failureClass)
    }

    /// What the server's answer says about the rate of requests; nil if there was no answer.
    fileprivate var rateSignal: IssuerGate.RateSignal? {
        switch result {
        case .success: return .served
        case .failure(let failure):
            if failure.isThrottled { return .throttled(retryAfter: failure.retryAfter) }
            // An answer of a server with problems says nothing about its limits.
            guard failure.failureClass.isAnswer, failure.failureClass != .refusedByGateway else { return nil }
            return failure.detail.httpStatus.map { _ in .served }
        }
    }
}
