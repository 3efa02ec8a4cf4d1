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
}
