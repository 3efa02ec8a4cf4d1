@testable import RefreshCore
import Testing

/// The effects of the server's answers, in each phase.
@Suite struct RefreshMachineAnswerTests {
    private typealias Fixture = MachineFixture

    private let start = MachineFixture.start

    // MARK: tokensIssued

    @Test(arguments: MachineFixture.phases) func `tokens of the current generation are stored in every phase`(
        phase: Phase
    ) {
        var machine = Fixture.machine(phase)
        let now = start.later(.seconds(60))
        let event = Event.answer(.tokensIssued(Fixture.generation, Fixture.issuance))
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
        let event = Event.answer(.tokensIssued(stale, Fixture.issuance))
        #expect(machine.handle(event, at: start, jitter: 0) == [.publish(.staleAnswerDropped(stale))])
        #expect(machine.state == before)
    }

    @Test func `lifetime and grace period count from the start of the request`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        _ = machine.handle(
            .answer(.tokensIssued(Fixture.generation, Fixture.issuance)),
            at: start.later(.seconds(20)),
            jitter: 0.5
        )
        #expect(machine.state.accessToken?.issuedAt == start)
        #expect(machine.state.previous?.replacedAt == start)
        #expect(machine.state.deadline == start.wall + .seconds(2400))
    }

    @Test func `a lifetime learned later applies only to the token that was asked about`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let answer = Issuance(lifetime: nil, isRotated: true)
        _ = machine.handle(
            .answer(.tokensIssued(Fixture.generation, answer)),
            at: start.later(.seconds(20)),
            jitter: 0.5
        )
        #expect(machine.state.accessToken?.basis == .notStated)
        let before = machine.state
        let now = start.later(.seconds(30))
        #expect(machine.handle(.lifetimeLearned(.seconds(570), issuedAt: now), at: now, jitter: 0.5) == [])
        #expect(machine.state == before)
        let learned = Event.lifetimeLearned(.seconds(570), issuedAt: start)
        #expect(machine.handle(learned, at: now, jitter: 0.5) == [.persist(.unchanged)])
        #expect(machine.state.accessToken?.lifetime == .seconds(600))
        #expect(machine.state.accessToken?.basis == .stated)
        #expect(machine.state.deadline == start.wall + .seconds(400))
        // A lifetime that the answer stated is not replaced.
        #expect(machine.handle(learned, at: now.later(.seconds(1)), jitter: 0.5) == [])
    }

    @Test func `a clock set back during the request does not delay the next refresh`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let now = start.later(.seconds(20)).stepped(.seconds(-365 * 86_400))
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, Fixture.issuance)), at: now, jitter: 0.5)
        #expect(machine.state.deadline == now.wall + .seconds(2380))
        #expect(machine.state.accessToken?.expiresAt(at: now) == now.wall + .seconds(3580))
    }

    @Test func `a missing refresh token means that the old one stays`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, Issuance(lifetime: nil))), at: start, jitter: 0.5)
        #expect(machine.state.generation == Fixture.generation)
        #expect(machine.state.previous == nil)
        #expect(machine.state.accessToken?.lifetime == RefreshRule.assumedLifetime)
    }

    @Test func `a success forgets all failures`() {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        (state.failures, state.refusals, state.isOutcomeUnknown, state.hasWorked) = (4, 1, true, false)
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, Fixture.issuance)), at: start, jitter: 0)
        #expect(machine.state.failures == 0 && machine.state.refusals == 0)
        #expect(!machine.state.isOutcomeUnknown && machine.state.hasWorked)
    }

    @Test
    func `an answer with an expired token is stored, and another token is requested later`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        for (failures, delay) in [(1, 1.5), (2, 3.0)] {
            let event = Event.answer(
                .tokensIssued(machine.state.generation, Issuance(lifetime: .zero, isRotated: true))
            )
            let effects = machine.handle(event, at: start, jitter: 0.5)
            #expect(effects.first == .persist(.storeGrant))
            #expect(machine.state.failures == failures && machine.state.hasWorked)
            #expect(machine.state.deadline == start.wall + .seconds(delay))
            #expect(machine.state.shown(at: start) == .retrying)
            // The previous token is still valid.
            #expect(machine.state.accessToken == Fixture.machine(.scheduled).state.accessToken)
        }
        #expect(machine.state.generation == Generation(7))
    }

    @Test func `an unbound token is not used, its refresh token is stored, and a person is told`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let answer = Issuance(lifetime: .seconds(3600), isRotated: true, flaw: .unbound)
        let effects = machine.handle(.answer(.tokensIssued(Fixture.generation, answer)), at: start, jitter: 0.5)
        let retryAt = start.wall + .seconds(225)
        #expect(
            effects == [
                .persist(.storeGrant), .publish(.misconfigured(AccessTokenFinding.unbound.failure, retryAt: retryAt)),
            ]
        )
        #expect(machine.state.shown(at: start) == .misconfigured)
        #expect(machine.state.generation == Fixture.generation.next)
        #expect(machine.state.accessToken == Fixture.machine(.scheduled).state.accessToken)
        _ = machine.handle(.demand(.refreshRequested), at: start, jitter: 0.5)
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation.next, Fixture.issuance)), at: start, jitter: 0.5)
        #expect(machine.state.phase == .scheduled)
    }

    @Test(arguments: [AccessTokenFinding.missing, .unsendable])
    func `without a usable access token the new refresh token is stored, and the server is asked again`(
        _ flaw: AccessTokenFinding
    ) throws {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let answer = Issuance(lifetime: nil, isRotated: true, flaw: flaw)
        let effects = machine.handle(.answer(.tokensIssued(Fixture.generation, answer)), at: start, jitter: 0.5)
        let retryAt = try #require(machine.state.deadline)
        #expect(effects == [.persist(.storeGrant), .publish(.refreshFailed(flaw.failure, retryAt: retryAt))])
        #expect(machine.state.generation == Fixture.generation.next)
        #expect(machine.state.shown(at: start) == .retrying)
        #expect(machine.state.accessToken == Fixture.machine(.scheduled).state.accessToken)
    }

    @Test func `an unbound token of a target is not used, and the account continues`() throws {
        let target = try TokenTarget(scopes: ["mail"])
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let answer = Issuance(lifetime: .seconds(3600), isRotated: true, flaw: .unbound)
        let effects = machine.handle(.answer(.targetIssued(target, Fixture.generation, answer)), at: start, jitter: 0.5)
        let failure = AccessTokenFinding.unbound.failure
        #expect(effects == [.persist(.storeGrant), .publish(.targetFailed(target, failure))])
        #expect(machine.state.phase == .scheduled)
        #expect(machine.state.generation == Fixture.generation.next)
    }

    @Test func `tokens of another person are stored, nobody gets any, and a person is told whose they are`() throws {
        let target = try TokenTarget(scopes: ["mail"])
        for event in [
            Event.answer(.tokensIssued(Fixture.generation, Self.others)),
            .answer(.targetIssued(target, Fixture.generation, Self.others)),
        ] {
            var machine = Fixture.machine(.refreshing(Fixture.lease))
            let effects = machine.handle(event, at: start, jitter: 0.5)
            #expect(effects.first == .persist(.storeGrant) && effects.count == 2)
            let interaction = try #require(machine.state.interaction)
            #expect(interaction.reason == .otherPerson)
            #expect(interaction.failure.detail.summary.contains("'mallory'"))
            #expect(effects.last == .publish(.interactionRequired(interaction)))
            #expect(machine.state.generation == Fixture.generation.next)
            #expect(machine.state.accessToken == nil && machine.state.isWithheld)
            #expect(machine.handle(.demand(.tokenNeeded), at: start.later(.seconds(86_400)), jitter: 0.5) == [])
            // The next answer for the account's own person ends it.
            let later = start.later(.seconds(60))
            _ = machine.handle(.demand(.refreshRequested), at: later, jitter: 0.5)
            #expect(machine.state.isWithheld)
            for failure in [FailureClass.unanswered, .unreachable, .userRequired] {
                let failed = Event.answer(.refreshFailed(Fixture.generation.next, Fixture.failure(failure)))
                _ = machine.handle(failed, at: later, jitter: 0.5)
                #expect(machine.state.isWithheld)
                _ = machine.handle(.demand(.refreshRequested), at: later.later(.seconds(60)), jitter: 0.5)
            }
            let own = Issuance(lifetime: .seconds(3600), person: .own)
            _ = machine.handle(.answer(.tokensIssued(Fixture.generation.next, own)), at: later, jitter: 0.5)
            #expect(machine.state.phase == .scheduled && !machine.state.isWithheld)
            #expect(machine.state.accessToken != nil)
        }
    }

    private static let others = Issuance(lifetime: .seconds(3600), isRotated: true, person: .other("mallory"))

    /// An account whose last answer brought the tokens of another person.
    private func withheld() -> RefreshMachine {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, Self.others)), at: start, jitter: 0.5)
        return machine
    }

    @Test func `after another person's tokens, an answer that names nobody gives nobody a token`() throws {
        let target = try TokenTarget(scopes: ["mail"])
        let later = start.later(.seconds(60))
        let expired = Issuance(lifetime: .zero)
        let unbound = Issuance(lifetime: .seconds(3600), flaw: .unbound)
        for issuance in [Fixture.issuance, expired, unbound] {
            for target in [nil, target] {
                var machine = withheld()
                _ = machine.handle(.demand(.refreshRequested), at: later, jitter: 0.5)
                let generation = machine.state.generation
                let effects = machine.handle(
                    target.map { .answer(.targetIssued($0, generation, issuance)) }
                        ?? .answer(.tokensIssued(generation, issuance)),
                    at: later,
                    jitter: 0.5
                )
                #expect(effects.first == .persist(.storeGrant))
                #expect(machine.state.isWithheld && machine.state.accessToken == nil)
                #expect(machine.state.interaction?.reason == .otherPerson)
                #expect(machine.state.shown(at: later) == .interactionRequired)
                #expect(machine.state.givable(at: later) == nil)
            }
        }
    }

    @Test func `parking and resuming an account does not end that it is withheld`() {
        var machine = withheld()
        _ = machine.handle(.owner(.parked), at: start, jitter: 0.5)
        #expect(machine.state.phase == .parked(.moved) && machine.state.isWithheld)
        let effects = machine.handle(.owner(.unparked), at: start, jitter: 0.5)
        #expect(effects.prefix(2) == [.persist(.unchanged), .publish(.unparked)])
        #expect(machine.state.interaction?.reason == .otherPerson && machine.state.isWithheld)
        #expect(machine.state.deadline == nil, "no request of its own")
        _ = machine.handle(.demand(.refreshRequested), at: start, jitter: 0.5)
        #expect(machine.state.interaction?.reason == .otherPerson)
    }

    @Test func `a new grant ends that an account is withheld, whether or not it can refresh`() {
        let token = Issuance(lifetime: .seconds(3600))
        for event in [
            Event.grant(.imported(refreshTokenLifetime: nil)), .grant(.proved(token, sentAt: start)),
            .grant(.obtained(token, hasRefreshToken: true, sentAt: start)),
            .grant(.accessTokenObtained(token, sentAt: start)),
        ] {
            for isParked in [false, true] {
                var machine = withheld()
                if isParked { _ = machine.handle(.owner(.parked), at: start, jitter: 0.5) }
                let effects = machine.handle(event, at: start, jitter: 0.5)
                // The other person's refresh token goes, too.
                #expect(effects.first == .persist(.replace), "\(event)")
                #expect(!machine.state.isWithheld && machine.state.phase == .scheduled, "\(event)")
            }
        }
    }

    @Test func `a token that the server repeats is requested again when it expires`() {
        var machine = Fixture.machine(
            .refreshing(Lease(generation: Fixture.generation, startedAt: start.later(.seconds(2400))))
        )
        let now = start.later(.seconds(2401))
        _ = machine.handle(
            .answer(.tokensIssued(Fixture.generation, Issuance(lifetime: .seconds(1199)))),
            at: now,
            jitter: 0.5
        )
        #expect(machine.state.deadline == start.wall + .seconds(2400 + 1199))
        // A new token is refreshed by the rule.
        _ = machine.handle(
            .answer(.tokensIssued(Fixture.generation, Issuance(lifetime: .seconds(3600)))),
            at: now,
            jitter: 0.5
        )
        #expect(machine.state.deadline == now.wall + .seconds(2400))
    }

    @Test func `the origin of a lifetime is stored`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let unreadable = Issuance(lifetime: nil, lifetimeBasis: .unreadable)
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, unreadable)), at: start, jitter: 0.5)
        #expect(machine.state.accessToken?.basis == .unreadable)
        #expect(machine.state.accessToken?.lifetime == RefreshRule.assumedLifetime)
    }

    // MARK: refreshFailed

    @Test(
        arguments: [
            (.unreachable, .transient), (.unanswered, .doubtful), (.unavailable, .transient),
            (.misconfigured, .misconfigured), (.untrusted, .misconfigured), (.rejected, .transient),
            (.refusedByGateway, .transient),
            (.grantEnded, nil), (.userRequired, nil),
        ] as [(FailureClass, BackOff.Kind?)]
    )
    func `a failure backs off or calls the user, depending on its class`(
        failureClass: FailureClass,
        kind: BackOff.Kind?
    ) {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let event = Event.answer(.refreshFailed(Fixture.generation, Fixture.failure(failureClass)))
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
            machine.handle(
                .answer(.refreshFailed(Fixture.generation, Fixture.failure(failureClass))),
                at: start,
                jitter: 0
            )
                == []
        )
        #expect(machine.state == before)
    }

    @Test func `callers in a loop do not shorten the wait after a 429 without Retry-After`() {
        let throttled = RefreshFailure(.unavailable, detail: FailureDetail(summary: "a test failure", httpStatus: 429))
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        var requests = 0
        for tenths in 0..<300 {
            let now = start.later(.milliseconds(Int64(tenths) * 100))
            if case .refreshing(let lease) = machine.state.phase {
                _ = machine.handle(.answer(.refreshFailed(lease.generation, throttled)), at: now, jitter: 0)
            }
            for event in [
                Event.demand(.tokenNeeded), .demand(.refreshRequested), .host(.connectivityRestored),
                .host(.deadlineReached),
            ] {
                let effects = machine.handle(event, at: now, jitter: 0)
                requests += effects.count { if case .send = $0 { true } else { false } }
            }
        }
        #expect(requests == 4, "pauses of 2, 2, 4, 8 and 16 s")
    }

    @Test func `a failure of another generation is dropped and reported`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let event = Event.answer(.refreshFailed(Generation(4), Fixture.failure(.grantEnded)))
        #expect(machine.handle(event, at: start, jitter: 0) == [.publish(.staleAnswerDropped(Generation(4)))])
    }

    @Test(
        arguments: [
            (FailureClass.rejected, 403, 600.0), (.rejected, 401, 3600), (.refusedByGateway, 403, 86_400),
            (.misconfigured, 302, 3600), (.misconfigured, 404, 3600), (.misconfigured, 413, 3600),
            (.misconfigured, 401, 3600),
        ]
    )
    func `a refusal of what worked is an outage until three equal ones over enough time`(
        failureClass: FailureClass,
        status: Int,
        time: Double
    ) {
        let detail = FailureDetail(summary: "a test failure", httpStatus: status)
        let failure = RefreshFailure(failureClass, detail: detail)
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, failure, at: start)
        refuse(&machine, failure, at: start.later(.seconds(1)))
        let late = start.later(.seconds(time - 1))
        refuse(&machine, failure, at: late)
        #expect(machine.state.phase.backOffKind == .transient)
        #expect(machine.state.shown(at: late) == .retrying)
        #expect(machine.state.refusal?.since == start)
        #expect(machine.handle(.demand(.tokenNeeded), at: late.later(BackOffRule.callerInterval), jitter: 0).count == 2)
        refuse(&machine, failure, at: start.later(.seconds(time)))
        if failureClass == .misconfigured {
            #expect(machine.state.shown(at: start) == .misconfigured)
        } else {
            #expect(reason(machine) == .rejectedWithoutReason)
        }
    }

    @Test func `what this machine cannot do is a misconfiguration at once, even if it worked before`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, .misconfigured, at: start)
        #expect(machine.state.shown(at: start) == .misconfigured)
    }

    // MARK: policies of a place

    @Test func `a policy that refuses here is tried in another network, every five minutes for callers, and hourly`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, .refusedHere, at: start)
        #expect(reason(machine) == .userRequired)
        #expect(machine.state.deadline.map { $0 > start.wall + .seconds(3599) } == true)
        #expect(machine.handle(.demand(.tokenNeeded), at: start.later(.seconds(299)), jitter: 0) == [])
        var called = machine
        #expect(called.handle(.demand(.tokenNeeded), at: start.later(.seconds(300)), jitter: 0).count == 2)

        // The accounts of one place do not all ask at once, and wait for their turn as due accounts do.
        #expect(
            machine.handle(.host(.deadlineReached), at: start.later(.seconds(10)), jitter: 0) == [.persist(.unchanged)]
        )
        let restored = start.later(.seconds(10))
        #expect(machine.handle(.host(.connectivityRestored), at: restored, jitter: 0.5) == [.persist(.unchanged)])
        let now = restored.later(.seconds(1))
        #expect(machine.state.deadline == now.wall)
        #expect(
            machine.handle(.host(.connectivityRestored), at: restored, jitter: 0.9) == [],
            "one attempt for each network"
        )
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0).count == 2)
        let again = machine.handle(
            .answer(.refreshFailed(Fixture.generation, Fixture.failure(.refusedHere))),
            at: now,
            jitter: 0
        )
        guard case .publish(.interactionStillRequired(let interaction, _))? = again.last else {
            Issue.record("the person is called twice")
            return
        }
        #expect(interaction.since == start.wall)
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == [.persist(.unchanged)])
        #expect(machine.handle(.host(.connectivityRestored), at: now.later(.seconds(1)), jitter: 0) == [])
        for event in [Event.host(.connectivityRestored), .host(.deadlineReached)] {
            _ = machine.handle(event, at: now.later(.seconds(2)), jitter: 0)
        }
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, Fixture.issuance)), at: now, jitter: 0)
        #expect(machine.state.phase == .scheduled && machine.state.interaction == nil)
    }

    @Test(arguments: [FailureClass.grantEnded, .userRequired, .rejected])
    func `another network changes nothing about other refusals`(failureClass: FailureClass) {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        for time in [0.0, 300, 600] { refuse(&machine, failureClass, at: start.later(.seconds(time))) }
        #expect(machine.state.interaction != nil)
        #expect(machine.handle(.host(.connectivityRestored), at: start.later(.seconds(700)), jitter: 0) == [])
    }

    // MARK: invalid_grant against all that is known

    /// The arguments are the access token's lifetime and the age of the tokens, in seconds. The last token is due.
    @Test(arguments: [(3600.0, 1.0, true), (3600, 299, true), (3600, 300, false), (300, 100, true), (300, 200, false)])
    func `invalid_grant is confirmed once if the server has just issued the refresh token`(
        lifetime: Double,
        age: Double,
        isDoubted: Bool
    ) {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let issuance = Issuance(lifetime: .seconds(lifetime), isRotated: true)
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, issuance)), at: start, jitter: 0.5)
        let now = start.later(.seconds(age))
        let refused = Event.answer(.refreshFailed(machine.state.generation, Fixture.failure(.grantEnded)))
        _ = machine.handle(.demand(.refreshRequested), at: now, jitter: 0)
        _ = machine.handle(refused, at: now, jitter: 0)
        #expect(machine.state.phase.backOffKind == (isDoubted ? .confirming : nil))
        guard isDoubted else {
            #expect(reason(machine) == .grantEnded)
            return
        }
        #expect(machine.handle(.demand(.tokenNeeded), at: now.later(.seconds(2)), jitter: 0) == [])
        let again = now.later(.seconds(30))
        #expect(machine.handle(.host(.deadlineReached), at: again, jitter: 0).count == 2)
        _ = machine.handle(refused, at: again, jitter: 0)
        #expect(reason(machine) == .grantEnded)
    }

    @Test func `invalid_grant for a refresh token that the server leaves as it is needs the person at once`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        answer(&machine, isRotated: false)
        _ = machine.handle(.demand(.refreshRequested), at: start.later(.seconds(1)), jitter: 0)
        refuse(&machine, .grantEnded, at: start.later(.seconds(1)))
        #expect(reason(machine) == .grantEnded)
    }

    @Test func `two refusals without a reason are not enough, however far apart`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, .rejected, at: start)
        refuse(&machine, .rejected, at: start.later(.seconds(7200)))
        #expect(machine.state.phase.backOffKind == .transient)
    }

    @Test func `a lost answer or another refusal in between restarts the count`() {
        for failureClass in [FailureClass.unanswered, .refusedByGateway] {
            var machine = Fixture.machine(.refreshing(Fixture.lease))
            refuse(&machine, .rejected, at: start)
            refuse(&machine, .rejected, at: start.later(.seconds(300)))
            refuse(&machine, failureClass, at: start.later(.seconds(500)))
            refuse(&machine, .rejected, at: start.later(.seconds(700)))
            refuse(&machine, .rejected, at: start.later(.seconds(800)))
            refuse(&machine, .rejected, at: start.later(.seconds(1299)))
            #expect(machine.state.phase.backOffKind == .transient)
            refuse(&machine, .rejected, at: start.later(.seconds(1300)))
            #expect(reason(machine) == .rejectedWithoutReason)
        }
    }

    @Test func `a server that is away in between changes nothing about a refusal`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        for (time, failureClass) in [(0.0, FailureClass.rejected), (300, .unavailable), (400, .rejected)] {
            refuse(&machine, failureClass, at: start.later(.seconds(time)))
        }
        refuse(&machine, .rejected, at: start.later(.seconds(600)))
        #expect(reason(machine) == .rejectedWithoutReason)
    }

    // MARK: while a person is called

    @Test func `an account refused without a reason is tried every hour until it is fresh again`() {
        var machine = refusedMachine()
        let called = start.later(.seconds(600))
        #expect(machine.state.deadline.map { $0 - called.wall } == .seconds(3780))
        #expect(
            machine.handle(.host(.deadlineReached), at: called.later(.seconds(3599)), jitter: 0) == [
                .persist(.unchanged)
            ]
        )
        let now = called.later(.seconds(3600))
        let effects = machine.handle(.host(.deadlineReached), at: now, jitter: 0)
        guard case .send(let lease, for: nil)? = effects.last else {
            Issue.record("nothing is sent")
            return
        }
        #expect(machine.state.shown(at: now) == .interactionRequired)
        #expect(machine.state.interaction?.since == called.wall)

        let refusal = Event.answer(.refreshFailed(lease.generation, Fixture.failure(.rejected)))
        let told = machine.handle(refusal, at: now.later(.seconds(1)), jitter: 0)
        guard case .publish(.interactionStillRequired(let interaction, _))? = told.last else {
            Issue.record("the person is called twice")
            return
        }
        #expect(interaction.since == called.wall && interaction.reason == .rejectedWithoutReason)
        #expect(machine.state.deadline == now.later(.seconds(3601)).wall)

        _ = machine.handle(.host(.deadlineReached), at: now.later(.seconds(3601)), jitter: 0)
        _ = machine.handle(
            .answer(.tokensIssued(Fixture.generation, Fixture.issuance)),
            at: now.later(.seconds(3602)),
            jitter: 0
        )
        #expect(machine.state.shown(at: now.later(.seconds(3602))) == .fresh)
        #expect(machine.state.refusal == nil && machine.state.interaction == nil)
    }

    @Test func `a caller can cause an attempt every five minutes, but not before Retry-After`() {
        var machine = refusedMachine()
        let called = start.later(.seconds(600))
        #expect(machine.handle(.demand(.tokenNeeded), at: called.later(.seconds(299)), jitter: 0) == [])
        let now = called.later(.seconds(300))
        #expect(machine.handle(.demand(.tokenNeeded), at: now, jitter: 0).count == 2)
        let busy = Fixture.failure(.unavailable, retryAfter: .seconds(900))
        _ = machine.handle(.answer(.refreshFailed(Fixture.generation, busy)), at: now, jitter: 0)
        #expect(reason(machine) == .rejectedWithoutReason)
        for event in [Event.demand(.tokenNeeded), .demand(.refreshRequested)] {
            #expect(machine.handle(event, at: now.later(.seconds(899)), jitter: 0) == [])
        }
        #expect(machine.handle(.demand(.tokenNeeded), at: now.later(.seconds(900)), jitter: 0).count == 2)
    }

    @Test func `after invalid_grant a caller can cause an attempt once an hour, and nobody is called twice`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, .grantEnded, at: start)
        #expect(reason(machine) == .grantEnded && machine.state.deadline == nil)
        #expect(machine.handle(.demand(.tokenNeeded), at: start.later(.seconds(3599)), jitter: 0) == [])
        let now = start.later(.seconds(3600))
        #expect(machine.handle(.demand(.tokenNeeded), at: now, jitter: 0).count == 2)
        #expect(machine.state.shown(at: now) == .interactionRequired)
        for failureClass in [FailureClass.unreachable, .unanswered, .misconfigured, .rejected, .grantEnded] {
            var other = machine
            let failed = Event.answer(.refreshFailed(Fixture.generation, Fixture.failure(failureClass)))
            let effects = other.handle(failed, at: now, jitter: 0)
            guard case .publish(.interactionStillRequired(let interaction, _))? = effects.last else {
                Issue.record("\(failureClass) takes the call back, or repeats it")
                continue
            }
            #expect(interaction.since == start.wall && other.state.deadline == nil)
            #expect(other.handle(.demand(.tokenNeeded), at: now.later(.seconds(3599)), jitter: 0) == [])
            #expect(other.state.isOutcomeUnknown == (failureClass == .unanswered))
        }
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, Fixture.issuance)), at: now, jitter: 0)
        #expect(machine.state.shown(at: now) == .fresh)
    }

    @Test(arguments: [Event.demand(.refreshRequested), .demand(.tokenNeeded), .host(.deadlineReached)])
    func `an account that needs a person keeps its reason through an attempt without an answer`(event: Event) {
        var machine = refusedMachine()
        let now = start.later(.seconds(600 + 3960))
        _ = machine.handle(event, at: now, jitter: 0)
        #expect(machine.state.shown(at: now) == .interactionRequired)
        var killed = machine
        _ = killed.handle(.host(.requestAbandoned(crashes: 0)), at: now, jitter: 0)
        let lost = Event.answer(.refreshFailed(Fixture.generation, Fixture.failure(.unanswered)))
        _ = machine.handle(lost, at: now, jitter: 0)
        for machine in [machine, killed] {
            #expect(reason(machine) == .rejectedWithoutReason && machine.state.isOutcomeUnknown)
            #expect(machine.state.interaction?.since == start.later(.seconds(600)).wall)
        }
    }

    @Test func `callers cause no attempt if the server requires a person`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, .userRequired, at: start)
        #expect(machine.handle(.demand(.tokenNeeded), at: start.later(.seconds(86_400)), jitter: 0) == [])
    }

    @Test func `a bare refusal before any success is a misconfiguration`() {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        state.hasWorked = false
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        refuse(&machine, .rejected, at: start)
        #expect(machine.state.phase.backOffKind == .misconfigured)
        #expect(machine.state.shown(at: start) == .misconfigured)
    }

    @Test func `after a lost answer only the second invalid_grant is believed`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        refuse(&machine, .unanswered, at: start)
        refuse(&machine, .grantEnded, at: start.later(.seconds(3240)))
        #expect(machine.state.phase.backOffKind == .confirming)
        refuse(&machine, .grantEnded, at: start.later(.seconds(3280)))
        #expect(reason(machine) == .outcomeUnknown)
    }

    @Test func `a server without rotation is asked again within two seconds, even after long waits`() {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        (state.failures, state.isRotating) = (12, false)
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        refuse(&machine, .unanswered, at: start)
        #expect(machine.state.deadline.map { $0 - start.wall } == .seconds(1.5))
        refuse(&machine, .unanswered, at: start.later(.seconds(2)))
        #expect(machine.state.deadline.map { $0 - start.later(.seconds(2)).wall } == .seconds(225))
    }

    // MARK: unanswered

    @Test(arguments: [true, nil])
    func `a possibly spent rotating token is sent as late as the access token allows`(
        isRotating: Bool?
    ) {
        var machine = unanswered(isRotating: isRotating)
        #expect(machine.state.phase.backOffKind == .doubtful)
        // A token of one hour has a reserve of six minutes.
        #expect(machine.state.deadline == start.wall + .seconds(3240))
        let early = start.later(.seconds(3239))
        for event in [Event.demand(.tokenNeeded), .host(.connectivityRestored)] {
            #expect(machine.handle(event, at: early, jitter: 0) == [])
        }
        let now = start.later(.seconds(3240))
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == Fixture.begin(at: now))
    }

    @Test func `without a valid access token, a possibly spent token is sent at once`() {
        let machine = unanswered(at: start.later(.seconds(3600)))
        #expect(machine.state.phase.backOffKind == .transient)
        #expect(machine.state.deadline == start.wall + .seconds(3601))
    }

    @Test func `a possibly spent token is sent before it expires from idleness`() {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        state.refreshToken = RefreshTokenTimes(issuedAt: start, lifetime: .seconds(1800), isExtendedByUse: true)
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        refuse(&machine, .unanswered, at: start)
        #expect(machine.state.deadline.map { $0 < start.wall + .seconds(1800) } == true)
    }

    @Test(arguments: [(50, BackOff.Kind.transient), (60, .doubtful)])
    func `within a known grace period a possibly spent token is sent at once`(seconds: Int, kind: BackOff.Kind) {
        let now = start.later(.seconds(seconds))
        let machine = unanswered(isRotating: true, grace: .seconds(60), at: now)
        #expect(machine.state.phase.backOffKind == kind)
        // Half of the ten seconds that are left, or the usual wait if that is shorter.
        if kind == .transient { #expect(machine.state.deadline == now.wall + .seconds(1)) }
    }

    @Test func `the wait before resending ends within the remaining grace period`() {
        let now = start.later(.milliseconds(59_000))
        let machine = unanswered(isRotating: true, grace: .seconds(60), at: now)
        #expect(machine.state.deadline == now.wall + .milliseconds(500))
    }

    @Test func `Retry-After with an ambiguous answer does not make a possibly spent token be sent early`() {
        var machine = unanswered(retryAfter: .seconds(20))
        #expect(machine.state.phase.backOffKind == .doubtful && machine.state.isOutcomeUnknown)
        #expect(machine.state.deadline == start.wall + .seconds(3240))
        #expect(machine.handle(.demand(.tokenNeeded), at: start.later(.seconds(3239)), jitter: 0) == [])
        let late = unanswered(retryAfter: .seconds(3300))
        #expect(late.state.phase.backOffKind == .serverAsked)
        #expect(late.state.deadline == start.wall + .seconds(3300))
    }

    @Test func `one answer with rotation proves rotation, and before the first it is unknown`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        #expect(machine.state.isRotating == nil)
        answer(&machine, isRotated: false)
        #expect(machine.state.isRotating == false)
        answer(&machine, isRotated: true)
        answer(&machine, isRotated: false)
        #expect(machine.state.isRotating == true)
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: nil)), at: start, jitter: 0)
        #expect(machine.state.isRotating == true)
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start, jitter: 0)
        #expect(machine.state.isRotating == nil)
    }

    @Test(arguments: [Duration.seconds(10), nil])
    func `the previous refresh token is tried only within a known grace period`(grace: Duration?) {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        state.previous = PreviousRefreshToken(generation: Generation(4), replacedAt: start)
        var machine = RefreshMachine(state: state, policy: RefreshPolicy(rotationGrace: grace))
        let now = start.later(.seconds(9))
        let effects = refuse(&machine, .grantEnded, at: now)
        if grace == nil {
            #expect(machine.state.phase.backOffKind == .confirming)
        } else {
            #expect(effects == Fixture.begin(at: now, generation: Generation(4)))
            let event = Event.answer(.tokensIssued(Generation(4), Fixture.issuance))
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
    func `Retry-After is respected up to an hour`(asked: Duration, kind: BackOff.Kind, delay: Duration) {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let failure = Fixture.failure(.unavailable, retryAfter: asked)
        _ = machine.handle(.answer(.refreshFailed(Fixture.generation, failure)), at: start, jitter: 0)
        #expect(machine.state.phase.backOffKind == kind)
        #expect(machine.state.deadline == start.wall + delay)
    }

    // MARK: private

    /// A machine whose request was sent at `start` and counted as unanswered at `now`.
    private func unanswered(
        isRotating: Bool? = nil,
        grace: Duration? = nil,
        retryAfter: Duration? = nil,
        at now: Moment = MachineFixture.start
    ) -> RefreshMachine {
        var state = Fixture.machine(.refreshing(Fixture.lease)).state
        state.isRotating = isRotating
        var machine = RefreshMachine(state: state, policy: RefreshPolicy(rotationGrace: grace))
        let failure = Fixture.failure(.unanswered, retryAfter: retryAfter)
        _ = machine.handle(.answer(.refreshFailed(Fixture.generation, failure)), at: now, jitter: 0)
        return machine
    }

    private func answer(_ machine: inout RefreshMachine, isRotated: Bool) {
        let issuance = Issuance(lifetime: .seconds(3600), isRotated: isRotated)
        _ = machine.handle(.answer(.tokensIssued(machine.state.generation, issuance)), at: start, jitter: 0)
    }

    /// Lets a refresh of the present generation fail. Starts the refresh first if necessary.
    @discardableResult
    private func refuse(_ machine: inout RefreshMachine, _ failureClass: FailureClass, at now: Moment) -> [Effect] {
        refuse(&machine, Fixture.failure(failureClass), at: now)
    }

    @discardableResult
    private func refuse(_ machine: inout RefreshMachine, _ failure: RefreshFailure, at now: Moment) -> [Effect] {
        if machine.state.phase.isBackingOff { _ = machine.handle(.host(.deadlineReached), at: now, jitter: 0.5) }
        if machine.state.phase.isBackingOff { _ = machine.handle(.demand(.refreshRequested), at: now, jitter: 0.5) }
        return machine.handle(.answer(.refreshFailed(machine.state.generation, failure)), at: now, jitter: 0.5)
    }

    /// A machine that called a person ten minutes after `start`.
    private func refusedMachine() -> RefreshMachine {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        for time in [0.0, 300, 600] { refuse(&machine, .rejected, at: start.later(.seconds(time))) }
        return machine
    }

    private func reason(_ machine: RefreshMachine) -> InteractionReason? {
        if case .interactionRequired(let interaction) = machine.state.phase { interaction.reason } else { nil }
    }
}
