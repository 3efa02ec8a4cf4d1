import TestSupport

@testable import RefreshCore

/// The shell around the machine. Like the daemon, it lets the machine decide, commits, and acts.
extension World {
    /// The data of an event that the store needs.
    struct Delivery {
        var refreshToken: ModelToken?
        var accessEndsAt: Int64?
        var policy: RefreshPolicy?
    }

    /// Gives the machine an event and executes its effects. Returns false if the commit failed, so that the event did
    /// not happen.
    @discardableResult
    mutating func handle(_ event: Event, _ delivery: Delivery = Delivery()) throws(Violation) -> Bool {
        guard let machine else { return false }
        var next = RefreshMachine(state: machine.state, policy: delivery.policy ?? machine.policy)
        let effects = next.handle(event, at: clock.now, jitter: random.fraction())
        trace.note(.event(event), at: clock.trueTime)
        try checkDecision(event, from: machine.state, to: next.state, effects)
        if isDiskFull, effects.contains(where: { if case .persist = $0 { true } else { false } }) {
            trace.note(.commitFailed, at: clock.trueTime)
            promises.trouble(at: clock.trueTime)
            return false
        }
        if effects.isEmpty { self.machine = next }
        for effect in effects {
            if dies() { return true }
            try perform(effect, next, delivery)
            if dies() { return true }
        }
        try checkAfterwards(event)
        return true
    }

    private mutating func perform(
        _ effect: Effect,
        _ next: RefreshMachine,
        _ delivery: Delivery
    ) throws(Violation) {
        trace.note(.effect(effect), at: clock.trueTime)
        switch effect {
        case .persist(let change):
            store.commit(
                next.state,
                next.policy,
                change,
                refreshToken: delivery.refreshToken,
                accessEndsAt: delivery.accessEndsAt,
                at: clock.now
            )
            machine = next
            if change == .erase, cause != .owner(.signedOut) { try checkErased() }
        case .send(let lease, let target):
            try send(lease, for: target)
        case .publish(let change):
            try checkPublished(change, next.state)
        }
    }

    /// Crashes now, if chance decides so.
    private mutating func dies() -> Bool {
        guard climate.crashRate > 0, random.chance(climate.crashRate) else { return false }
        crash()
        return true
    }

    private mutating func send(_ lease: Lease, for target: TokenTarget?) throws(Violation) {
        guard let token = store.refreshTokens[lease.generation] else {
            throw Violation(text: "generation \(lease.generation) is to be spent, but its token is lost")
        }
        try checkSending(lease, token, for: target)
        exchanges += 1
        let fate = drawFate()
        trace.note(.exchange(fate), at: clock.trueTime)
        let sentAt = clock.trueTime
        var exchange = Exchange(
            number: exchanges,
            lease: lease,
            target: target,
            epoch: promises.epoch,
            fate: fate,
            sentAt: sentAt,
            endsAt: sentAt
        )
        let patience = climate.policy.rotationGrace.map { min($0.microseconds / 2, Exchange.limit) } ?? Exchange.limit
        let limit = store.state.isRotating == false ? Exchange.steadyLimit : max(patience, Exchange.steadyLimit)
        var work = random.microseconds(0.01, 0.4)
        switch fate {
        case .well, .wrong(.answerLost): break
        case .wrong(.slow): work = random.microseconds(1, Double(limit) / 1e6 - 1)
        case .wrong(.late): work = random.microseconds(1, 2 * Double(limit) / 1e6)
        case .wrong(.tooManyRequests): exchange.retryAfter = .seconds(random.pick([0, 1, 30, 600, 3600, 7200]))
        case .wrong: break
        }
        let isProcessed = [.well, .wrong(.slow), .wrong(.late), .wrong(.answerLost)].contains(fate)
        if isProcessed {
            requests.append(Request(exchange: exchanges, token: token, target: target, arrivesAt: sentAt + work))
        }
        var takes = work + random.microseconds(0.01, 0.4)
        if fate == .wrong(.late) || fate == .wrong(.answerLost) && random.chance(0.5) { takes = limit }
        exchange.endsAt = sentAt + min(takes, limit)
        underWay.append(exchange)
        if random.chance(0.02) { strike([.suspended, .paused, .crashed, .rebooted, .wallClockStepped]) }
        if fate == .wrong(.tooManyRequests), random.chance(0.2) { strike([.personAsks, .callerComes]) }
    }

    /// Makes an incident happen during a request or during the wait after one, which chance would hardly ever do.
    private mutating func strike(_ incidents: [Incident]) {
        let incident = random.pick(incidents)
        guard let index = nextIncidents.firstIndex(where: { $0.incident == incident }) else { return }
        nextIncidents[index].at = clock.trueTime + random.microseconds(0, random.pick([1, 30]))
    }

    private mutating func drawFate() -> Fate {
        if isOffline { return .wrong(.unreachable) }
        let isSpared = climate.spareAfterLoss && promises.isAmbiguous
        if isServerDown, !isSpared {
            return .wrong(
                random.pick(climate.spareAfterLoss ? [.unavailable] : Fault.outage)
            )
        }
        guard !isSpared, random.chance(climate.faultRate) else { return .well }
        return .wrong(random.pick(climate.faults))
    }

    mutating func end(_ ended: Exchange) throws(Violation) {
        if ended.fate != .well { promises.trouble(at: clock.trueTime) }
        let isAnswered = ended.fate == .well || ended.fate == .wrong(.slow)
        if isAnswered, let answer = ended.answer {
            switch answer {
            case .tokens(let tokens):
                try deliver(tokens, of: ended)
            case .refused(let failureClass):
                if ended.target == nil { promises.refusals += 1 }
                try handle(ended.failed(RefreshFailure(model: failureClass)))
            }
            return
        }
        let failure = failure(of: ended)
        if ended.epoch == promises.epoch { promises.fail(failure, at: clock.trueTime) }
        // The machine was told that the lease has ended, so nothing that comes later is an answer.
        let isAwaited = machine?.state.phase == .refreshing(ended.lease)
        if try handle(ended.failed(failure)) {
            if isAwaited, ended.epoch == promises.epoch, machine != nil {
                promises.wait(for: failure.retryAfter, clock)
            }
        } else {
            // A failure that cannot be committed is dropped. The lease on disk says enough.
            promises.isAmbiguous = true
        }
    }

    private func failure(of ended: Exchange) -> RefreshFailure {
        switch ended.fate {
        case .wrong(.unreachable): RefreshFailure(model: .unreachable)
        case .wrong(.unavailable), .wrong(.junk): RefreshFailure(model: .unavailable)
        case .wrong(.tooManyRequests): RefreshFailure(model: .unavailable, retryAfter: ended.retryAfter)
        case .wrong(.rejected): RefreshFailure(model: .rejected)
        case .wrong(.misconfigured): RefreshFailure(model: .misconfigured)
        case .well, .wrong(.cutBefore), .wrong(.answerLost), .wrong(.slow), .wrong(.late):
            RefreshFailure(model: .unanswered)
        }
    }

    private mutating func deliver(_ tokens: ModelTokens, of ended: Exchange) throws(Violation) {
        promises.deliver(tokens, of: ended)
        let delivery = Delivery(refreshToken: tokens.refreshToken, accessEndsAt: tokens.accessEndsAt)
        if try !handle(ended.issued(tokens.issuance), delivery), machine != nil {
            // Tokens are never dropped because of a full disk. They stay in memory.
            let again = clock.trueTime + random.microseconds(1, 30)
            unsaved = UnsavedAnswer(exchange: ended, tokens: tokens, triedAgainAt: again)
        }
    }

    mutating func saveAgain() throws(Violation) {
        guard let answer = unsaved else { return }
        unsaved = nil
        try deliver(answer.tokens, of: answer.exchange)
    }

    mutating func reachDeadline() throws(Violation) {
        guard let machine else { return }
        var event = Event.host(.deadlineReached)
        if case .refreshing(let lease) = machine.state.phase, isOut(lease) {
            let saysEnd = climate.tellsLeaseEndEarly && unsaved == nil
            if saysEnd, lease.isOver(at: clock.now) { promises.isAmbiguous = true }
            if !saysEnd { event = .host(.requestContinues) }
        } else if isWaited {
            // The end of the lease was reported early, but the request is still awaited.
            deadlineRestsUntil = clock.trueTime + 100_000
            return
        }
        if try !handle(event) { deadlineRestsUntil = clock.trueTime + random.microseconds(5, 60) }
    }

    /// The true time of the next thing that follows from the sign-out by itself; nil if there is none. It needs neither a
    /// network nor a server.
    func signOutTime(of state: RefreshState) -> Int64? {
        guard let times = state.signOut else { return nil }
        var time = clock.trueTime
        if let age = clock.now.boot.elapsed(since: times.issuedAt.boot) {
            time += (times.nextAfter - age).microseconds
        } else {
            let byWall = clock.trueTime(of: times.issuedAt.wall + times.nextAfter)
            time = max(byWall, wallDisturbedAt + SignOutRule.agreement.microseconds)
        }
        return max(time, deadlineRestsUntil)
    }

    mutating func reachSignOut() throws(Violation) {
        if try !handle(.host(.signOutReached)) { deadlineRestsUntil = clock.trueTime + random.microseconds(5, 60) }
    }

    /// Whether the exchange of `lease` is still in flight in this process.
    func isOut(_ lease: Lease) -> Bool {
        underWay.contains { $0.lease == lease } || unsaved?.exchange.lease == lease
    }

    /// Whether the machine has given up an exchange of the present grant that is still in flight. Everything else waits
    /// for it.
    var isWaited: Bool {
        if case .refreshing? = machine?.state.phase { return false }
        return unsaved != nil || underWay.contains { $0.epoch == promises.epoch }
    }

    mutating func crash() {
        trace.note(.crashed, at: clock.trueTime)
        if !underWay.isEmpty || unsaved != nil { promises.isAmbiguous = true }
        if case .refreshing = store.state.phase { promises.isAmbiguous = true }
        (machine, underWay, unsaved) = (nil, [], nil)
        restartsAt = clock.trueTime + random.microseconds(0.1, climate.longestAbsence)
        promises.trouble(at: clock.trueTime)
    }

    mutating func restart() throws(Violation) {
        trace.note(.restarted, at: clock.trueTime)
        restartsAt = nil
        deadlineRestsUntil = 0
        wallDisturbedAt = clock.trueTime
        promises.trouble(at: clock.trueTime)
        if clock.now.wall < store.lastSeen {
            store.shiftDeadline(by: clock.now.wall - store.lastSeen, at: clock.now)
        }
        machine = RefreshMachine(state: store.state, policy: store.policy)
        guard case .refreshing = store.state.phase else { return }
        if try !handle(.host(.requestAbandoned(crashes: 0))) { crash() }
    }
}
