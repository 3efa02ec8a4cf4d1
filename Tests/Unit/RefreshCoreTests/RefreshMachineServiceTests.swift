@testable import RefreshCore
import Testing

/// Accounts whose client obtains tokens for itself.
struct RefreshMachineServiceTests {
    private typealias Fixture = MachineFixture

    private let start = MachineFixture.start
    private let policy = RefreshPolicy(refreshTokenLifetime: .seconds(60), isServiceAccount: true)

    private func refreshing() -> RefreshMachine {
        Fixture.machine(.refreshing(Fixture.lease), policy: policy)
    }

    @Test func `a service account's first token is due at once, and the next before it expires`() {
        var machine = RefreshMachine(state: .service(at: start), policy: policy)
        #expect(machine.state.shown(at: start) == .refreshing)
        let zero = Generation(0)
        #expect(
            machine.handle(.host(.deadlineReached), at: start, jitter: 0.5)
                == Fixture.begin(at: start, generation: zero)
        )
        let issued = Event.answer(.tokensIssued(zero, Issuance(lifetime: .seconds(3600))))
        #expect(machine.handle(issued, at: start, jitter: 0.5) == [.persist(.store), .publish(.tokenRefreshed)])
        #expect(machine.state.generation == zero && machine.state.refreshToken == nil)
        #expect(machine.state.deadline == start.wall + .seconds(2400))
        let due = start.later(.seconds(2400))
        #expect(
            machine.handle(.host(.deadlineReached), at: due, jitter: 0.5) == Fixture.begin(at: due, generation: zero)
        )
    }

    @Test func `an unexpected refresh token for a service account changes nothing`() {
        var machine = refreshing()
        let issuance = Issuance(lifetime: .seconds(3600), isRotated: true, refreshTokenLifetime: .seconds(60))
        _ = machine.handle(.answer(.tokensIssued(Fixture.generation, issuance)), at: start, jitter: 0.5)
        #expect(machine.state.generation == Fixture.generation && machine.state.previous == nil)
        #expect(machine.state.refreshToken == nil)
    }

    @Test(arguments: [
        FailureClass.rejected, .refusedByGateway, .grantEnded, .userRequired, .refusedHere, .misconfigured,
    ])
    func `no refusal of a service account calls a person`(failureClass: FailureClass) {
        var machine = refreshing()
        let isBelieved = ![.rejected, .refusedByGateway].contains(failureClass)
        for time in [0.0, 300, 86_400] {
            let now = start.later(.seconds(time))
            _ = machine.handle(.demand(.refreshRequested), at: now, jitter: 0.5)
            let failed = Event.answer(.refreshFailed(Fixture.generation, Fixture.failure(failureClass)))
            _ = machine.handle(failed, at: now, jitter: 0.5)
            let kind: BackOff.Kind = isBelieved || time > 300 ? .misconfigured : .transient
            #expect(machine.state.phase.backOffKind == kind)
            #expect(machine.state.deadline.map { $0 > now.wall } == true)
        }
    }

    @Test(arguments: [false, true])
    func `after a lost answer a service account just asks again when a caller needs it`(isForTarget: Bool) throws {
        let target = isForTarget ? try TokenTarget(scopes: ["files"]) : nil
        var machine = refreshing()
        let failure = Fixture.failure(.unanswered)
        let lost =
            target.map { Event.answer(.targetFailed($0, Fixture.generation, failure)) }
            ?? .answer(.refreshFailed(Fixture.generation, failure))
        _ = machine.handle(lost, at: start, jitter: 0.5)
        #expect(machine.state.phase.backOffKind == .transient)
        #expect(!machine.state.isOutcomeUnknown)
        let soon = start.later(BackOffRule.callerInterval)
        #expect(machine.handle(.demand(.tokenNeeded), at: soon, jitter: 0.5) == Fixture.begin(at: soon))
    }

    @Test func `an abandoned lease of a service account leaves nothing uncertain`() {
        var machine = refreshing()
        _ = machine.handle(.host(.requestAbandoned(crashes: 0)), at: start, jitter: 0.5)
        #expect(machine.state.phase.backOffKind == .transient && !machine.state.isOutcomeUnknown)
    }

    @Test func `after a sign-out only a person can resume a service account`() {
        var machine = refreshing()
        #expect(machine.handle(.owner(.signedOut), at: start, jitter: 0) == [.persist(.erase), .publish(.signedOut)])
        let ignored: [Event] = [
            .demand(.tokenNeeded), .host(.deadlineReached), .owner(.accountUpdated(asksAnew: true)),
            .host(.connectivityRestored),
        ]
        for event in ignored {
            _ = machine.handle(event, at: start, jitter: 0)
            #expect(machine.state.phase == .signedOut && machine.state.deadline == nil)
        }
        let next = Fixture.generation.next
        #expect(
            machine.handle(.demand(.refreshRequested), at: start, jitter: 0)
                == Fixture.begin(at: start, generation: next)
        )
    }

    @Test func `after a change a service account asks at once`() {
        var machine = Fixture.machine(.scheduled, policy: policy)
        let later = start.later(.seconds(5))
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: later, jitter: 0.5)
        #expect(machine.state.deadline == later.wall)
        #expect(machine.handle(.host(.deadlineReached), at: later, jitter: 0.5) == Fixture.begin(at: later))
    }

    @Test func `a person's account that has signed out waits for its person`() {
        var machine = Fixture.machine(.signedOut)
        #expect(machine.handle(.demand(.refreshRequested), at: start, jitter: 0) == [])
    }
}
