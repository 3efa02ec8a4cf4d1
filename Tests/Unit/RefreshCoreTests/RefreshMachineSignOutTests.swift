@testable import RefreshCore
import Testing

private typealias Fixture = MachineFixture

private enum TokenTargetSample {
    static let any: TokenTarget = {
        guard let target = try? TokenTarget(scopes: ["a"]) else { preconditionFailure("a target has a scope") }
        return target
    }()
}

/// Accounts with `forgetAfter`, which sign out by themselves.
struct RefreshMachineSignOutTests {
    private let start = Fixture.start
    private let policy = RefreshPolicy(forgetAfter: .seconds(28_800))

    /// An account that signed in at `start`, for eight hours.
    private func signedIn() -> RefreshMachine {
        var machine = Fixture.machine(.signedOut, policy: policy)
        let event = Event.grant(.obtained(Fixture.issuance, hasRefreshToken: true, sentAt: start))
        _ = machine.handle(event, at: start, jitter: 0.5)
        return machine
    }

    /// Refreshes the machine whenever it asks for it, and tells it of its sign-out, until `end`. Returns the changes that
    /// it announced.
    private func run(_ machine: inout RefreshMachine, until end: Moment) throws -> [(AccountChange, Moment)] {
        var told: [(AccountChange, Moment)] = []
        var now = start
        for _ in 0..<1000 {
            let deadline = try #require(machine.state.deadline)
            let signOut = machine.state.signOut.map { $0.issuedAt.wall + $0.nextAfter }
            let isSignOut = signOut.map { $0 <= deadline } ?? false
            let next = signOut.map { min($0, deadline) } ?? deadline
            now = start.later(max(next - start.wall, now.wall - start.wall))
            guard now.wall <= end.wall else { return told }
            for effect in machine.handle(
                isSignOut ? .host(.signOutReached) : .host(.deadlineReached),
                at: now,
                jitter: 0.5
            ) {
                switch effect {
                case .publish(let change): told.append((change, now))
                case .send(let lease, _):
                    _ = machine.handle(.answer(.tokensIssued(lease.generation, Fixture.issuance)), at: now, jitter: 0.5)
                case .persist: break
                }
            }
            if machine.state.deadline == nil { return told }
        }
        Issue.record("the machine does not come to rest")
        return told
    }

    @Test func `a sign-out is announced for the last quarter of its time, then the tokens are erased`() throws {
        var machine = signedIn()
        let told = try run(&machine, until: start.later(.seconds(40_000)))
        let end = start.wall + .seconds(28_800)
        #expect(told.map(\.0) == [.signOutNear(at: end), .signedOutByItself])
        #expect(told.map(\.1.wall) == [start.wall + .seconds(21_600), end])
        #expect(machine.state.phase == .signedOut)
        #expect(machine.state.deadline == nil)
        #expect(machine.state.accessToken == nil)
    }

    @Test func `nobody gets a token once the time is over, though the account still has one`() throws {
        var machine = signedIn()
        _ = try run(&machine, until: start.later(.seconds(28_790)))
        let token = try #require(machine.state.accessToken)
        let end = start.later(.seconds(28_800))
        #expect(token.remaining(at: end) > .zero)
        #expect(machine.state.holdsAccessToken(for: .zero, at: start.later(.seconds(28_799))))
        #expect(!machine.state.holdsAccessToken(for: .zero, at: end))
        #expect(machine.state.isSignOutDue(at: end) && machine.state.timeToSignOut(at: end) == .zero)
    }

    @Test func `a sign-in before the sign-out restarts its time`() throws {
        var machine = signedIn()
        _ = try run(&machine, until: start.later(.seconds(25_000)))
        #expect(machine.state.shown(at: start.later(.seconds(25_000))) == .refreshTokenExpiring)
        let later = start.later(.seconds(25_000))
        let event = Event.grant(.obtained(Fixture.issuance, hasRefreshToken: true, sentAt: later))
        _ = machine.handle(event, at: later, jitter: 0.5)
        #expect(machine.state.signOut?.expiresAt == later.wall + .seconds(28_800))
        #expect(machine.state.shown(at: later) == .fresh)
    }

    @Test(arguments: MachineFixture.phases)
    func `an account signs out in time in any phase, and no caller gets a token afterwards`(phase: Phase) {
        guard phase != .signedOut else { return }
        for event in [
            Event.host(.signOutReached), .host(.deadlineReached), .demand(.tokenNeeded), .demand(.refreshRequested),
            .host(.requestContinues),
        ] {
            var machine = Fixture.machine(phase, policy: policy)
            _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start, jitter: 0.5)
            let effects = machine.handle(event, at: start.later(.seconds(28_800)), jitter: 0.5)
            #expect(effects == [.persist(.erase), .publish(.signedOutByItself)])
            #expect(machine.state.generation == Fixture.generation.next)
        }
    }

    @Test func `a sign-out ends a request under way, and the answer does not revive the account`() {
        for event in [
            Event.host(.signOutReached), .host(.requestContinues),
            .answer(.tokensIssued(Fixture.generation, Fixture.issuance)),
        ] {
            var machine = Fixture.machine(.refreshing(Fixture.lease), policy: policy)
            _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start, jitter: 0.5)
            let late = start.later(.seconds(28_801))
            let effects = machine.handle(event, at: late, jitter: 0.5)
            #expect(effects == [.persist(.erase), .publish(.signedOutByItself)])
            let answer = machine.handle(
                .answer(.tokensIssued(Fixture.generation, Fixture.issuance)),
                at: late,
                jitter: 0.5
            )
            #expect(answer == [.publish(.staleAnswerDropped(Fixture.generation))])
            #expect(machine.state == RefreshState(generation: Fixture.generation.next))
        }
    }

    @Test(arguments: MachineFixture.phases)
    func `a wall clock that is wrong for a moment ends nothing, and nothing is given out or sent`(phase: Phase) {
        guard phase != .signedOut else { return }
        let target = TokenTargetSample.any
        for event in [
            Event.host(.signOutReached), .host(.deadlineReached), .demand(.tokenNeeded), .demand(.refreshRequested),
            .host(.connectivityRestored),
            .demand(.targetNeeded(target)), .demand(.targetRejected(target)),
            .demand(.accessTokenRejected(issuedAt: start)),
            .answer(.targetFailed(target, Fixture.generation, Fixture.failure(.grantEnded))),
        ] {
            var machine = Fixture.machine(phase, policy: policy)
            _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start, jitter: 0.5)
            let wrong = start.later(.seconds(1)).stepped(.seconds(86_400))
            let effects = machine.handle(event, at: wrong, jitter: 0.5)
            #expect(!effects.contains { if case .send = $0 { true } else { $0 == .persist(.erase) } }, "\(event)")
            #expect(!machine.state.holdsAccessToken(for: .zero, at: wrong))
            #expect(machine.state.shown(at: wrong) == .signedOut)
            #expect(machine.state.generation == Fixture.generation && machine.state.signOut != nil)
            // Nothing spins: what was due comes again only after a while.
            let isDue = machine.state.deadline.map { $0 <= wrong.wall } ?? false
            #expect(event != .host(.deadlineReached) || !isDue, "\(phase)")
        }
    }

    @Test func `after a restart of the machine, only a sign-out that the wall clock has confirmed erases`() {
        let late = start.rebooted(.seconds(28_800))
        for event in [Event.host(.deadlineReached), .demand(.tokenNeeded), .demand(.refreshRequested)] {
            var machine = signedIn()
            let effects = machine.handle(event, at: late, jitter: 0.5)
            #expect(!effects.contains { if case .send = $0 { true } else { $0 == .persist(.erase) } }, "\(event)")
            #expect(!machine.state.holdsAccessToken(for: .zero, at: late))
            let ended = machine.handle(.host(.signOutReached), at: late, jitter: 0.5)
            #expect(ended == [.persist(.erase), .publish(.signedOutByItself)])
        }
    }

    @Test func `a sign-out is announced whatever the account does, unless its person is called anyway`() {
        for phase in MachineFixture.phases where phase != .signedOut {
            var machine = Fixture.machine(phase, policy: policy)
            _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: start, jitter: 0.5)
            let effects = machine.handle(.host(.signOutReached), at: start.later(.seconds(21_600)), jitter: 0.5)
            let word = Effect.publish(.signOutNear(at: start.wall + .seconds(28_800)))
            let isCalled = if case .interactionRequired = phase { true } else { false }
            #expect(effects == (isCalled ? [.persist(.unchanged)] : [.persist(.unchanged), word]), "\(phase)")
            #expect(machine.state.signOut?.nextAfter == .seconds(28_800))
        }
    }

    @Test func `whether a changed time would sign out at once is known before the change`() {
        let (state, now) = (signedIn().state, start.later(.seconds(3600)))
        #expect(state.wouldSignOut(after: .seconds(3600), at: now))
        #expect(!state.wouldSignOut(after: .seconds(3601), at: now))
        #expect(state.wouldSignOut(after: .seconds(3601), at: now.stepped(.seconds(1))))
        #expect(!state.wouldSignOut(after: nil, at: now))
        // Without an earlier setting, the time counts from the change.
        let plain = Fixture.machine(.scheduled).state
        #expect(!plain.wouldSignOut(after: .seconds(1), at: now))
    }

    @Test func `a changed sign-out time counts from the same sign-in, and none keeps the account`() {
        var machine = signedIn()
        let later = start.later(.seconds(3600))
        machine = RefreshMachine(state: machine.state, policy: RefreshPolicy(forgetAfter: .seconds(7200)))
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: later, jitter: 0.5)
        #expect(machine.state.signOut?.expiresAt == start.wall + .seconds(7200))
        machine = RefreshMachine(state: machine.state, policy: RefreshPolicy())
        _ = machine.handle(.owner(.accountUpdated(asksAnew: false)), at: later, jitter: 0.5)
        #expect(machine.state.signOut == nil)
    }

    @Test func `a clock that is set back does not delay the sign-out`() {
        var machine = signedIn()
        let later = start.later(.seconds(28_800))
        let setBack = Moment(wall: start.wall, boot: later.boot)
        #expect(machine.handle(.host(.signOutReached), at: setBack, jitter: 0.5).last == .publish(.signedOutByItself))
    }

    @Test func `a grant without a refresh token signs out, too`() throws {
        var machine = Fixture.machine(.signedOut, policy: policy)
        let issuance = Issuance(lifetime: nil)
        let event = Event.grant(.obtained(issuance, hasRefreshToken: false, sentAt: start))
        _ = machine.handle(event, at: start, jitter: 0.5)
        let told = try run(&machine, until: start.later(.seconds(40_000)))
        #expect(told.last?.0 == .signedOutByItself)
        #expect(told.last?.1.wall == start.wall + .seconds(28_800))
    }
}
