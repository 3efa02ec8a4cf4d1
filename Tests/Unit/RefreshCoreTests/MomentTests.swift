import Testing

@testable import RefreshCore

@Suite struct MomentTests {
    private let start = MachineFixture.start

    @Test(arguments: [-365 * 86_400, -1, 0, 1, 365 * 86_400])
    func `a stepped wall clock does not change how much time has passed`(step: Int) {
        #expect(start.later(.seconds(60)).stepped(.seconds(step)).elapsed(since: start) == .seconds(60))
    }

    @Test func `across a reboot the wall clock counts, but never below zero`() {
        #expect(start.rebooted(.seconds(600)).elapsed(since: start) == .seconds(600))
        #expect(start.rebooted(.seconds(-600)).elapsed(since: start) == .zero)
    }

    @Test func `readings of two boots cannot be compared`() {
        #expect(start.rebooted(.zero).boot.elapsed(since: start.boot) == nil)
    }

    @Test func `the longest elapsed time comes from the clock that was not stopped`() {
        // A paused virtual machine: the wall clock is right.
        #expect(start.stepped(.seconds(900)).longestElapsed(since: start) == .seconds(900))
        // A wall clock that was set back: the boot-time clock is right.
        #expect(start.later(.seconds(60)).stepped(.seconds(-900)).longestElapsed(since: start) == .seconds(60))
    }

    @Test func `an instant moves with a wall clock set back, but not with one set forward`() {
        let back = start.later(.seconds(60)).stepped(.seconds(-900))
        #expect(start.asSeen(at: back).wall == back.wall - .seconds(60))
        let forward = start.later(.seconds(60)).stepped(.seconds(900))
        #expect(start.asSeen(at: forward) == start)
    }

    @Test func `a time in which something may be given out is over as soon as one clock says so`() {
        let ends = ClockEnds(of: .seconds(600), since: start, at: start)
        #expect(ends.remaining(at: start.later(.seconds(60))) == .seconds(540))
        #expect(ends.remaining(at: start.later(.seconds(60)).stepped(.seconds(100))) == .seconds(440))
        #expect(ends.remaining(at: start.later(.seconds(60)).stepped(.seconds(-900))) == .seconds(540))
        #expect(ends.remaining(at: start.stepped(.seconds(600))) == .zero)
        #expect(ends.remaining(at: start.later(.seconds(600)).stepped(.seconds(-600))) == .zero)
        #expect(ends.remaining(at: start.rebooted(.zero)) == .zero)
        // After a restart of the machine, only the wall clock has counted.
        let rebooted = start.rebooted(.seconds(500))
        #expect(ClockEnds(of: .seconds(600), since: start, at: rebooted).remaining(at: rebooted) == .seconds(100))
    }

    @Test func `a token may be given out until it expires or its account signs out, whatever comes first`() {
        var state = MachineFixture.machine(.scheduled).state
        #expect(state.givable(at: start)?.remaining(at: start) == .seconds(3600))
        state.signOut = RefreshTokenTimes(issuedAt: start, lifetime: .seconds(60), isExtendedByUse: false)
        #expect(state.givable(at: start)?.remaining(at: start.stepped(.seconds(20))) == .seconds(40))
        state.accessToken = nil
        #expect(state.givable(at: start) == nil)
    }
}
