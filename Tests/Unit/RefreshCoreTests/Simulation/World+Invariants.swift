import TestSupport

@testable import RefreshCore

/// The promises, checked at each step.
extension World {
    func require(_ isKept: Bool, _ text: @autoclosure () -> String) throws(Violation) {
        guard isKept else { throw Violation(text: text()) }
    }

    /// Checks a decision before anything is done about it.
    mutating func checkDecision(
        _ event: Event,
        from old: RefreshState,
        to new: RefreshState,
        _ effects: [Effect]
    ) throws(Violation) {
        cause = event
        try require(effects.count <= 4, "\(effects.count) effects of one event")
        var isPersisted = false
        if case .persist? = effects.first { isPersisted = true }
        try require(isPersisted || old == new, "a change of state is not persisted")
        let isErased = effects.first == .persist(.erase)
        if case .answer(.tokensIssued) = event, promises.tokensExpected != nil, !isErased {
            try require(effects.first == .persist(.store), "the answer to a request of the present grant is dropped")
        }
        try checkTargets(event, from: old, to: new, effects)
        try checkKeptBack(event, from: old, effects)
    }

    /// Checks that a refresh token that may be spent is not sent again while that could cost an access token in use.
    private func checkKeptBack(_ event: Event, from old: RefreshState, _ effects: [Effect]) throws(Violation) {
        let sends = effects.contains { if case .send = $0 { true } else { false } }
        guard sends, event != .demand(.refreshRequested), case .backingOff(let backOff) = old.phase else { return }
        guard backOff.failure.failureClass == .unanswered, old.isRotating != false, climate.policy.rotationGrace == nil,
            let held = old.accessToken
        else { return }
        if case .demand(.accessTokenRejected) = event { return }
        let isLate = held.timeToReserve(at: clock.now) == .zero
        let isDying = old.refreshToken?.timeToKeepAlive(at: clock.now) == .zero
        try require(isLate || isDying || backOff.kind == .transient, "a token in doubt is sent again too early")
    }

    /// Checks that requests for targets do not change the account's own token, and do not call its user.
    private func checkTargets(
        _ event: Event,
        from old: RefreshState,
        to new: RefreshState,
        _ effects: [Effect]
    ) throws(Violation) {
        guard event.isAboutTarget, effects.first != .persist(.erase) else { return }
        try require(new.accessToken == old.accessToken, "a token target changes the account's own access token")
        let isCalled = old.phase != new.phase && new.phase.isForUser
        try require(!isCalled, "the user is called because of a token target")
        guard case .answer(.targetIssued(let target, _, _)) = event, promises.tokensExpected != nil else { return }
        var isKept = false
        if case .persist(.storeTarget(target, _))? = effects.first { isKept = true }
        try require(isKept, "the answer for a token target of the present grant is dropped")
    }

    /// Checks the world after all effects of an event are done.
    mutating func checkAfterwards(_ event: Event) throws(Violation) {
        guard let machine else { return }
        try require(machine.state == store.state, "the process knows more than the disk")
        guard event.isIssuance, let tokens = promises.tokensExpected else { return }
        let held = store.refreshTokens[machine.state.generation]
        let isRaised = !tokens.issuance.isRotated || machine.state.generation > promises.spentGeneration
        try require(isRaised, "a new refresh token under an old generation")
        try require(held == tokens.refreshToken, "the refresh token that was issued is lost")
        guard case .answer(.targetIssued(let target, _, _)) = event else {
            try require(store.accessEndsAt == tokens.accessEndsAt, "the access token that was issued is lost")
            return promises.succeed(offset: clock.wallOffset)
        }
        try require(store.targets[target]?.endsAt == tokens.accessEndsAt, "the token of a target is lost")
        promises.succeed(target)
    }

    /// Checks a request before it is sent.
    mutating func checkSending(_ lease: Lease, _ token: ModelToken, for target: TokenTarget?) throws(Violation) {
        try require(target == nil || !store.state.isOutcomeUnknown, "a target is asked for while an outcome is unknown")
        try require(store.state.phase == .refreshing(lease), "a request leaves before its lease is on disk")
        let isSpending = underWay.contains { $0.lease.generation == lease.generation && $0.epoch == promises.epoch }
        try require(!isSpending, "two requests for generation \(lease.generation)")
        try require(unsaved?.exchange.lease.generation != lease.generation, "spent again though the answer is here")
        let isExcused = promises.isAmbiguous || promises.doubtSince != nil
        try require(isExcused || !server.isReplay(token, at: clock.trueTime), "a spent token is sent")
        try require(!store.state.isSignOutDue(at: clock.now), "a request after the sign-out is due")
        if let notBefore = promises.notBefore {
            try require(clock.trueTime >= notBefore, "a request before Retry-After")
        }
        if cause == .host(.deadlineReached) {
            let lifetime = Double(max(climate.rules.accessLifetime.microseconds, 2_500_000)) / 1e6
            try promises.countSending(at: clock.trueTime, bound: 60 + Int(2 * 3600 / (0.4 * lifetime)))
        }
    }

    /// Checks a change before it is announced.
    mutating func checkPublished(_ change: AccountChange, _ state: RefreshState) throws(Violation) {
        try require(store.state == state, "told before it is on disk")
        if case .refreshTokenExpiring = change { promises.isEndAnnounced = true }
        guard case .interactionRequired(let interaction) = change else { return }
        let isConfirmed = interaction.reason != .outcomeUnknown || promises.refusals > 1 || promises.isUserCalled
        try require(isConfirmed, "an unknown outcome is not asked for again")
        // Nothing is lost by this question, because the account is still tried.
        if interaction.reason == .rejectedWithoutReason { return }
        defer { promises.isUserCalled = true }
        let token = store.refreshTokens[state.generation]
        if interaction.reason == .noRefreshToken {
            let isOver = !holdsValidToken || state.accessToken == nil
            let isGuess = promises.doubtSince != nil || promises.wasPaused
            return try require(
                !state.isRefreshable && (isOver || isGuess),
                "the user is called, the access token is good"
            )
        }
        let isSpent = token.map { server.isReplay($0, at: clock.trueTime) } ?? true
        switch server.end {
        case nil:
            try require(isSpent && promises.isAmbiguous, "the user is called, the grant is good: \(interaction.reason)")
        case .reused:
            try require(promises.isAmbiguous || promises.isSpoilt, "the grant was lost though every answer came")
        case .idle:
            try require(!wasNegligent || promises.isUserCalled, "the refresh token died of idleness")
        case .expired:
            try require(!wasSilent || promises.isUserCalled, "the end of the refresh token was not announced")
        case .revoked, .userWanted:
            return
        }
        let isForgiving = server.rules.grace >= .seconds(86_400) || climate.spareAfterLoss
        let isExcused = server.end == .idle || server.end == .expired || promises.isSpoilt
        try require(isExcused || !isForgiving, "the grant was lost though the server forgives")
    }

    /// Whether the machine failed to keep an idle refresh token alive although it knew the end and there was no
    /// trouble.
    private var wasNegligent: Bool {
        guard case .idle(let lifetime) = server.rules.refreshEnd, promises.doubtSince == nil else { return false }
        let isKnown = server.rules.tellsRefreshLifetime || climate.policy.refreshTokenLifetime != nil
        let wellFor = clock.trueTime - promises.wellSince
        return isKnown && wellFor > (lifetime + climate.recovery).microseconds
    }

    /// Whether the machine failed to announce a final end although the server had told it and there was no trouble.
    private var wasSilent: Bool {
        guard server.rules.tellsRefreshLifetime, promises.doubtSince == nil, !promises.isEndAnnounced else {
            return false
        }
        let wellFor = clock.trueTime - promises.wellSince
        return wellFor > (climate.recovery + horizon).microseconds
    }

    /// Checks a sign-out by itself, after its commit.
    mutating func checkErased() throws(Violation) {
        guard let forgetAfter = climate.policy.forgetAfter else { throw Violation(text: "a grant is erased") }
        let isOver = clock.trueTime - promises.signedInAt >= forgetAfter.microseconds
        let isOtherBoot = clock.now.boot.bootID != promises.bootAtSignIn
        let isMisled = isOtherBoot && clock.wallOffset != promises.offsetAtSignIn
        try require(isOver || isMisled, "a wrong clock has ended a grant")
        try require(store.refreshTokens.isEmpty && store.accessEndsAt == nil, "a sign-out leaves tokens")
        promises.newGrant(at: clock.trueTime)
    }

    /// Checks that nothing is given out once the time of the account is over, and that its tokens are then erased.
    private func checkSignOut(_ state: RefreshState) throws(Violation) {
        guard let times = state.signOut else { return }
        let isOver = clock.trueTime - promises.signedInAt >= times.lifetime.microseconds
        let isGiven = state.holdsAccessToken(for: .zero, at: clock.now)
        let isGivable = state.givable(at: clock.now).map { $0.remaining(at: clock.now) > .zero } ?? false
        try require(isGivable == isGiven, "two answers whether a token may be given out")
        let isWallRight = clock.wallOffset == promises.offsetAtSignIn
        try require(!isOver || !isWallRight || !isGiven, "a token is given out after the sign-out")
        guard let age = clock.now.boot.elapsed(since: times.issuedAt.boot), !isDiskFull else { return }
        let wellFor = Duration.microseconds(clock.trueTime - promises.wellSince)
        try require(age <= times.lifetime || wellFor <= .seconds(120), "tokens are not erased in time")
    }

    /// Checks what must hold at each moment.
    func checkAtEveryStep() throws(Violation) {
        guard let machine else { return }
        try checkSignOut(machine.state)
        switch machine.state.phase {
        case .signedOut, .parked: return
        case .interactionRequired(let interaction):
            // This reason is never final: after enough time without trouble there is a token again.
            if interaction.reason == .rejectedWithoutReason { try checkService() }
            return
        case .scheduled, .refreshing, .backingOff: break
        }
        guard let deadline = machine.state.deadline else { throw Violation(text: "no deadline") }
        if promises.doubtSince == nil {
            let wait = deadline - clock.now.wall
            try require(wait <= horizon, "the next deadline is \(wait) away")
            try checkBelief(machine.state)
        }
        try checkService()
        try checkSetBelief()
    }

    /// Checks that a target's token is valid if the machine would return it.
    private func checkSetBelief() throws(Violation) {
        guard !climate.tellsLeaseEndEarly else { return }
        for (target, held) in store.targets where promises.exactTargets.contains(target) {
            let isBelieved = held.times.remaining(at: clock.now) > .zero
            try require(!isBelieved || held.endsAt.map { $0 > clock.trueTime } == true, "a target's token has ended")
        }
    }

    /// The longest time that anything here may have to wait.
    private var horizon: Duration {
        max(climate.rules.accessLifetime, BackOffRule.longestRetryAfter).scaled(by: 1.1)
    }

    /// Checks that a token that the machine regards as valid is valid.
    private func checkBelief(_ state: RefreshState) throws(Violation) {
        let isExact = !promises.wasPaused && !climate.tellsLeaseEndEarly
        guard isExact, state.holdsAccessToken(for: .zero, at: clock.now) else { return }
        try require(holdsValidToken, "an access token that has ended is taken for valid")
    }

    private var holdsValidToken: Bool {
        store.accessEndsAt.map { $0 > clock.trueTime } ?? false
    }

    /// Checks that there is a valid access token after enough time without trouble.
    private func checkService() throws(Violation) {
        guard !isOffline, !isServerDown, !isDiskFull, server.end == nil, !holdsValidToken, store.state.isRefreshable,
            !store.state.isSignOutDue(at: clock.now)
        else { return }
        let isLost =
            store.refreshTokens[store.state.generation].map { server.isReplay($0, at: clock.trueTime) } ?? false
        guard !isLost else { return }
        var patience = climate.recovery
        if let doubtSince = promises.doubtSince, doubtSince > 0 { patience += horizon + horizon }
        let wellFor = Duration.microseconds(clock.trueTime - max(promises.wellSince, promises.doubtSince ?? 0))
        try require(wellFor < patience, "no valid access token, though all has been well for \(wellFor)")
    }
}

extension Event {
    /// Whether the event brings tokens that the server has just issued.
    fileprivate var isIssuance: Bool {
        if case .answer(.tokensIssued) = self { return true }
        if case .answer(.targetIssued) = self { return true }
        return false
    }

    /// Whether the event concerns a token target.
    fileprivate var isAboutTarget: Bool {
        switch self {
        case .demand(.targetNeeded), .demand(.targetRejected), .answer(.targetIssued), .answer(.targetFailed): true
        case .demand, .answer, .grant, .owner, .host, .source, .lifetimeLearned: false
        }
    }
}

extension Phase {
    /// Whether the user must act.
    fileprivate var isForUser: Bool {
        if case .interactionRequired = self { true } else { false }
    }
}
