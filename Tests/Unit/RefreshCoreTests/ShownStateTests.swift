import RefreshCore
import Testing

/// The states that people see.
@Suite struct ShownStateTests {
    private let start = MachineFixture.start

    @Test func `an account is fresh while its token is valid, and retrying after it has expired`() {
        let state = MachineFixture.machine(.scheduled).state
        #expect(state.shown(at: start) == .fresh)
        #expect(state.shown(at: start.later(.seconds(3599))) == .fresh)
        #expect(state.shown(at: start.later(.seconds(3600))) == .retrying)
    }

    @Test func `a new grant is refreshing, and retrying if its first refresh is late`() {
        var machine = MachineFixture.machine(.signedOut)
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: nil)), at: start, jitter: 0.5)
        #expect(machine.state.shown(at: start) == .refreshing)
        #expect(machine.state.shown(at: start.later(.seconds(5))) == .retrying)
    }
}
