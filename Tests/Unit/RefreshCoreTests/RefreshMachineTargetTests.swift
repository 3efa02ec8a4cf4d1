@testable import RefreshCore
import Testing

/// Token targets use the account's refresh token, but their answers never decide about its grant.
struct RefreshMachineTargetTests {
    private typealias Fixture = MachineFixture

    private let start = MachineFixture.start
    private let target: TokenTarget

    init() throws {
        target = try TokenTarget(scopes: ["mail"])
    }

    private func begin(at now: Moment) -> [Effect] {
        [.persist(.unchanged), .send(Lease(generation: Fixture.generation, startedAt: now), for: target)]
    }

    /// An account with a request for the target in flight.
    private func asking() -> RefreshMachine {
        var machine = Fixture.machine(.scheduled)
        _ = machine.handle(.demand(.targetNeeded(target)), at: start, jitter: 0)
        return machine
    }

    @Test func `a target is requested with a lease like any other`() {
        var machine = Fixture.machine(.scheduled)
        let now = start.later(.seconds(5))
        #expect(machine.handle(.demand(.targetNeeded(target)), at: now, jitter: 0) == begin(at: now))
        #expect(machine.state.phase == .refreshing(Lease(generation: Fixture.generation, startedAt: now)))
        #expect(machine.state.deadline == now.wall + Lease.duration)
    }

    @Test(
        arguments: [
            (Phase.signedOut, false), (.refreshing(MachineFixture.lease), false),
            (.interactionRequired(MachineFixture.interaction), false),
        ] + BackOff.Kind.allCases.map { (.backingOff(MachineFixture.backOff($0)), $0 == .transient) }
    )
    func `if the account has a problem, its own refresh goes first, if one may start`(phase: Phase, starts: Bool) {
        var machine = Fixture.machine(phase)
        let now = start.later(.seconds(2))
        #expect(
            machine.handle(.demand(.targetNeeded(target)), at: now, jitter: 0) == (starts ? Fixture.begin(at: now) : [])
        )
    }

    @Test func `a refresh that is due goes first`() {
        var machine = Fixture.machine(.scheduled)
        let now = start.later(.seconds(2400))
        #expect(machine.handle(.demand(.targetNeeded(target)), at: now, jitter: 0) == Fixture.begin(at: now))
    }

    @Test func `a target's answer rotates the grant and does not change the account's own token`() throws {
        var machine = asking()
        let own = machine.state.accessToken
        let effects = machine.handle(
            .answer(.targetIssued(target, Fixture.generation, Fixture.issuance)),
            at: start.later(.seconds(1)),
            jitter: 0.5
        )
        let times = AccessTokenTimes(issuedAt: start, lifetime: .seconds(3600), refreshAfter: .seconds(2400))
        #expect(effects == [.persist(.storeTarget(target, times)), .publish(.targetRefreshed(target))])
        #expect(machine.state.generation == Fixture.generation.next)
        #expect(machine.state.previous?.generation == Fixture.generation)
        #expect(machine.state.accessToken == own)
        #expect(machine.state.phase == .scheduled)
        #expect(machine.state.deadline == start.wall + .seconds(2400))
    }

    @Test func `a target's answer after the end of its lease is stored`() {
        var machine = asking()
        _ = machine.handle(.host(.deadlineReached), at: start.later(Lease.duration), jitter: 0)
        #expect(machine.state.isOutcomeUnknown)
        let effects = machine.handle(
            .answer(.targetIssued(target, Fixture.generation, Fixture.issuance)),
            at: start.later(.seconds(46)),
            jitter: 0
        )
        #expect(effects.count == 2)
        #expect(machine.state.generation == Fixture.generation.next)
        #expect(!machine.state.isOutcomeUnknown)
    }

    @Test func `an answer for a target of an earlier grant is dropped`() {
        var machine = asking()
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: nil)), at: start, jitter: 0)
        let effects = machine.handle(
            .answer(.targetIssued(target, Fixture.generation, Fixture.issuance)),
            at: start,
            jitter: 0
        )
        #expect(effects == [.publish(.staleAnswerDropped(Fixture.generation))])
    }

    @Test(arguments: [FailureClass.misconfigured, .rejected, .userRequired, .unavailable, .unreachable])
    func `a refusal of a target concerns its callers only`(failureClass: FailureClass) {
        let before = Fixture.machine(.scheduled).state
        var machine = asking()
        let failure = Fixture.failure(failureClass)
        let effects = machine.handle(.answer(.targetFailed(target, Fixture.generation, failure)), at: start, jitter: 0)
        #expect(effects == [.persist(.unchanged), .publish(.targetFailed(target, failure))])
        #expect(machine.state == before)
    }

    @Test(arguments: [FailureClass.misconfigured, .rejected, .userRequired, .unavailable, .unreachable])
    func `a refusal of claims says nothing about the grant`(failureClass: FailureClass) {
        let before = Fixture.machine(.scheduled).state
        var machine = Fixture.machine(.scheduled)
        _ = machine.handle(.demand(.refreshRequested), at: start, jitter: 0)
        let failure = Fixture.failure(failureClass)
        #expect(
            machine.handle(.answer(.demandRefused(Fixture.generation, failure)), at: start, jitter: 0) == [
                .persist(.unchanged)
            ]
        )
        #expect(machine.state == before)
    }

    @Test(arguments: [FailureClass.unavailable, .unreachable])
    func `a server that fails on requested claims gets time if the token is due`(
        failureClass: FailureClass
    ) {
        let now = start.later(.seconds(2 * 3_600))
        var machine = Fixture.machine(.scheduled)
        _ = machine.handle(.host(.deadlineReached), at: now, jitter: 0)
        let effects = machine.handle(
            .answer(.demandRefused(Fixture.generation, Fixture.failure(failureClass))),
            at: now,
            jitter: 0
        )
        #expect(effects.first == .persist(.unchanged))
        guard case .backingOff = machine.state.phase else {
            Issue.record("\(machine.state.phase)")
            return
        }
        #expect(machine.state.deadline.map { $0 > now.wall } == true)
    }

    @Test func `whether the grant has ended is asked without claims`() {
        var machine = Fixture.machine(.scheduled)
        _ = machine.handle(.demand(.refreshRequested), at: start, jitter: 0)
        let now = start.later(.seconds(1))
        let lease = Lease(generation: Fixture.generation, startedAt: now)
        let event = Event.answer(.demandRefused(Fixture.generation, Fixture.failure(.grantEnded)))
        #expect(machine.handle(event, at: now, jitter: 0) == [.persist(.unchanged), .send(lease)])
    }

    @Test func `whether the grant has ended is asked without the target`() {
        var machine = asking()
        let failure = Fixture.failure(.grantEnded)
        let now = start.later(.seconds(1))
        let lease = Lease(generation: Fixture.generation, startedAt: now)
        #expect(
            machine.handle(.answer(.targetFailed(target, Fixture.generation, failure)), at: now, jitter: 0)
                == [.persist(.unchanged), .publish(.targetFailed(target, failure)), .send(lease)]
        )
        var good = machine
        _ = good.handle(.answer(.tokensIssued(Fixture.generation, Fixture.issuance)), at: now, jitter: 0)
        #expect(good.state.phase == .scheduled)
        _ = machine.handle(.answer(.refreshFailed(Fixture.generation, failure)), at: now, jitter: 0)
        #expect(
            machine.state.phase
                == .interactionRequired(
                    InteractionRequired(reason: .grantEnded, since: now.wall, failure: failure, attemptedAt: now)
                )
        )
    }

    @Test func `after a lost answer for a target the account's own refresh follows soon`() {
        var machine = RefreshMachine(state: asking().state, policy: RefreshPolicy(rotationGrace: .seconds(60)))
        let failure = Fixture.failure(.unanswered)
        _ = machine.handle(.answer(.targetFailed(target, Fixture.generation, failure)), at: start, jitter: 0)
        #expect(machine.state.isOutcomeUnknown)
        #expect(machine.state.deadline == start.wall + .seconds(1))
        let now = start.later(.seconds(2))
        #expect(machine.handle(.demand(.targetNeeded(target)), at: now, jitter: 0) == Fixture.begin(at: now))
    }

    @Test func `a server that asks for a pause gets no request during it`() {
        var machine = asking()
        let failure = Fixture.failure(.unavailable, retryAfter: .seconds(600))
        _ = machine.handle(.answer(.targetFailed(target, Fixture.generation, failure)), at: start, jitter: 0)
        #expect(machine.state.phase.backOffKind == .serverAsked)
        #expect(machine.handle(.demand(.targetNeeded(target)), at: start.later(.seconds(599)), jitter: 0) == [])
    }

    @Test func `a rejected token of a target is erased, and replaced if a request may start`() {
        var machine = Fixture.machine(.scheduled)
        #expect(
            machine.handle(.demand(.targetRejected(target)), at: start, jitter: 0)
                == [.persist(.eraseTarget(target)), .send(Fixture.lease, for: target)]
        )
        #expect(
            machine.handle(.demand(.targetRejected(target)), at: start, jitter: 0) == [.persist(.eraseTarget(target))]
        )
    }
}
