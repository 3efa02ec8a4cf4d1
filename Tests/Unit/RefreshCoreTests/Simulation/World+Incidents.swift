import TestSupport

@testable import RefreshCore

/// The incidents.
extension World {
    mutating func happen(at index: Int) throws(Violation) {
        let incident = nextIncidents[index].incident
        let days = climate.daysBetween[incident] ?? climate.days
        let pause = random.microseconds(0, 2 * days * 86_400)
        nextIncidents[index].at = incident.isEnd ? .max : clock.trueTime + pause
        if let end = incident.end, let later = nextIncidents.firstIndex(where: { $0.incident == end }) {
            nextIncidents[later].at = clock.trueTime + random.microseconds(1, climate.longestAbsence * 4)
        }
        trace.note(.incident(incident), at: clock.trueTime)
        // Until a wrong wall clock is right again, nothing is requested.
        if store.state.isSignOutDue(at: clock.now) { promises.trouble(at: clock.trueTime) }
        switch incident {
        case .wallClockStepped: stepWallClock()
        case .suspended: sleep(isPause: false)
        case .paused: sleep(isPause: true)
        case .rebooted: reboot()
        case .crashed: if machine != nil { crash() }
        case .outageBegins, .outageEnds: isServerDown = incident == .outageBegins
        case .diskFills, .diskEmpties: isDiskFull = incident == .diskFills
        case .networkLost: isOffline = true
        case .grantRevoked: server.endGrant(.revoked)
        case .userWanted: server.endGrant(.userWanted)
        case .networkRestored:
            isOffline = false
            try tell(.host(.connectivityRestored))
        case .callerComes, .accessTokenRejected, .personAsks, .userSignsOut, .userSignsIn, .accountEdited,
            .targetWanted, .targetRejected:
            try serve(incident)
        }
        if incident.isTrouble { promises.trouble(at: clock.trueTime) }
    }

    /// A caller, a person or the network sends the daemon an event.
    private mutating func serve(_ incident: Incident) throws(Violation) {
        guard let machine else { return }
        switch incident {
        case .callerComes:
            // The shell sends this event only if it has no token to return.
            if !machine.state.holdsAccessToken(for: .zero, at: clock.now) { try tell(.demand(.tokenNeeded)) }
        case .accessTokenRejected:
            let named = random.chance(0.5) ? machine.state.accessToken?.issuedAt : nil
            try tell(.demand(.accessTokenRejected(issuedAt: named)))
        case .targetWanted, .targetRejected: try askForTarget(isRejected: incident == .targetRejected)
        case .personAsks: try tell(.demand(.refreshRequested))
        case .userSignsOut: if random.chance(0.2) { try signOut() }
        case .userSignsIn: if needsSignIn { try signIn() }
        case .accountEdited:
            var policy = machine.policy
            policy.leadTime = random.chance(0.5) ? nil : climate.leadTime(random.fraction())
            let edit = Event.owner(.accountUpdated(asksAnew: random.chance(0.5)))
            if !isWaited { try handle(edit, Delivery(policy: policy)) }
        case .wallClockStepped, .suspended, .paused, .rebooted, .crashed, .networkLost, .networkRestored, .outageBegins,
            .outageEnds, .diskFills, .diskEmpties, .grantRevoked, .userWanted:
            break
        }
    }

    /// The shell sends this event only if it has no token of the target to return, or the token was refused.
    private mutating func askForTarget(isRejected: Bool) throws(Violation) {
        let target = random.pick(Climate.targets)
        let isHeld = store.targets[target].map { $0.times.remaining(at: clock.now) > .zero } ?? false
        if isHeld == isRejected {
            try tell(isRejected ? .demand(.targetRejected(target)) : .demand(.targetNeeded(target)))
        }
    }

    private mutating func tell(_ event: Event) throws(Violation) {
        guard machine != nil, !isWaited else { return }
        try handle(event)
    }

    private var needsSignIn: Bool {
        switch machine?.state.phase {
        case .signedOut, .interactionRequired, .parked: true
        case .scheduled, .refreshing, .backingOff, nil: false
        }
    }

    mutating func signIn() throws(Violation) {
        guard !isDiskFull, !isWaited else { return }
        if !server.rules.givesRefreshToken || random.chance(0.5) { return try obtainGrant() }
        let grant = server.signIn(at: clock.trueTime)
        // The answer to a sign-in may state a lifetime, even if later answers never do.
        let told = grant.lifetime ?? (random.chance(0.7) ? endTold : nil)
        try replaceGrant(by: .grant(.imported(refreshTokenLifetime: told)), Delivery(refreshToken: grant.token))
    }

    /// A sign-in through the daemon itself, which also brings an access token.
    private mutating func obtainGrant() throws(Violation) {
        let generation = store.state.generation
        let tokens = server.obtain(at: clock.trueTime)
        let hasRefreshToken = server.rules.givesRefreshToken
        let delivery = Delivery(
            refreshToken: hasRefreshToken ? tokens.refreshToken : nil,
            accessEndsAt: tokens.accessEndsAt
        )
        let event = Event.grant(.obtained(tokens.issuance, hasRefreshToken: hasRefreshToken, sentAt: clock.now))
        try replaceGrant(by: event, delivery)
        guard store.state.generation != generation else { return }
        try require(store.accessEndsAt == tokens.accessEndsAt, "the access token that was obtained is lost")
        try require(
            store.refreshTokens.values.elementsEqual([delivery.refreshToken].compactMap(\.self)),
            "an old grant is kept"
        )
        promises.obtain(at: clock.trueTime, offset: clock.wallOffset)
    }

    /// The end of the refresh token, as far as a person or a first answer may know it.
    private var endTold: Duration? {
        switch climate.rules.refreshEnd {
        case .never: nil
        case .idle(let lifetime), .absolute(let lifetime): lifetime
        }
    }

    private mutating func signOut() throws(Violation) {
        guard !isDiskFull, !isWaited, !needsSignIn else { return }
        try replaceGrant(by: .owner(.signedOut))
    }

    private mutating func replaceGrant(by event: Event, _ delivery: Delivery = Delivery()) throws(Violation) {
        let generation = store.state.generation
        try handle(event, delivery)
        if store.state.generation != generation {
            promises.newGrant(at: clock.trueTime)
            promises.signIn(clock)
        } else if delivery.refreshToken != nil || delivery.accessEndsAt != nil {
            // The process died before it stored the tokens: the sign-in has failed, and has ended the old grant.
            server.endGrant(.revoked)
        }
    }

    private mutating func stepWallClock() {
        let delta =
            random.pick([-1, 1]) * random.pick([random.microseconds(0, 5), random.microseconds(60, 86_400), year])
        clock.stepWall(by: delta)
        wallDisturbedAt = clock.trueTime
        promises.step(isSeen: machine != nil, at: clock.trueTime)
        guard let machine, delta < 0 else { return }
        // A deadline is a time of the wall clock. If that is set back, the deadline would be late.
        var state = machine.state
        state.deadline = state.deadline.map { $0 + .microseconds(delta) }
        self.machine = RefreshMachine(state: state, policy: machine.policy)
        store.shiftDeadline(by: .microseconds(delta), at: clock.now)
    }

    private var year: Int64 { 365 * 86_400_000_000 }

    /// The machine sleeps and the server goes on. Requests in flight may survive, together with their time limits.
    private mutating func sleep(isPause: Bool) {
        let length = random.microseconds(1, climate.longestAbsence * random.pick([0.02, 1, 10]))
        if isPause { clock.pause(for: length) } else { clock.advance(to: clock.trueTime + length) }
        if isPause {
            wallDisturbedAt = clock.trueTime
            promises.pause(offset: clock.wallOffset, at: clock.trueTime)
        }
        for index in underWay.indices {
            // The time limit of a request stands still. Its answer waits in the socket, or the connection is dead.
            if random.chance(0.5) {
                underWay[index].fate = .wrong(.answerLost)
                underWay[index].endsAt = clock.trueTime + Exchange.limit
            } else {
                underWay[index].endsAt = clock.trueTime + random.microseconds(0, 0.5)
            }
        }
    }

    private mutating func reboot() {
        if machine != nil { crash() }
        clock.reboot()
        if random.chance(0.2) {
            clock.stepWall(by: random.pick([-year, -3_600_000_000, 3_600_000_000, year]))
            promises.step(isSeen: false, at: clock.trueTime)
        }
        promises.reboot(offset: clock.wallOffset, at: clock.trueTime)
    }
}
