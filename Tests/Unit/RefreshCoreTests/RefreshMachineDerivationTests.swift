@testable import RefreshCore
import Testing

/// Accounts whose token is derived from another account's token.
struct RefreshMachineDerivationTests {
    private typealias Fixture = MachineFixture

    private let start = MachineFixture.start
    private let policy = RefreshPolicy(isServiceAccount: true)
    private let lacking = Event.answer(.sourceLacking(MachineFixture.generation, MachineFixture.failure(.userRequired)))

    private func machine(_ phase: Phase) -> RefreshMachine { Fixture.machine(phase, policy: policy) }

    @Test func `after an unused lease the account is due at once`() {
        let state = RefreshState(generation: Fixture.generation, phase: .refreshing(Fixture.lease))
        var machine = RefreshMachine(state: state, policy: policy)
        let now = start.later(.seconds(3))
        #expect(
            machine.handle(.answer(.leaseReturned(Fixture.generation)), at: now, jitter: 0.5) == [.persist(.unchanged)]
        )
        #expect(machine.state.phase == .scheduled && machine.state.deadline == now.wall && machine.state.failures == 0)
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0.5) == Fixture.begin(at: now))
    }

    @Test func `while a source needs its person, the derived account waits without calling anybody`() throws {
        var machine = machine(.refreshing(Fixture.lease))
        let effects = machine.handle(lacking, at: start, jitter: 0.5)
        guard case .interactionRequired(let interaction) = machine.state.phase else {
            Issue.record("\(machine.state.phase)")
            return
        }
        #expect(interaction.reason == .sourceAccount && machine.state.deadline == nil)
        #expect(effects == [.persist(.unchanged), .publish(.interactionRequired(interaction))])
        let now = start.later(.seconds(9000))
        #expect(machine.handle(.host(.connectivityRestored), at: now, jitter: 0.5) == [])
        #expect(machine.handle(.source(.changed), at: now, jitter: 0.5) == [.persist(.unchanged)])
        #expect(machine.state.phase == .scheduled && machine.state.deadline == now.wall)
    }

    @Test func `a restored source brings a retry forward and changes nothing else`() {
        var backingOff = machine(.backingOff(Fixture.backOff(.transient)))
        _ = backingOff.handle(.source(.changed), at: start.later(.seconds(10)), jitter: 0)
        #expect(backingOff.state.deadline == start.wall + .seconds(10))
        for phase in [.signedOut, .scheduled, .refreshing(Fixture.lease), .interactionRequired(Fixture.interaction)]
            as [Phase]
        {
            var machine = machine(phase)
            #expect(machine.handle(.source(.changed), at: start, jitter: 0.5) == [], "\(phase)")
            #expect(machine.state.phase == phase)
        }
    }

    @Test(arguments: [Phase.signedOut, .scheduled, .backingOff(MachineFixture.backOff(.transient))])
    func `the end of an old lease changes nothing`(phase: Phase) {
        for event in [Event.answer(.leaseReturned(Fixture.generation)), lacking] {
            var machine = machine(phase)
            #expect(machine.handle(event, at: start, jitter: 0.5) == [])
            #expect(machine.state.phase == phase)
        }
    }

    @Test(arguments: [
        Phase.scheduled, .refreshing(MachineFixture.lease), .backingOff(MachineFixture.backOff(.transient)),
        .interactionRequired(MachineFixture.interaction),
    ])
    func `a derived account ends with its source, and a late answer does not revive it`(phase: Phase) {
        var machine = machine(phase)
        let effects = machine.handle(.source(.signedOut(Fixture.failure(.userRequired))), at: start, jitter: 0.5)
        #expect(effects.first == .persist(.erase) && effects.count == 2)
        guard case .interactionRequired(let interaction) = machine.state.phase else {
            Issue.record("\(machine.state.phase)")
            return
        }
        #expect(interaction.reason == .sourceAccount && machine.state.accessToken == nil)
        let answer = machine.handle(
            .answer(.tokensIssued(Fixture.generation, Fixture.issuance)),
            at: start,
            jitter: 0.5
        )
        #expect(answer == [.publish(.staleAnswerDropped(Fixture.generation))])
        #expect(machine.handle(.source(.changed), at: start, jitter: 0.5) == [.persist(.unchanged)])
        #expect(machine.state.phase == .scheduled && machine.state.deadline == start.wall)
    }

    @Test func `a derived account that is signed out stays so when its source signs out`() {
        var machine = machine(.signedOut)
        #expect(machine.handle(.source(.signedOut(Fixture.failure(.userRequired))), at: start, jitter: 0.5) == [])
    }
}
