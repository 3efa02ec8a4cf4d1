import RefreshCore
import Testing

private typealias Fixture = MachineFixture

/// Accounts with `forgetAfter`, which sign out by themselves.
struct RefreshMachineSignOutTests {
    private let start = Fixture.start
    private let policy = RefreshPolicy(forgetAfter: .seconds(28_800))

    /// An account that signed in at `start`, for eight hours.
    private func signedIn() -> RefreshMachine {
        var machine = Fixture.machine(.signedOut, policy: policy)
        let event = Event.grantObtained(Fixture.issuance, hasRefreshToken: true, sentAt: start)
        _ = machine.handle(event, at: start, jitter: 0.5)
        return machine
    }

    /// Refreshes the machine whenever it asks for it, until `end`. Returns the changes that it announced.
    private func run(_ machine: inout RefreshMachine, until end: Moment) throws -> [(AccountChange, Moment)] {
        var told: [(AccountChange, Moment)] = []
        var now = start
        for _ in 0..<1000 {
            let deadline = try #require(machine.state.deadline)
            now = start.later(max(deadline - start.wall, now.wall - start.wall))
            guard now.wall <= end.wall else { return told }
            for effect in machine.handle(.deadlineReached, at: now, jitter: 0.5) {
                switch effect {
                case .publish(let change): told.append((change, now))
                case .send(let lease, _):
                    _ = machine.handle(.tokensIssued(lease.generation, Fixture.issuance), at: now, jitter: 0.5)
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
        let event = Event.grantObtained(Fixture.issuance, hasRefreshToken: true, sentAt: later)
        _ = machine.handle(event, at: later, jitter: 0.5)
        #expect(machine.state.signOut?.expiresAt == later.wall + .seconds(28_800))
        #expect(machine.state.shown(at: later) == .fresh)
    }

    @Test(arguments: MachineFixture.phases)
    func `an account signs out in time in any phase, and no caller gets a token afterwards`(phase: Phase) {
        guard phase != .signedOut else { return }
        for event in [Event.deadlineReached, .tokenNeeded, .refreshRequested, .connectivityRestored] {
            var machine = Fixture.machine(phase, policy: policy)
            _ = machine.handle(.accountUpdated, at: start, jitter: 0.5)
            #expect(machine.state.deadline.map { $0 <= start.wall + .seconds(28_800) } == true)
            let effects = machine.handle(event, at: start.later(.seconds(28_800)), jitter: 0.5)
            #expect(effects == [.persist(.erase), .publish(.signedOutByItself)])
            #expect(machine.state.generation == Fixture.generation.next)
        }
    }

    @Test func `an answer after the sign-out time is stored and then erased with the rest`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease), policy: policy)
        _ = machine.handle(.accountUpdated, at: start, jitter: 0.5)
        let late = start.later(.seconds(28_801))
        let effects = machine.handle(.tokensIssued(Fixture.generation, Fixture.issuance), at: late, jitter: 0.5)
        #expect(effects == [.persist(.store), .publish(.tokenRefreshed)])
        #expect(machine.state.deadline == late.wall)
        #expect(machine.handle(.deadlineReached, at: late, jitter: 0.5).last == .publish(.signedOutByItself))
    }

    @Test func `a changed sign-out time counts from the same sign-in, and none keeps the account`() {
        var machine = signedIn()
        let later = start.later(.seconds(3600))
        machine = RefreshMachine(state: machine.state, policy: RefreshPolicy(forgetAfter: .seconds(7200)))
        _ = machine.handle(.accountUpdated, at: later, jitter: 0.5)
        #expect(machine.state.signOut?.expiresAt == start.wall + .seconds(7200))
        machine = RefreshMachine(state: machine.state, policy: RefreshPolicy())
        _ = machine.handle(.accountUpdated, at: later, jitter: 0.5)
        #expect(machine.state.signOut == nil)
    }

    @Test func `a clock that is set back does not delay the sign-out`() {
        var machine = signedIn()
        let later = start.later(.seconds(28_800))
        let setBack = Moment(wall: start.wall, boot: later.boot)
        #expect(machine.handle(.deadlineReached, at: setBack, jitter: 0.5).last == .publish(.signedOutByItself))
    }

    @Test func `a grant without a refresh token signs out, too`() throws {
        var machine = Fixture.machine(.signedOut, policy: policy)
        let issuance = Issuance(lifetime: nil)
        let event = Event.grantObtained(issuance, hasRefreshToken: false, sentAt: start)
        _ = machine.handle(event, at: start, jitter: 0.5)
        let told = try run(&machine, until: start.later(.seconds(40_000)))
        #expect(told.last?.0 == .signedOutByItself)
        #expect(told.last?.1.wall == start.wall + .seconds(28_800))
    }
}
