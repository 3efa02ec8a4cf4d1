@testable import RefreshCore
import Testing

/// The events from people and from the machine's surroundings, in each phase.
@Suite struct RefreshMachineAccountTests {
    private typealias Fixture = MachineFixture

    private let start = MachineFixture.start

    @Test(arguments: MachineFixture.phases) func `an imported grant replaces everything, in every phase`(phase: Phase) {
        var machine = Fixture.machine(phase)
        let event = Event.grant(.imported(refreshTokenLifetime: .seconds(86_400)))
        #expect(machine.handle(event, at: start, jitter: 0) == [.persist(.replace), .publish(.grantImported)])
        #expect(machine.state.generation == Fixture.generation.next)
        #expect(machine.state.phase == .scheduled)
        #expect(machine.state.deadline == start.wall)
        #expect(machine.state.accessToken == nil)
        #expect(machine.state.refreshToken?.lifetime == .seconds(86_400))
        let refreshes = Fixture.begin(at: start, generation: Fixture.generation.next)
        #expect(machine.handle(.host(.deadlineReached), at: start, jitter: 0) == refreshes)
    }

    @Test(arguments: MachineFixture.phases) func `signing out erases everything, in every phase`(phase: Phase) {
        var machine = Fixture.machine(phase)
        #expect(machine.handle(.owner(.signedOut), at: start, jitter: 0) == [.persist(.erase), .publish(.signedOut)])
        #expect(machine.state == RefreshState(generation: Fixture.generation.next))
    }

    @Test(arguments: MachineFixture.phases) func `an edited account is stored, and not trusted until it works`(
        phase: Phase
    ) {
        var machine = Fixture.machine(phase)
        #expect(
            machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start.later(.seconds(10)), jitter: 0.5) == [
                .persist(.unchanged)
            ]
        )
        #expect(!machine.state.hasWorked)
        // A failure of the old settings says nothing about the new ones.
        let isTriedAfresh =
            phase.backOffKind == .misconfigured || phase.backOffKind == .transient || phase.isRejectedWithoutReason
        #expect((machine.state.deadline == start.later(.seconds(10)).wall) == isTriedAfresh)
        #expect(!isTriedAfresh || machine.state.phase == .scheduled && machine.state.failures == 0)
    }

    @Test(arguments: [InteractionReason.grantEnded, .userRequired, .sourceAccount])
    func `an edit of what a refresh sends is tried once, and no other edit is`(reason: InteractionReason) {
        let required = interaction(reason)
        var machine = Fixture.machine(.interactionRequired(required))
        let now = start.later(.seconds(10))
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: now, jitter: 0)
        #expect(machine.state.phase == .interactionRequired(required) && machine.state.deadline == nil)
        _ = machine.handle(.owner(.accountUpdated(asksAnew: true)), at: now, jitter: 0)
        #expect(machine.state.phase == .scheduled && machine.state.interaction == nil)
        // The access token is still good, and an attempt is due all the same.
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == Fixture.begin(at: now))
        let refused = Event.answer(.refreshFailed(Fixture.generation, Fixture.failure(.grantEnded)))
        _ = machine.handle(refused, at: now, jitter: 0)
        #expect(machine.state.interaction?.reason == .grantEnded && machine.state.deadline == nil)
    }

    @Test func `an edit during an attempt makes the earlier refusal void at once`() {
        var machine = Fixture.machine(.interactionRequired(interaction(.grantEnded)))
        let now = start.later(.seconds(10))
        #expect(machine.handle(.demand(.refreshRequested), at: now, jitter: 0).last.map(isSending) == true)
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: now, jitter: 0)
        #expect(machine.state.interaction != nil)
        _ = machine.handle(.owner(.accountUpdated(asksAnew: true)), at: now, jitter: 0)
        #expect(machine.state.interaction == nil)
        // The request that was under way asked in the old way, so it is made again.
        _ = machine.handle(.answer(.leaseReturned(Fixture.generation)), at: now, jitter: 0)
        #expect(machine.state.phase == .scheduled && machine.state.deadline == now.wall)
    }

    @Test(arguments: [InteractionReason.outcomeUnknown, .noRefreshToken, .otherPerson])
    func `no edit helps a grant that is spent, missing or another person's`(reason: InteractionReason) {
        var machine = Fixture.machine(.interactionRequired(interaction(reason)))
        _ = machine.handle(.owner(.accountUpdated(asksAnew: true)), at: start.later(.seconds(10)), jitter: 0)
        #expect(machine.state.interaction?.reason == reason && machine.state.deadline == nil)
    }

    @Test func `after an unanswered request, no edit sends the refused refresh token again`() {
        var machine = Fixture.machine(.interactionRequired(interaction(.grantEnded)))
        let now = start.later(.seconds(10))
        #expect(machine.handle(.demand(.refreshRequested), at: now, jitter: 0).last.map(isSending) == true)
        let lost = Event.answer(.refreshFailed(Fixture.generation, Fixture.failure(.unanswered)))
        _ = machine.handle(lost, at: now, jitter: 0)
        #expect(machine.state.isOutcomeUnknown)
        _ = machine.handle(.owner(.accountUpdated(asksAnew: true)), at: now, jitter: 0)
        #expect(machine.state.interaction?.reason == .grantEnded && machine.state.deadline == nil)
    }

    @Test func `an edit does not send before the time that the server asked for`() {
        var required = interaction(.grantEnded)
        required.leastDelay = .seconds(60)
        var machine = Fixture.machine(.interactionRequired(required))
        let edit = Event.owner(.accountUpdated(asksAnew: true))
        _ = machine.handle(edit, at: start.later(.seconds(10)), jitter: 0)
        #expect(machine.state.phase == .interactionRequired(required))
        _ = machine.handle(edit, at: start.later(.seconds(61)), jitter: 0)
        #expect(machine.state.phase == .scheduled)
    }

    private func interaction(_ reason: InteractionReason) -> InteractionRequired {
        let failure = Fixture.failure(.grantEnded)
        return InteractionRequired(reason: reason, since: start.wall, failure: failure, attemptedAt: start)
    }

    @Test func `an edit does not shorten what the server asked for`() {
        let failure = Fixture.failure(.unavailable, retryAfter: .seconds(60))
        let wait = BackOff(failedAt: start, delay: .seconds(90), kind: .transient, failure: failure)
        var machine = Fixture.machine(.backingOff(wait))
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start.later(.seconds(10)), jitter: 0)
        #expect(machine.state.deadline == start.wall + .seconds(60))
        #expect(machine.state.phase.backOffKind == .transient)
    }

    @Test func `an edit is stored even if a retry is near`() {
        var machine = Fixture.machine(.backingOff(Fixture.backOff(.misconfigured, delay: .seconds(1))))
        #expect(
            machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start, jitter: 0.9) == [.persist(.unchanged)]
        )
    }

    @Test func `an edited lead time moves the refresh`() {
        let policy = RefreshPolicy(leadTime: .seconds(1000))
        var machine = RefreshMachine(state: Fixture.machine(.scheduled).state, policy: policy)
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start, jitter: 0.5)
        #expect(machine.state.deadline == start.wall + .seconds(2600))
    }

    @Test func `an edit does not delay the first refresh`() {
        var machine = Fixture.machine(.signedOut)
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: .seconds(30 * 86_400))), at: start, jitter: 0)
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start, jitter: 0.5)
        #expect(machine.state.deadline == start.wall)
    }

    @Test(arguments: MachineFixture.phases) func `a new network shortens waits that no server asked for`(
        phase: Phase
    ) {
        var machine = Fixture.machine(phase)
        let now = start.later(.seconds(10))
        let effects = machine.handle(.host(.connectivityRestored), at: now, jitter: 0.5)
        let isShortened = phase.backOffKind == .transient || phase.backOffKind == .misconfigured
        #expect(effects == (isShortened ? [.persist(.unchanged)] : []))
        #expect((machine.state.deadline == now.wall + .seconds(1)) == isShortened)
    }

    @Test func `a flapping network causes no flood of requests`() {
        var machine = Fixture.machine(.backingOff(Fixture.backOff(.transient)))
        _ = machine.handle(.host(.connectivityRestored), at: start, jitter: 0)
        #expect(machine.state.deadline == start.wall + BackOffRule.callerInterval)
    }

    // MARK: the refresh token's end

    @Test func `an end that no use extends is announced once and is final`() {
        var machine = refreshed(told: [.seconds(30 * 86_400), .seconds(29 * 86_400)])
        let now = start.later(.seconds(24 * 86_400))
        // The access token is due by now, so its refresh comes first.
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0).last.map(isSending) == true)
        let told = Issuance(lifetime: .seconds(86_400), refreshTokenLifetime: .seconds(6 * 86_400))
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, told)), at: now, jitter: 0.5)
        #expect(machine.state.shown(at: now) == .refreshTokenExpiring)
        let effects = machine.handle(.host(.deadlineReached), at: now, jitter: 0)
        #expect(effects.last == .publish(.refreshTokenExpiring(expiresAt: start.wall + .seconds(30 * 86_400))))
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == [.persist(.unchanged)])
    }

    @Test func `an idle token is used before half of its lifetime is over`() {
        let machine = refreshed(told: [.seconds(7200), .seconds(7200)], accessLifetime: .seconds(90 * 86_400))
        #expect(machine.state.deadline == start.later(.seconds(86_400)).wall + .seconds(3600))
    }

    @Test func `a clock stepped between two answers does not make an idle token look final`() {
        var machine = refreshed(told: [.seconds(7200)])
        let now = start.later(.seconds(600)).stepped(.seconds(-3600))
        _ = machine.handle(
            .answer(.tokensIssued(Fixture.generation, Issuance(lifetime: nil, refreshTokenLifetime: .seconds(7200)))),
            at: now,
            jitter: 0
        )
        #expect(machine.state.refreshToken?.isExtendedByUse == true)
    }

    @Test func `a lifetime stated once does not cause endless uses after half of it`() {
        var machine = Fixture.machine(.signedOut)
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: .seconds(30 * 86_400))), at: start, jitter: 0)
        let now = start.later(.seconds(16 * 86_400))
        _ = machine.handle(.host(.deadlineReached), at: now, jitter: 0)
        let generation = machine.state.generation
        _ = machine.handle(.answer(.tokensIssued(generation, Issuance(lifetime: .seconds(3600)))), at: now, jitter: 0.5)
        #expect(machine.state.deadline == now.wall + .seconds(2400))
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == [.persist(.unchanged)])
    }

    @Test func `a use does not restart a lifetime that counts from the sign-in`() {
        let day = Duration.seconds(86_400)
        let policy = RefreshPolicy(refreshTokenLifetime: day * 30, isRefreshTokenLifetimeAbsolute: true)
        var machine = RefreshMachine(state: Fixture.machine(.signedOut).state, policy: policy)
        let issuance = Issuance(lifetime: day)
        let signIn = Event.grant(.obtained(issuance, hasRefreshToken: true, sentAt: start))
        _ = machine.handle(signIn, at: start, jitter: 0.5)
        for (age, isRotated) in [(1, false), (2, true), (10, true)] {
            let now = start.later(day * age)
            _ = machine.handle(.demand(.refreshRequested), at: now, jitter: 0)
            let answer = Issuance(lifetime: day, isRotated: isRotated)
            _ = machine.handle(.answer(.tokensIssued(machine.state.generation, answer)), at: now, jitter: 0.5)
            #expect(machine.state.refreshToken?.expiresAt == start.wall + day * 30)
            #expect(machine.state.refreshToken?.isExtendedByUse == false)
        }
        #expect(machine.state.refreshToken?.isExpiring(at: start.later(day * 24)) == true)
        let again = start.later(day * 25)
        _ = machine.handle(.grant(.obtained(issuance, hasRefreshToken: true, sentAt: again)), at: again, jitter: 0.5)
        #expect(machine.state.refreshToken?.expiresAt == again.wall + day * 30)
    }

    @Test func `a lifetime from the sign-in counts from the import if the sign-in is unknown`() {
        let policy = RefreshPolicy(refreshTokenLifetime: .seconds(86_400), isRefreshTokenLifetimeAbsolute: true)
        var machine = RefreshMachine(state: Fixture.machine(.signedOut).state, policy: policy)
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: nil)), at: start, jitter: 0)
        #expect(machine.state.refreshToken?.isExtendedByUse == false)
        #expect(machine.state.refreshToken?.expiresAt == start.wall + .seconds(86_400))
    }

    @Test func `a refresh token lifetime of zero means nothing`() {
        #expect(refreshed(told: [.zero]).state.refreshToken == nil)
    }

    /// An account that was told these lifetimes of its refresh token, at intervals of a day.
    private func refreshed(told: [Duration], accessLifetime: Duration = .seconds(86_400)) -> RefreshMachine {
        var machine = Fixture.machine(.scheduled)
        for (day, lifetime) in told.enumerated() {
            let now = start.later(.seconds(86_400 * day))
            _ = machine.handle(.demand(.refreshRequested), at: now, jitter: 0)
            let issuance = Issuance(lifetime: accessLifetime, refreshTokenLifetime: lifetime)
            _ = machine.handle(.answer(.tokensIssued(Fixture.generation, issuance)), at: now, jitter: 0.5)
        }
        return machine
    }

    private func isSending(_ effect: Effect) -> Bool {
        if case .send = effect { true } else { false }
    }
}

extension Phase {
    fileprivate var isRejectedWithoutReason: Bool {
        guard case .interactionRequired(let interaction) = self else { return false }
        return interaction.reason == .rejectedWithoutReason
    }
}
