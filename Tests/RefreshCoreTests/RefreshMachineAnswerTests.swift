import RefreshCore
import Testing

/// What the server's answers mean, in each phase.
@Suite struct RefreshMachineAnswerTests {
    private typealias Fixture = MachineFixture

    private let start = MachineFixture.start

    // MARK: tokensIssued

    @Test(arguments: MachineFixture.phases) func `tokens of the present generation are kept in every phase`(
        phase: Phase
    ) {
        var machine = Fixture.machine(phase)
        let now = start.later(.seconds(60))
        let event = Event.tokensIssued(Fixture.generation, Fixture.issuance)
        #expect(machine.handle(event, at: now, jitter: 0.5) == [.persist(.store), .publish(.tokenRefreshed)])
        #expect(machine.state.phase == .scheduled)
        #expect(machine.state.generation == Fixture.generation.next)
        #expect(machine.state.previous?.generation == Fixture.generation)
    }

    @Test(arguments: MachineFixture.phases) func `tokens of another generation are dropped in every phase`(phase: Phase)
    {
        var machine = Fixture.machine(phase)
        let before = machine.state
        let stale = Generation(4)
        let event = Event.tokensIssued(stale, Fixture.issuance)
        #expect(machine.handle(event, at: start, jitter: 0) == [.publish(.staleAnswerDropped(stale))])
        #expect(machine.state == before)
    }

    @Test func `a token's life counts from the request`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        _ = machine.handle(
            .tokensIssued(Fixture.generation, Fixture.issuance),
            at: start.later(.seconds(20)),
            jitter: 0.5
        )
        #expect(machine.state.accessToken?.issuedAt == start)
        #expect(machine.state.deadline == start.wall + .seconds(2400))
    }

    @Test func `a clock set back during the request does not put the next refresh off`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let now = start.later(.seconds(20)).stepped(.seconds(-365 * 86_400))
        _ = machine.handle(.tokensIssued(Fixture.generation, Fixture.issuance), at: now, jitter: 0.5)
        #expect(machine.state.deadline == now.wall + .seconds(2380))
        #expect(machine.state.accessToken?.expiresAt(at: now) == now.wall + .seconds(3580))
    }

    @Test func `a missing refresh token means that the old one stays`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        _ = machine.handle(.tokensIssued(Fixture.generation, Issuance(lifetime: nil)), at: start, jitter: 0.5)
        #expect(machine.state.generation == Fixture.generation)
        #expect(machine.state.previous == nil)
        #expect(machine.state.accessToken?.lifetime == RefreshRule.assumedLifetime)
    }

    @Test func `a success forgets all failures`() {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        (state.failures, state.refusals, state.isOutcomeUnknown, state.hasRefreshed) = (4, 1, true, false)
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        _ = machine.handle(.tokensIssued(Fixture.generation, Fixture.issuance), at: start, jitter: 0)
        #expect(machine.state.failures == 0 && machine.state.refusals == 0)
        #expect(!machine.state.isOutcomeUnknown && machine.state.hasRefreshed)
    }

    // MARK: refreshFailed

    @Test(
        arguments: [
            (.unreachable, .transient), (.unanswered, .transient), (.unavailable, .transient),
            (.misconfigured, .misconfigured), (.untrusted, .misconfigured), (.rejected, .confirming),
            (.grantEnded, nil), (.userRequired, nil),
        ] as [(FailureClass, BackOff.Kind?)]
    )
    func `a failure backs off, or calls the user, by its class`(failureClass: FailureClass, kind: BackOff.Kind?) {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let event = Event.refreshFailed(Fixture.generation, Fixture.failure(failureClass))
        let effects = machine.handle(event, at: start, jitter: 0)
        #expect(effects.count == 2 && effects.first == .persist(.unchanged))
        #expect(machine.state.phase.backOffKind == kind)
        #expect((machine.state.deadline == nil) == (kind == nil))
        #expect(machine.state.accessToken != nil)
        #expect(machine.state.isOutcomeUnknown == (failureClass == .unanswered))
    }

    @Test(arguments: MachineFixture.phases, FailureClass.allCases)
    func `a failure changes nothing unless a refresh is under way`(phase: Phase, failureClass: FailureClass) {
        if case .refreshing = phase { return }
        var machine = Fixture.machine(phase)
        let before = machine.state
        #expect(
            machine.handle(.refreshFailed(Fixture.generation, Fixture.failure(failureClass)), at: start, jitter: 0)
                == []
        )
        #expect(machine.state == before)
    }

    @Test func `a failure of another generation is dropped and told`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let event = Event.refreshFailed(Generation(4), Fixture.failure(.grantEnded))
        #expect(machine.handle(event, at: start, jitter: 0) == [.publish(.staleAnswerDropped(Generation(4)))])
    }

    @Test func `a bare refusal is believed the second time`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, .rejected, at: start)
        #expect(machine.state.phase.backOffKind == .confirming)
        refuse(&machine, .rejected, at: start.later(.seconds(30)))
        #expect(reason(machine) == .rejectedWithoutReason)
    }

    @Test func `a bare refusal before any success is a misconfiguration`() {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        state.hasRefreshed = false
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        refuse(&machine, .rejected, at: start)
        #expect(machine.state.phase.backOffKind == .misconfigured)
        #expect(machine.state.shown(at: start) == .misconfigured)
    }

    @Test func `after a lost answer the end of the grant is believed the second time`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, .unanswered, at: start)
        refuse(&machine, .grantEnded, at: start.later(.seconds(2)))
        #expect(machine.state.phase.backOffKind == .confirming)
        refuse(&machine, .grantEnded, at: start.later(.seconds(40)))
        #expect(reason(machine) == .outcomeUnknown)
    }

    @Test func `a lost answer is asked for within two seconds, however long the wait had grown`() {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        state.failures = 12
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        refuse(&machine, .unanswered, at: start)
        #expect(machine.state.deadline.map { $0 - start.wall } == .seconds(1.5))
        refuse(&machine, .unanswered, at: start.later(.seconds(2)))
        #expect(machine.state.deadline.map { $0 - start.later(.seconds(2)).wall } == .seconds(225))
    }

    @Test(arguments: [Duration.seconds(10), nil])
    func `the previous refresh token is tried only within a known grace`(grace: Duration?) {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        state.previous = PreviousRefreshToken(generation: Generation(4), replacedAt: start)
        var machine = RefreshMachine(state: state, policy: RefreshPolicy(rotationGrace: grace))
        let now = start.later(.seconds(9))
        let effects = refuse(&machine, .grantEnded, at: now)
        if grace == nil {
            #expect(reason(machine) == .grantEnded)
        } else {
            #expect(effects == Fixture.begin(at: now, generation: Generation(4)))
            let event = Event.tokensIssued(Generation(4), Fixture.issuance)
            #expect(machine.handle(event, at: now, jitter: 0).first == .persist(.store))
            #expect(machine.state.generation == Generation(6))
        }
    }

    @Test(
        arguments: [
            (Duration.seconds(60), BackOff.Kind.serverAsked, Duration.seconds(60)),
            (.seconds(9000), .serverAsked, .seconds(3600)),
            (.milliseconds(500), .transient, .seconds(1)),
        ]
    )
    func `Retry-After is kept, up to an hour`(asked: Duration, kind: BackOff.Kind, delay: Duration) {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let failure = Fixture.failure(.unavailable, retryAfter: asked)
        _ = machine.handle(.refreshFailed(Fixture.generation, failure), at: start, jitter: 0)
        #expect(machine.state.phase.backOffKind == kind)
        #expect(machine.state.deadline == start.wall + delay)
    }

    // MARK: private

    /// Lets a refresh of the present generation fail, starting it first if need be.
    @discardableResult
    private func refuse(_ machine: inout RefreshMachine, _ failureClass: FailureClass, at now: Moment) -> [Effect] {
        if machine.state.phase.isBackingOff { _ = machine.handle(.deadlineReached, at: now, jitter: 0.5) }
        return machine.handle(.refreshFailed(Fixture.generation, Fixture.failure(failureClass)), at: now, jitter: 0.5)
    }

    private func reason(_ machine: RefreshMachine) -> InteractionReason? {
        if case .interactionRequired(let interaction) = machine.state.phase { interaction.reason } else { nil }
    }
}
