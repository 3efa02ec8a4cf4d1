@testable import RefreshCore
import Testing

/// The effects of a sign-in, in each phase, and grants without a refresh token.
@Suite struct RefreshMachineSignInTests {
    private typealias Fixture = MachineFixture

    private let start = MachineFixture.start

    private func signedIn(
        _ phase: Phase = .signedOut,
        lifetime: Duration? = .seconds(3600),
        hasRefreshToken: Bool = true
    ) -> RefreshMachine {
        var machine = Fixture.machine(phase)
        let event = Event.grant(
            .obtained(Issuance(lifetime: lifetime), hasRefreshToken: hasRefreshToken, sentAt: start)
        )
        let effects = machine.handle(event, at: start.later(.seconds(2)), jitter: 0.5)
        #expect(effects == [.persist(.replace), .publish(.signedIn)])
        return machine
    }

    @Test(arguments: MachineFixture.phases) func `a sign-in replaces everything and is served at once, in every phase`(
        phase: Phase
    ) {
        let machine = signedIn(phase)
        #expect(machine.state.generation == Fixture.generation.next)
        #expect(machine.state.phase == .scheduled)
        #expect(machine.state.shown(at: start) == .fresh)
        #expect(machine.state.accessToken?.issuedAt == start)
        #expect(machine.state.deadline == start.wall + .seconds(2400))
        #expect(machine.state.previous == nil && machine.state.failures == 0)
    }

    @Test(arguments: [false, true])
    func `a new grant with an unbound access token is stored, and a person is told`(isProved: Bool) {
        var machine = Fixture.machine(.signedOut)
        let issuance = Issuance(lifetime: .seconds(3600), flaw: .unbound)
        let event: Event =
            isProved
            ? .grant(.proved(issuance, sentAt: start))
            : .grant(.obtained(issuance, hasRefreshToken: true, sentAt: start))
        let effects = machine.handle(event, at: start, jitter: 0.5)
        let failure = AccessTokenFinding.unbound.failure
        let told: AccountChange = .misconfigured(failure, retryAt: start.wall + .seconds(225))
        #expect(effects == [.persist(.replace), .publish(isProved ? .grantImported : .signedIn), .publish(told)])
        #expect(machine.state.accessToken == nil && machine.state.isRefreshable)
        #expect(machine.state.shown(at: start) == .misconfigured)
    }

    @Test(arguments: [FailureClass.rejected, .refusedByGateway])
    func `after exchanging a code, the way we ask is known to work`(failureClass: FailureClass) {
        var machine = RefreshMachine(state: RefreshState(), policy: RefreshPolicy())
        _ = machine.handle(
            .grant(.obtained(Issuance(lifetime: .seconds(3600)), hasRefreshToken: true, sentAt: start)),
            at: start,
            jitter: 0.5
        )
        #expect(machine.state.hasWorked)
        let due = start.later(.seconds(2400))
        _ = machine.handle(.host(.deadlineReached), at: due, jitter: 0.5)
        let failed = Event.answer(.refreshFailed(machine.state.generation, Fixture.failure(failureClass)))
        guard case .publish(.refreshFailed)? = machine.handle(failed, at: due, jitter: 0.5).last else {
            Issue.record("the refusal of a first refresh is called a misconfiguration")
            return
        }
        #expect(machine.state.shown(at: due) == .retrying)
    }

    @Test func `a late answer for the previous grant is dropped`() {
        var machine = signedIn(.refreshing(Lease(generation: Fixture.generation, startedAt: start)))
        let late = Event.answer(.tokensIssued(Fixture.generation, Issuance(lifetime: .seconds(60), isRotated: true)))
        #expect(machine.handle(late, at: start, jitter: 0) == [.publish(.staleAnswerDropped(Fixture.generation))])
    }

    @Test func `the refresh token of a sign-in is refreshed when it is due`() {
        var machine = signedIn()
        let due = start.later(.seconds(2400))
        #expect(
            machine.handle(.host(.deadlineReached), at: due, jitter: 0)
                == Fixture.begin(at: due, generation: Fixture.generation.next)
        )
    }

    @Test func `a clock set back since the code was sent does not make the token younger`() {
        var machine = Fixture.machine(.signedOut)
        let now = start.later(.seconds(5)).stepped(.seconds(-3600))
        let event = Event.grant(.obtained(Issuance(lifetime: .seconds(3600)), hasRefreshToken: true, sentAt: start))
        _ = machine.handle(event, at: now, jitter: 0.5)
        #expect(machine.state.accessToken?.issuedAt.wall == now.wall - .seconds(5))
    }

    // MARK: with an old refresh token

    private let beside = Event.grant(
        .accessTokenObtained(Issuance(lifetime: .seconds(3600)), sentAt: MachineFixture.start)
    )

    private static func calling(_ reason: InteractionReason) -> Phase {
        .interactionRequired(
            InteractionRequired(reason: reason, since: Fixture.start.wall, failure: Fixture.failure(.userRequired))
        )
    }

    private static let phasesOfGrants: [Phase] =
        [.scheduled, .refreshing(Fixture.lease), .parked(.moved), .parked(.otherMachine)]
        + [calling(.userRequired), calling(.rejectedWithoutReason)]
        + BackOff.Kind.allCases.map { .backingOff(Fixture.backOff($0)) }

    @Test(arguments: phasesOfGrants)
    func `a sign-in without a refresh token keeps the old one if it may still work`(
        phase: Phase
    ) {
        var machine = Fixture.machine(phase)
        let (before, now) = (machine.state, start.later(.seconds(2)))
        let effects = machine.handle(beside, at: now, jitter: 0.5)
        #expect(effects == [.persist(.store), .publish(.accessTokenObtained)])
        #expect(machine.state.generation == before.generation && machine.state.isRefreshable)
        #expect(machine.state.holdsAccessToken(for: .seconds(3000), at: now))
        #expect(machine.state.refreshToken == before.refreshToken && machine.state.failures == before.failures)
        guard case .interactionRequired = phase else {
            #expect(machine.state.phase == phase)
            return
        }
        // The person has done what was asked, so the grant is tried again when the token is due.
        #expect(machine.state.phase == .scheduled && machine.state.deadline == start.wall + .seconds(2400))
    }

    @Test(arguments: [.signedOut, calling(.grantEnded), calling(.outcomeUnknown), calling(.noRefreshToken)])
    func `an expired refresh token is not kept`(phase: Phase) {
        var machine = Fixture.machine(phase)
        let effects = machine.handle(beside, at: start, jitter: 0.5)
        #expect(effects == [.persist(.replace), .publish(.signedIn)])
        #expect(!machine.state.isRefreshable)
    }

    // MARK: parking

    @Test func `a parked grant is not sent until it is unparked, whoever asks`() {
        var machine = Fixture.machine(.scheduled)
        #expect(machine.handle(.owner(.parked), at: start, jitter: 0.5) == [.persist(.unchanged), .publish(.parked)])
        #expect(machine.state.deadline == nil && machine.state.shown(at: start) == .parked)
        let late = start.later(.seconds(9000))
        for event in [
            Event.host(.deadlineReached), .demand(.tokenNeeded), .demand(.refreshRequested),
            .host(.connectivityRestored), .owner(.accountUpdated(asksAnew: true)),
        ] {
            let effects = machine.handle(event, at: late, jitter: 0.5)
            #expect(!effects.contains { if case .send = $0 { true } else { false } }, "\(event)")
            #expect(machine.state.phase == .parked(.moved))
        }
        #expect(
            machine.handle(.owner(.unparked), at: late, jitter: 0.5) == [.persist(.unchanged), .publish(.unparked)]
        )
        #expect(machine.handle(.host(.deadlineReached), at: late, jitter: 0.5) == Fixture.begin(at: late))
    }

    @Test func `a grant that came with the store is parked as a moved one when it is moved on`() {
        var machine = Fixture.machine(.parked(.otherMachine))
        #expect(machine.handle(.owner(.parked), at: start, jitter: 0.5) == [.persist(.unchanged), .publish(.parked)])
        #expect(machine.state.phase == .parked(.moved))
        #expect(machine.handle(.owner(.parked), at: start, jitter: 0.5) == [])
    }

    @Test func `a grant is parked when no request is under way, and a late answer does not unpark it`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        #expect(machine.handle(.owner(.parked), at: start, jitter: 0.5) == [])
        machine = Fixture.machine(.scheduled)
        _ = machine.handle(.owner(.parked), at: start, jitter: 0.5)
        let late = Event.answer(.tokensIssued(Fixture.generation, Issuance(lifetime: .seconds(3600), isRotated: true)))
        _ = machine.handle(late, at: start, jitter: 0.5)
        #expect(machine.state.phase == .parked(.moved) && machine.state.deadline == nil)
        #expect(machine.state.generation == Fixture.generation.next)
    }

    @Test func `an unparked grant is refreshed at once, even with a fresh access token`() {
        var machine = Fixture.machine(.scheduled)
        _ = machine.handle(.owner(.parked), at: start, jitter: 0.5)
        let soon = start.later(.seconds(60))
        _ = machine.handle(.owner(.unparked), at: soon, jitter: 0.5)
        #expect(machine.handle(.host(.deadlineReached), at: soon, jitter: 0.5) == Fixture.begin(at: soon))
    }

    // MARK: without a refresh token

    @Test func `without a refresh token the access token is served until it expires, then the user is called`() {
        var machine = signedIn(hasRefreshToken: false)
        #expect(machine.state.deadline == start.wall + .seconds(3600))
        #expect(
            machine.handle(.host(.deadlineReached), at: start.later(.seconds(3000)), jitter: 0) == [
                .persist(.unchanged)
            ]
        )
        let end = start.later(.seconds(3600))
        #expect(machine.state.shown(at: end) == .interactionRequired)
        let effects = machine.handle(.host(.deadlineReached), at: end, jitter: 0)
        #expect(effects.first == .persist(.unchanged) && effects.count == 2)
        #expect(reason(machine) == .noRefreshToken)
        #expect(machine.state.deadline == nil)
    }

    @Test(arguments: [Event.demand(.tokenNeeded), .demand(.refreshRequested)])
    func `without a refresh token nothing is sent, whoever asks`(event: Event) {
        var machine = signedIn(hasRefreshToken: false)
        #expect(machine.handle(event, at: start.later(.seconds(60)), jitter: 0) == [])
        _ = machine.handle(event, at: start.later(.seconds(3600)), jitter: 0)
        #expect(reason(machine) == .noRefreshToken)
        #expect(machine.handle(event, at: start.later(.seconds(3700)), jitter: 0) == [])
    }

    @Test func `without a refresh token a refused access token calls the user`() {
        var machine = signedIn(hasRefreshToken: false)
        _ = machine.handle(.demand(.accessTokenRejected(issuedAt: nil)), at: start.later(.seconds(60)), jitter: 0)
        #expect(reason(machine) == .noRefreshToken)
        #expect(machine.state.accessToken == nil)
    }

    @Test func `without a refresh token a target's callers are told that there is no token`() throws {
        let target = try TokenTarget(scopes: ["mail"])
        var machine = signedIn(hasRefreshToken: false)
        let asked = machine.handle(.demand(.targetNeeded(target)), at: start.later(.seconds(60)), jitter: 0)
        guard case .publish(.targetFailed(target, let failure))? = asked.first else { return #expect(asked == []) }
        #expect(failure.failureClass == .userRequired)
        let rejected = machine.handle(.demand(.targetRejected(target)), at: start.later(.seconds(60)), jitter: 0)
        #expect(rejected == [.persist(.eraseTarget(target))] + asked)
    }

    @Test func `a token without lifetime and refresh token lasts until it is refused`() {
        var machine = signedIn(lifetime: nil, hasRefreshToken: false)
        let years = start.later(.seconds(9 * 31_557_600))
        #expect(machine.handle(.demand(.tokenNeeded), at: years, jitter: 0) == [])
        #expect(machine.state.shown(at: years) == .fresh)
    }

    @Test func `a token with a refresh token and without a lifetime is refreshed within the hour`() {
        #expect(signedIn(lifetime: nil).state.accessToken?.lifetime == RefreshRule.assumedLifetime)
    }

    @Test func `an edit or a network coming up sends nothing without a refresh token`() {
        var machine = signedIn(hasRefreshToken: false)
        let now = start.later(.seconds(600))
        #expect(
            machine.handle(.owner(.accountUpdated(asksAnew: false)), at: now, jitter: 0.5) == [.persist(.unchanged)]
        )
        #expect(machine.state.deadline == start.wall + .seconds(3600))
        #expect(machine.handle(.host(.connectivityRestored), at: now, jitter: 0.5) == [])
    }

    private func reason(_ machine: RefreshMachine) -> InteractionReason? {
        if case .interactionRequired(let interaction) = machine.state.phase { interaction.reason } else { nil }
    }
}
