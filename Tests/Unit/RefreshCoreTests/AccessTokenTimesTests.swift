@testable import RefreshCore
import Testing

@Suite struct AccessTokenTimesTests {
    private let start = MachineFixture.start
    private let token = AccessTokenTimes(
        issuedAt: MachineFixture.start,
        lifetime: .seconds(3600),
        refreshAfter: .seconds(2400)
    )

    @Test func `a token is due at its time and not before`() {
        #expect(!token.isDue(at: start.later(.microseconds(2_399_999_999))))
        #expect(token.isDue(at: start.later(.seconds(2400))))
    }

    @Test func `a token is due if either clock says so`() {
        #expect(token.isDue(at: start.stepped(.seconds(2400))))
        #expect(token.isDue(at: start.later(.seconds(2400)).stepped(.seconds(-365 * 86_400))))
    }

    @Test func `a wall clock set back within one boot does not make a token due`() {
        #expect(!token.isDue(at: start.later(.seconds(60)).stepped(.seconds(-3600))))
    }

    @Test func `a token from the future of an earlier boot is due`() {
        #expect(token.isDue(at: start.rebooted(.seconds(-1))))
        #expect(!token.isDue(at: start.rebooted(.seconds(1))))
    }

    @Test func `time in a suspend counts`() {
        #expect(token.remaining(at: start.later(.seconds(8 * 3600))) == .zero)
        #expect(token.remaining(at: start.later(.seconds(600))) == .seconds(3000))
        #expect(token.remaining(at: start.rebooted(.seconds(600))) == .seconds(3000))
    }

    @Test func `the expiry is given by the current wall clock`() {
        let planned = start.wall + .seconds(3600)
        #expect(token.expiresAt(at: start.later(.seconds(600))) == planned)
        #expect(token.expiresAt(at: start.later(.seconds(7200))) == planned)
        #expect(
            token.expiresAt(at: start.later(.seconds(600)).stepped(.seconds(-86_400))) == planned - .seconds(86_400)
        )
    }

    @Test func `the clock that shows less decides how long a token is given out`() {
        // A virtual machine was paused, or the wall clock was set forward.
        let forward = start.later(.seconds(600)).stepped(.seconds(86_400))
        #expect(token.remaining(at: forward) == .zero && !token.suffices(for: .zero, at: forward))
        let little = start.later(.seconds(600)).stepped(.seconds(60))
        #expect(token.remaining(at: little) == .seconds(2940))
        #expect(token.remaining(at: start.later(.seconds(600)).stepped(.seconds(-86_400))) == .seconds(3000))
    }

    @Test(arguments: [-86_400, -1000, -2, 0, 2, 60, 3000, 86_400])
    func `no expiry is later than the rest that either clock shows`(step: Int) {
        let now = start.later(.seconds(600)).stepped(.seconds(step))
        let rest = token.expiresAt(at: now) - now.wall
        #expect(rest <= .seconds(3000) && rest <= .seconds(3000 - step))
        #expect(max(rest, .zero) == token.remaining(at: now))
    }

    @Test func `a wall clock that is wrong for a moment calls nobody for a token that cannot be refreshed`() {
        var machine = MachineFixture.machine(.scheduled)
        machine = RefreshMachine(
            state: RefreshState(phase: .scheduled, accessToken: machine.state.accessToken, isRefreshable: false),
            policy: RefreshPolicy()
        )
        let wrong = start.later(.seconds(1)).stepped(.seconds(86_400))
        for event in [Event.host(.deadlineReached), .demand(.tokenNeeded), .demand(.refreshRequested)] {
            let effects = machine.handle(event, at: wrong, jitter: 0.5)
            #expect(!effects.contains { if case .publish = $0 { true } else { false } })
            #expect(
                machine.state.phase == .scheduled && machine.state.deadline ?? wrong.wall > wrong.wall - .seconds(1)
            )
        }
    }

    @Test func `a token suffices for a wish up to what the server gives, and never after its expiry`() {
        #expect(token.suffices(for: .seconds(600), at: start.later(.seconds(3000))))
        #expect(!token.suffices(for: .seconds(600), at: start.later(.seconds(3001))))
        #expect(token.suffices(for: .seconds(86_400), at: start.later(.seconds(360))))
        #expect(!token.suffices(for: .seconds(86_400), at: start.later(.seconds(361))))
        for minimumValidity in [Duration.zero, .seconds(-1), nil] {
            #expect(token.suffices(for: minimumValidity, at: start.later(.seconds(3000))))
            #expect(!token.suffices(for: minimumValidity, at: start.later(.seconds(3600))))
        }
    }

    @Test func `a held token must have the requested validity, and must not have expired`() {
        let state = MachineFixture.machine(.scheduled).state
        #expect(state.holdsAccessToken(for: .seconds(3600), at: start))
        #expect(!state.holdsAccessToken(for: .seconds(3600), at: start.later(.microseconds(1))))
        #expect(!state.holdsAccessToken(for: .zero, at: start.later(.seconds(3600))))
        #expect(!RefreshState().holdsAccessToken(for: .zero, at: start))
    }
}
