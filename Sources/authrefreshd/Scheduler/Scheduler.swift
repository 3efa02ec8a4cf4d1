internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Decides on the accounts: what is due, what has happened to them, what is committed, which requests may begin, and when there is
/// something to do next.
///
/// It alone writes the states of accounts. An arrival waits in its inbox for the next turn. A turn is: `takeDue`, `plan`, `commit`; what
/// was committed is then acted on.
final class Scheduler {
    /// What the other duties know that says whether anything may be begun.
    struct Conditions {
        /// Whether the daemon ends.
        var isStopping = false
        /// What keeps the store from being written; nil if nothing does.
        var trouble: StoreTrouble?
        /// How long nothing is to be sent, for the machine is about to sleep; nil if it is not.
        var timeToSleep: Duration?
        /// Whether the machine has a route.
        var isOnline = true

        var mayBegin: Bool { !isStopping && trouble == nil && timeToSleep == nil }

        /// Why nothing can be sent for an account, so that nobody need wait for it; nil if it can, now or when the machine wakes.
        func obstacle(to account: Account) -> Obstacle? {
            if let trouble { return .trouble(trouble) }
            if isStopping { return .stopping }
            return isOnline || account.issuer.isLoopback ? nil : .offline
        }
    }

    enum Obstacle {
        case trouble(StoreTrouble)
        case stopping
        case offline
    }

    /// What one turn takes up.
    struct Turn {
        var arrivals: [Arrival]
        /// Whether anything was due: there may be more.
        fileprivate(set) var hasDue = false
        /// Issuers whose accounts have begun, or ceased, to ask for more than they may be asked.
        fileprivate(set) var paceChanges: [(issuer: Issuer, event: JournalEvent)] = []
    }

    /// What was decided, before it is committed.
    struct Plan {
        fileprivate(set) var decisions: [Decision] = []
        /// Accounts that cannot be read.
        fileprivate(set) var damaged: [AccountID: DamagedAccount] = [:]
        /// Accounts for which something was to be sent that cannot be sent now: those who wait for it are told.
        fileprivate(set) var held: [(record: Record, obstacle: Obstacle)] = []
    }

    /// What became of a plan.
    struct Outcome {
        /// With what could not be committed earlier, which goes first.
        var committed: [Decision]
        /// What contradicts the store, so that it would be refused however often it is tried.
        fileprivate(set) var refused: [Decision] = []
        /// Why, by account.
        fileprivate(set) var causes: [AccountID: StoreError] = [:]
    }

    /// How many accounts are decided on in one turn: one commit for all of them, and callers are answered between turns.
    static let batchSize = 256

    private let store: AccountStore
    private let records: AccountRecords
    private let timebase: Timebase
    private var inbox: [Arrival] = []
    private var gates = IssuerGates()
    private var pace = AskingPace()
    /// Where the walk over the accounts that a restored network concerns has come to; nil if there is none.
    private var connectivityCursor: AccountID?
    /// Read by whoever shows an account, and by the end of the daemon.
    private(set) var requests = PendingRequests()

    init(store: AccountStore, records: AccountRecords, timebase: Timebase) {
        self.store = store
        self.records = records
        self.timebase = timebase
    }

    // MARK: Inbox

    /// Whether something waits to be decided on.
    var hasArrivals: Bool { !inbox.isEmpty }

    /// Has an arrival decided on in the next turn, together with all that has come until then.
    func put(_ arrival: Arrival) {
        inbox.append(arrival)
    }

    /// Takes all that has arrived.
    func takeArrivals() -> Turn {
        defer { inbox = [] }
        return Turn(arrivals: inbox)
    }

    /// Has the answer in a decision that contradicts the store decided on once more.
    ///
    /// 1. The state that was decided on was never stored, or another one has been stored since. The machine decides on the stored state
    /// what
    ///    becomes of the answer, because its tokens may be the only ones that the server still accepts.
    /// 2. If the second decision contradicts the store, too, a third one would.
    ///
    /// - Returns: false if the decision carries no answer, or is the second one.
    func putAgain(_ decision: Decision) -> Bool {
        guard decision.carriesAnswer, !decision.arrival.isSecondTry else { return false }
        var arrival = decision.arrival
        arrival.isSecondTry = true
        put(arrival)
        return true
    }

    // MARK: The schedule

    /// Adds an account. With a grant, or as a service account, its first refresh is due at once.
    ///
    /// - Returns: the account as it is stored, and what is to be told about its grant.
    /// - Throws: `StoreError.nameTaken` if there is one of this name.
    func add(
        _ new: NewAccount,
        grant: RefreshToken?,
        policy: RefreshPolicy,
        at now: Moment
    ) throws(StoreError) -> (Record, [AccountChange]) {
        let event = grant.map { _ in Event.grantImported(refreshTokenLifetime: nil) }
        let tokens = grant.map { StoredTokens(refreshToken: $0) }
        return try add(new, after: event, with: tokens, policy: policy, at: now)
    }

    /// Adds an account with what a sign-in has brought for it, in one commit.
    func add(
        _ new: NewAccount,
        having arrival: Arrival,
        policy: RefreshPolicy,
        at now: Moment
    ) throws(StoreError) -> (Record, [AccountChange]) {
        var new = new
        new.grantFacts = arrival.grantFacts
        if let learned = arrival.learnedEncoding { new.basicCredentialEncoding = learned }
        return try add(new, after: arrival.event, with: arrival.tokens, policy: policy, at: now)
    }

    private func add(
        _ new: NewAccount,
        after event: Event?,
        with tokens: StoredTokens?,
        policy: RefreshPolicy,
        at now: Moment
    ) throws(StoreError) -> (Record, [AccountChange]) {
        let state = new.registration.serviceGrant == nil ? RefreshState() : .service(at: now)
        var machine = RefreshMachine(state: state, policy: policy)
        let effects = event.map { machine.handle($0, at: now, jitter: timebase.jitter()) } ?? []
        var new = new
        new.createdAt = now.wall
        new.state = machine.state
        new.tokens = tokens
        let changes = effects.compactMap { if case .publish(let change) = $0 { change } else { nil } }
        return (try store.add(new), changes)
    }

    /// Takes a batch of the accounts that were set aside, and can be read again, back into the schedule.
    ///
    /// - Parameter start: the last account that was looked at.
    /// - Returns: the last one that was looked at now, nil if there are no more; and whether any was taken back.
    func takeBackMended(after start: AccountID) throws(StoreError) -> (last: AccountID?, hasMended: Bool) {
        let (mended, last) = try store.schedule.takeBack(after: start, limit: Self.batchSize)
        for account in mended where requests[account] == nil {
            // Its request was another daemon's, which is dead.
            if case .refreshing? = try store.record(account)?.state.phase {
                put(Arrival(account: account, event: .requestAbandoned))
            }
        }
        return (last, !mended.isEmpty)
    }

    // MARK: What is due

    /// Adds the accounts to `turn` that can be taken up now: those that waited at a gate, those whose deadline has come, and those that
    /// a network coming up concerns.
    ///
    /// - Throws: `StoreError` if the store cannot be read; those that have been found until then are added.
    func takeDue(into turn: inout Turn, _ conditions: Conditions, at now: Moment) throws(StoreError) {
        guard conditions.mayBegin else { return }
        let before = turn.arrivals.count
        turn.arrivals += pace.takeReady(at: now)
        for issuer in gates.backlogged {
            if let behind = gates.look(at: issuer, at: now) { turn.paceChanges.append((behind, .issuerBehind)) }
            try takeBacklog(of: issuer, into: &turn, conditions, at: now)
        }
        let room = Self.batchSize - (turn.arrivals.count - before)
        if room > 0 {
            let due = try store.schedule.due(
                at: now.wall,
                online: conditions.isOnline,
                excluding: gates.backlogged,
                limit: room
            )
            turn.arrivals += due.map { Arrival(account: $0, event: .deadlineReached) }
        }
        turn.arrivals += try connectivityArrivals()
        turn.hasDue = turn.arrivals.count > before
    }

    private func takeBacklog(
        of issuer: IssuerID,
        into turn: inout Turn,
        _ conditions: Conditions,
        at now: Moment
    ) throws(StoreError) {
        let slots = gates.openSlots(for: issuer, at: now)
        guard slots > 0 else { return }
        let waiting = gates.takeWaiting(at: issuer, upTo: slots)
        turn.arrivals += waiting.map { Arrival(account: $0.account, event: $0.event) }
        let due = try store.schedule.due(
            issuer: issuer,
            at: now.wall,
            online: conditions.isOnline,
            limit: slots - waiting.count
        )
        turn.arrivals += due.map { Arrival(account: $0, event: .deadlineReached) }
        if waiting.count + due.count < slots, let issuer = gates.markServed(issuer) {
            turn.paceChanges.append((issuer, .issuerCaughtUp))
        }
    }

    /// The next accounts in the walk over those that back off for want of a network.
    private func connectivityArrivals() throws(StoreError) -> [Arrival] {
        guard let cursor = connectivityCursor else { return [] }
        let accounts = try store.schedule.awaitingConnectivity(after: cursor, limit: Self.batchSize)
        connectivityCursor = accounts.count < Self.batchSize ? nil : accounts.last
        return accounts.map { Arrival(account: $0, event: .connectivityRestored) }
    }

    /// Has the accounts tried again, in the next turns, that may have failed for want of a network, or of the right time.
    func retryUnreached() {
        connectivityCursor = AccountID(0)
    }

    /// When there is something to begin that is ahead; nil if nothing is, or nothing may be begun. What is past and has not been taken up
    /// waits for something else: its issuer's gate, a network, the store.
    func nextDeadline(_ conditions: Conditions, at now: Moment) throws(StoreError) -> Timestamp? {
        guard conditions.mayBegin else { return nil }
        let stored = try store.schedule.nextDeadline(after: now.wall, online: conditions.isOnline)
        let postponed = pace.wait(at: now).map { now.wall + $0 }
        return [stored, gates.nextOpening(at: now), postponed].compactMap { $0 }.min()
    }

    /// Issuers whose accounts ask for more than they may be asked, and since when.
    var behind: [(issuer: Issuer, since: Moment)] { gates.behind }

    func forgetIdleGates(at now: Moment) {
        gates.forgetIdle(at: now)
    }

    // MARK: Decisions

    /// Decides on `arrivals` in their order.
    ///
    /// - Parameter callers: who waits for what; an arrival that nobody waits for any more comes to nothing.
    /// - Throws: `StoreError` if the store cannot be read.
    func plan(
        _ arrivals: [Arrival],
        for callers: Callers,
        _ settings: inout RefreshConfiguration,
        _ conditions: Conditions,
        at now: Moment
    ) throws(StoreError) -> Plan {
        var plan = Plan()
        var decided: [AccountID: Record] = [:]
        var starting: [IssuerID: Int] = [:]
        for arrival in arrivals {
            let known = decided[arrival.account].map(AccountEntry.intact)
            // An account that was removed meanwhile has nothing to be decided.
            guard let entry = if let known { known } else { try records.entry(of: arrival.account) } else { continue }
            guard case .intact(let record) = entry else {
                if case .damaged(let account) = entry { plan.damaged[arrival.account] = account }
                continue
            }
            guard isStillWanted(arrival, of: record, by: callers, at: now) else { continue }
            let event = event(of: arrival, for: record)
            let jitter = timebase.jitter()
            let decision = Decision(on: arrival, as: event, of: record, &settings, at: now, jitter: jitter)
            if decision.sends, decision.event.waitsForGate {
                if let obstacle = conditions.obstacle(to: record.account) {
                    plan.held.append((record, obstacle))
                    continue
                }
                let isAwake = conditions.timeToSleep == nil
                if isAwake, pace.postpone(arrival, at: now) { continue }
                let issuer = record.issuerID
                let slots = gates.openSlots(for: issuer, limits: settings.limits(for: record.account), at: now)
                guard isAwake, slots > starting[issuer, default: 0] else {
                    queue(arrival, of: record)
                    continue
                }
                starting[issuer, default: 0] += 1
            }
            decided[arrival.account] = decision.record
            plan.decisions.append(decision)
        }
        return plan
    }

    /// What an arrival means for an account. A deadline that comes while the account's request is under way is no end of it.
    private func event(of arrival: Arrival, for record: Record) -> Event {
        let continues = arrival.event == .deadlineReached && record.state.phase.isPhase(of: requests[arrival.account])
        return continues ? .requestContinues : arrival.event
    }

    /// Whether somebody still waits for what `arrival` asks for.
    ///
    /// Callers ask one by one, and one request serves them all: its answer may have come since they asked (it stands before them in
    /// the queue, or they waited at the issuer's gate).
    private func isStillWanted(_ arrival: Arrival, of record: Record, by callers: Callers, at now: Moment) -> Bool {
        guard arrival.event.isForWaiters else { return true }
        let target = arrival.event.target
        let accessToken = records.accessTokenTimes(of: record, for: target)
        // A target's token that is used is replaced before it ends: nobody waits for that.
        if target != nil, accessToken?.isDue(at: now) == true { return true }
        return callers.want(target, of: arrival.account, holding: accessToken, at: now)
    }

    /// Puts off an arrival until its issuer's gate is open.
    private func queue(_ arrival: Arrival, of record: Record) {
        let (issuer, now) = (record.account.issuer, timebase.now())
        if arrival.event == .deadlineReached {
            // It stays due in the store, and is found there again.
            gates.markBacklogged(record.issuerID, issuer, at: now)
        } else {
            gates.queue(arrival.account, arrival.event, at: record.issuerID, issuer, at: now)
        }
    }

    /// Commits a plan, with what could not be committed earlier. With nothing to write a store that failed is tried with a write of its
    /// own.
    ///
    /// Decisions of accounts for which the store says that they can never be right are left out: they would be refused again and again,
    /// and every other account's with them.
    ///
    /// - Throws: `StoreError` if nothing could be committed.
    func commit(_ plan: Plan, afterTrouble: Bool) throws(StoreError) -> Outcome {
        var outcome = Outcome(committed: records.areStored ? plan.decisions : records.unstored + plan.decisions)
        while true {
            let writes = outcome.committed.compactMap(\.write)
            do throws(StoreError) {
                // A commit of nothing proves nothing.
                if afterTrouble && writes.isEmpty { try store.probe() }
                try store.commit(writes)
                records.forgetKept()
                return outcome
            } catch {
                guard let account = error.contradictedAccount ?? error.damagedAccount, outcome.causes[account] == nil
                else { throw error }
                outcome.causes[account] = error
                outcome.refused += outcome.committed.filter { $0.record.account.id == account }
                outcome.committed.removeAll { $0.record.account.id == account }
            }
        }
    }

    /// Keeps the answers of servers in a plan that could not be committed: they may carry the only refresh tokens that are still taken.
    func keepAnswers(of plan: Plan) {
        for decision in plan.decisions where decision.carriesAnswer { records.keep(decision) }
    }

    // MARK: Requests

    /// The requests of an account that wait for the rest of their second.
    func postponed(of account: AccountID) -> Set<Event> {
        pace.postponed(of: account)
    }

    /// A request begins: it takes its place at the issuer's gate.
    ///
    /// - Parameter target: what is asked for; nil for the account's default access token.
    func enter(_ record: Record, _ target: TokenTarget?, limits: IssuerGate.Limits, at now: Moment) -> IssuerGate.Place
    {
        pace.note(record.account.id, target, at: now)
        return gates.enter(record.issuerID, limits: limits, at: now)
    }

    /// Notes a request that is under way, or waits for another account's token.
    func begin(_ request: PendingRequest, of account: AccountID) {
        requests.begin(request, of: account)
    }

    /// A request has passed its time limit: its place at the gate is free.
    ///
    /// - Returns: whether its answer is still waited for.
    func passLimit(_ correlationID: String, at place: IssuerGate.Place, of issuer: IssuerID) -> Bool {
        guard requests.passLimit(correlationID) else { return false }
        gates.leave(issuer, place)
        return true
    }

    /// A request has ended: its place at the gate is free, and what the answer says of the rate of requests is noted.
    ///
    /// - Returns: the request; nil if the account has another grant meanwhile.
    func end(
        _ lease: Lease,
        of record: Record,
        _ outcome: RefreshOutcome,
        at place: IssuerGate.Place,
        _ correlationID: String,
        now: Moment
    ) -> PendingRequest? {
        let (issuer, account) = (record.issuerID, record.account.id)
        gates.leave(issuer, place)
        if let word = outcome.wordOnRate {
            gates.note(word, of: issuer, to: account, askedAt: lease.startedAt, at: now)
        }
        return requests.end(lease, of: account, correlationID: correlationID)
    }

    /// Ends the waiting for another account's token.
    ///
    /// - Returns: whether `account` waited with this lease.
    func endWaiting(_ lease: Lease, of account: AccountID) -> Bool {
        requests.endWaiting(lease, of: account)
    }

    /// Ends all waiting for other accounts' tokens, which the end of the daemon does not wait for: the leases come back.
    func returnWaitingLeases() {
        for (account, lease) in requests.endAllWaiting() {
            put(Arrival(account: account, event: .leaseReturned(lease.generation)))
        }
    }
}

extension Phase {
    /// Whether this is the phase of `request`, which is under way; a request of an earlier grant is none of its business.
    fileprivate func isPhase(of request: PendingRequest?) -> Bool {
        guard let request, case .refreshing(let lease) = self else { return false }
        return request.lease == lease
    }
}

extension RefreshOutcome {
    /// What the server's answer says about the rate of requests; nil if there was none.
    fileprivate var wordOnRate: IssuerGate.Word? {
        switch result {
        case .success: return .served
        case .failure(let failure):
            if failure.isThrottled { return .throttled(retryAfter: failure.retryAfter) }
            switch failure.failureClass {
            // What a server in trouble answers tells nothing of its limits.
            case .unreachable, .unanswered, .unavailable, .untrusted, .refusedByGateway: return nil
            case .misconfigured, .rejected, .grantEnded, .userRequired:
                return failure.detail.httpStatus.map { _ in .served }
            }
        }
    }
}
