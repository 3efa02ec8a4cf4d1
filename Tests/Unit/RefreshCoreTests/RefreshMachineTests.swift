@testable import RefreshCore
import Testing

/// The events that start a request, in each phase.
@Suite struct RefreshMachineTests {
    private typealias Fixture = MachineFixture

    private let start = MachineFixture.start

    // MARK: deadlineReached

    @Test(arguments: [Phase.signedOut, .interactionRequired(MachineFixture.interaction)])
    func `a deadline means nothing while the account waits for the user`(phase: Phase) {
        var machine = Fixture.machine(phase)
        #expect(machine.handle(.host(.deadlineReached), at: start, jitter: 0) == [.persist(.unchanged)])
        #expect(machine.state.phase == phase)
        #expect(machine.state.deadline == nil)
    }

    @Test func `a deadline starts a refresh that is due`() {
        var machine = Fixture.machine(.scheduled)
        let now = start.later(.seconds(2400))
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == Fixture.begin(at: now))
        #expect(machine.state.phase == .refreshing(Lease(generation: Fixture.generation, startedAt: now)))
        #expect(machine.state.deadline == now.wall + Lease.duration)
    }

    @Test func `a deadline that comes too early is set again`() {
        var machine = Fixture.machine(.scheduled)
        #expect(
            machine.handle(.host(.deadlineReached), at: start.later(.seconds(2399)), jitter: 0) == [
                .persist(.unchanged)
            ]
        )
        #expect(machine.state.phase == .scheduled)
        #expect(machine.state.deadline == start.wall + .seconds(2400))
    }

    @Test func `an early deadline after the clock was set back by a year is not a year away`() {
        var machine = Fixture.machine(.scheduled)
        let now = start.later(.seconds(2399)).stepped(.seconds(-365 * 86_400))
        _ = machine.handle(.host(.deadlineReached), at: now, jitter: 0)
        #expect(machine.state.deadline == now.wall + .seconds(1))
    }

    @Test func `a deadline before the end of the lease is moved to its end`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let now = start.later(.seconds(40))
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == [.persist(.unchanged)])
        #expect(machine.state.phase == .refreshing(Fixture.lease))
        #expect(machine.state.deadline == start.wall + Lease.duration)
    }

    @Test func `at the end of the lease the outcome is unknown, and the refresh token is not sent yet`() {
        var machine = Fixture.machine(.refreshing(Fixture.lease))
        let now = start.later(Lease.duration)
        let effects = machine.handle(.host(.deadlineReached), at: now, jitter: 0)
        #expect(effects.first == .persist(.unchanged))
        #expect(effects.count == 2)
        #expect(machine.state.isOutcomeUnknown)
        #expect(machine.state.phase.backOffKind == .doubtful)
        #expect(machine.state.deadline == start.wall + .seconds(3240))
    }

    // A possibly spent token waits by the tokens' times instead; see RefreshMachineAnswerTests.
    @Test(arguments: BackOff.Kind.allCases.filter { $0 != .doubtful })
    func `a back-off ends at its deadline, whatever its kind`(
        kind: BackOff.Kind
    ) {
        var machine = Fixture.machine(.backingOff(Fixture.backOff(kind)))
        let early = start.later(.seconds(99))
        #expect(machine.handle(.host(.deadlineReached), at: early, jitter: 0) == [.persist(.unchanged)])
        #expect(machine.state.deadline == start.wall + .seconds(100))
        let now = start.later(.seconds(100))
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == Fixture.begin(at: now))
    }

    @Test func `a back-off ends even if a reboot set the clock back a year`() {
        var machine = Fixture.machine(.backingOff(Fixture.backOff(.transient)))
        let rebooted = start.rebooted(.seconds(-365 * 86_400))
        #expect(machine.handle(.host(.deadlineReached), at: rebooted, jitter: 0) == [.persist(.unchanged)])
        #expect(machine.state.deadline == rebooted.wall + .seconds(100))
        let now = rebooted.later(.seconds(100))
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0) == Fixture.begin(at: now))
    }

    // MARK: tokenNeeded

    @Test(
        arguments: [
            (Phase.signedOut, false), (.scheduled, true), (.refreshing(MachineFixture.lease), false),
            (.interactionRequired(MachineFixture.interaction), false),
        ] + BackOff.Kind.allCases.map { (.backingOff(MachineFixture.backOff($0)), $0 == .transient) }
    )
    func `a caller starts a refresh if one may start`(phase: Phase, starts: Bool) {
        var machine = Fixture.machine(phase)
        let now = start.later(.seconds(2))
        #expect(machine.handle(.demand(.tokenNeeded), at: now, jitter: 0) == (starts ? Fixture.begin(at: now) : []))
    }

    @Test(arguments: BackOff.Kind.allCases.filter { $0 != .doubtful })
    func `a caller may start a refresh after a back-off has ended`(kind: BackOff.Kind) {
        var machine = Fixture.machine(.backingOff(Fixture.backOff(kind)))
        let now = start.later(.seconds(100))
        #expect(machine.handle(.demand(.tokenNeeded), at: now, jitter: 0) == Fixture.begin(at: now))
    }

    @Test func `a caller has an untrusted certificate checked again, as after a captive portal`() {
        let failure = Fixture.failure(.untrusted)
        let backOff = BackOff(failedAt: start, delay: .seconds(3000), kind: .misconfigured, failure: failure)
        var machine = Fixture.machine(.backingOff(backOff))
        #expect(machine.state.shown(at: start) == .misconfigured)
        #expect(machine.handle(.demand(.tokenNeeded), at: start.later(.milliseconds(1999)), jitter: 0) == [])
        let now = start.later(.seconds(2))
        #expect(machine.handle(.demand(.tokenNeeded), at: now, jitter: 0) == Fixture.begin(at: now))
    }

    @Test func `callers in a loop start no more than one request in two seconds`() {
        var machine = Fixture.machine(.backingOff(Fixture.backOff(.transient)))
        #expect(machine.handle(.demand(.tokenNeeded), at: start.later(.milliseconds(1999)), jitter: 0) == [])
    }

    @Test(arguments: [(1, 2), (3, 2), (4, 4), (5, 8), (6, 16), (7, 32), (8, 60), (.max, 60)])
    func `callers shorten a back-off less after each failure`(failures: Int, seconds: Int) {
        var state = Fixture.machine(.backingOff(Fixture.backOff(.transient))).state
        state.failures = failures
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        let now = start.later(.seconds(seconds))
        #expect(machine.handle(.demand(.tokenNeeded), at: now.later(.milliseconds(-1)), jitter: 0) == [])
        #expect(machine.handle(.demand(.tokenNeeded), at: now, jitter: 0) == Fixture.begin(at: now))
    }

    @Test func `a caller that asks every second for an hour causes no more than seventy requests`() {
        var machine = Fixture.machine(.backingOff(Fixture.backOff(.transient)))
        var requests = 0
        for second in 1...3600 {
            let now = start.later(.seconds(second))
            guard machine.handle(.demand(.tokenNeeded), at: now, jitter: 0.5).count == 2 else { continue }
            requests += 1
            let failed = Event.answer(.refreshFailed(machine.state.generation, Fixture.failure(.unreachable)))
            _ = machine.handle(failed, at: now, jitter: 0.5)
        }
        #expect((60...70).contains(requests))
    }

    @Test(arguments: [Event.demand(.tokenNeeded), .demand(.refreshRequested)])
    func `nobody shortens a wait below what the server asked for, even if ours is longer`(event: Event) {
        let failure = Fixture.failure(.unavailable, retryAfter: .seconds(60))
        let backOff = BackOff(failedAt: start, delay: .seconds(100), kind: .transient, failure: failure)
        var machine = Fixture.machine(.backingOff(backOff))
        #expect(machine.handle(event, at: start.later(.seconds(59)), jitter: 0) == [])
        let now = start.later(.seconds(60))
        #expect(machine.handle(event, at: now, jitter: 0) == Fixture.begin(at: now))
    }

    // MARK: refreshRequested

    @Test(
        arguments: [
            (Phase.signedOut, false), (.scheduled, true), (.refreshing(MachineFixture.lease), false),
            (.interactionRequired(MachineFixture.interaction), true),
        ]
            + BackOff.Kind.allCases.map {
                (.backingOff(MachineFixture.backOff($0)), [.transient, .misconfigured, .doubtful].contains($0))
            }
    )
    func `a person starts a refresh even if interaction is required`(phase: Phase, starts: Bool) {
        var machine = Fixture.machine(phase)
        let lease = Lease(generation: Fixture.generation, startedAt: start, interaction: machine.state.interaction)
        let begun: [Effect] = [.persist(.unchanged), .send(lease)]
        #expect(machine.handle(.demand(.refreshRequested), at: start, jitter: 0) == (starts ? begun : []))
    }

    // MARK: accessTokenRejected

    @Test(
        arguments: [
            (Phase.scheduled, true), (.refreshing(MachineFixture.lease), false),
            (.interactionRequired(MachineFixture.interaction), false),
        ]
            + BackOff.Kind.allCases.map {
                (.backingOff(MachineFixture.backOff($0)), $0 == .transient || $0 == .doubtful)
            }
    )
    func `a rejected access token is given to nobody, and replaced if a request may start`(phase: Phase, starts: Bool) {
        var machine = Fixture.machine(phase)
        let now = start.later(.seconds(10))
        let effects = machine.handle(.demand(.accessTokenRejected(issuedAt: nil)), at: now, jitter: 0)
        #expect(effects == (starts ? Fixture.begin(at: now) : [.persist(.unchanged)]))
        #expect(machine.state.accessToken == nil)
    }

    @Test func `without an access token a rejection means nothing`() {
        var machine = Fixture.machine(.signedOut)
        #expect(machine.handle(.demand(.accessTokenRejected(issuedAt: nil)), at: start, jitter: 0) == [])
    }

    @Test func `a rejected token is replaced, unless it was requested less than a second ago`() {
        var machine = Fixture.machine(.scheduled)
        let early = start.later(.milliseconds(999))
        #expect(machine.handle(.demand(.accessTokenRejected(issuedAt: nil)), at: early, jitter: 0) == [])
        #expect(machine.state.accessToken != nil)
        let now = start.later(.seconds(1))
        #expect(
            machine.handle(.demand(.accessTokenRejected(issuedAt: nil)), at: now, jitter: 0) == Fixture.begin(at: now)
        )
        #expect(machine.state.accessToken == nil)
    }

    @Test func `a rejected token that is named is replaced at once, but not the one that came after it`() throws {
        var machine = Fixture.machine(.scheduled)
        let held = try #require(machine.state.accessToken).issuedAt
        let earlier = Event.demand(.accessTokenRejected(issuedAt: held.later(.seconds(-10))))
        #expect(machine.handle(earlier, at: start.later(.seconds(60)), jitter: 0) == [])
        #expect(machine.state.accessToken != nil)
        let effects = machine.handle(.demand(.accessTokenRejected(issuedAt: held)), at: held, jitter: 0)
        #expect(effects == Fixture.begin(at: held) && machine.state.accessToken == nil)
    }

    // MARK: requestContinues, requestAbandoned

    @Test(arguments: MachineFixture.phases) func `only a refresh can continue`(phase: Phase) {
        var machine = Fixture.machine(phase)
        let before = machine.state
        let now = start.later(.seconds(3600))
        let effects = machine.handle(.host(.requestContinues), at: now, jitter: 0)
        guard case .refreshing = phase else {
            #expect(effects == [] && machine.state == before)
            return
        }
        #expect(effects == [.persist(.unchanged)])
        #expect(machine.state.phase == phase)
        #expect(machine.state.deadline == now.wall + Lease.duration)
    }

    @Test(arguments: MachineFixture.phases) func `only a refresh can be abandoned`(phase: Phase) {
        var machine = Fixture.machine(phase)
        let before = machine.state
        let effects = machine.handle(.host(.requestAbandoned(crashes: 0)), at: start, jitter: 0)
        guard case .refreshing = phase else {
            #expect(effects == [] && machine.state == before)
            return
        }
        #expect(effects.first == .persist(.unchanged))
        #expect(machine.state.isOutcomeUnknown)
        #expect(machine.state.deadline == start.wall + .seconds(3240))
    }

    @Test(arguments: [(2, 150), (3, 300), (4, 600), (9, 1800)])
    func `from the second crash on an account waits, longer each time, and nothing ends the wait early`(
        crashes: Int,
        seconds: Int
    ) {
        var state = Fixture.machine(.refreshing(MachineFixture.lease)).state
        state.accessToken = nil
        var machine = RefreshMachine(state: state, policy: RefreshPolicy())
        let effects = machine.handle(.host(.requestAbandoned(crashes: crashes)), at: start, jitter: 0)
        #expect(machine.state.phase.backOffKind == .crashed)
        #expect(machine.state.shown(at: start) == .retrying)
        #expect(machine.state.deadline == start.wall + .seconds(seconds))
        guard case .publish(.refreshFailed(let failure, _))? = effects.last else {
            Issue.record("\(effects)")
            return
        }
        #expect(failure.detail.summary == "the daemon crashed while it waited for the server's answer")
        for event in [Event.demand(.tokenNeeded), .demand(.refreshRequested), .host(.connectivityRestored)] {
            #expect(machine.handle(event, at: start.later(.seconds(seconds - 1)), jitter: 0) == [])
        }
        let now = start.later(.seconds(seconds))
        #expect(machine.handle(.host(.deadlineReached), at: now, jitter: 0).count == 2)
    }

    @Test func `after one crash an account is tried again as after any lost answer`() {
        var crashed = Fixture.machine(.refreshing(MachineFixture.lease))
        var killed = crashed
        _ = crashed.handle(.host(.requestAbandoned(crashes: 1)), at: start, jitter: 0)
        _ = killed.handle(.host(.requestAbandoned(crashes: 0)), at: start, jitter: 0)
        #expect(crashed.state.deadline == killed.state.deadline)
        #expect(crashed.state.phase.backOffKind == killed.state.phase.backOffKind)
    }
}
