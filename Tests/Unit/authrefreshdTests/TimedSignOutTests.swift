import AccountStorage
import DemoIssuer
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// Sign-outs by `forgetAfter`, with clocks that a test moves.
struct TimedSignOutTests {
    private static let length = Duration.seconds(28_800)

    /// Runs `body` with a fresh account that signs out eight hours after now.
    private func withSigningOut(
        _ body: (CoordinatorRig, DemoIssuer, AccountID) async throws -> Void
    ) async throws {
        try await withFreshAccount(isClockStopped: true) { rig, issuer, account in
            let change = SettingsChange(setting: { $0.policy.forgetAfter = Self.length })
            _ = try await rig.coordinator.update(account, by: change)
            try await body(rig, issuer, account)
        }
    }

    @Test func `a wall clock that is wrong for a moment signs nobody out, and gives nothing out`() async throws {
        try await withSigningOut { rig, issuer, _ in
            let asked = await issuer.counters.tokenRequests
            await rig.stepClock(by: .seconds(86_400))
            let wrong = try #require(try await rig.state(of: "work"))
            #expect(wrong.isOver && !wrong.holdsAccessToken(for: .zero) && wrong.shown == .signedOut)
            #expect(wrong.state.phase == .scheduled)
            await rig.stepClock(by: .seconds(-86_400))
            let right = try #require(try await rig.state(of: "work"))
            #expect(right.holdsAccessToken(for: .zero) && right.shown == .fresh)
            #expect(await issuer.counters.tokenRequests == asked)
        }
    }

    @Test func `the tokens are erased when the boot-time clock agrees, also with a wall clock set back`() async throws {
        try await withSigningOut { rig, _, _ in
            await rig.stepClock(by: .seconds(-86_400))
            await rig.pass(Self.length)
            let ended = try await rig.state(of: "work")
            #expect(ended?.state.phase == .signedOut)
        }
    }

    @Test func `after a restart of the machine the wall clock is believed when it has gone undisturbed`() async throws {
        try await withSigningOut { rig, _, _ in
            await rig.reboot(losing: .zero)
            await rig.stepClock(by: Self.length)
            await rig.pass(SignOutRule.agreement - .seconds(1))
            let waiting = try await rig.state(of: "work")
            #expect(waiting?.isOver == true && waiting?.state.phase == .scheduled)
            await rig.pass(.seconds(1))
            let ended = try await rig.state(of: "work")
            #expect(ended?.state.phase == .signedOut)
        }
    }

    @Test func `a call for a token is refused at once while a clock says that the time is over`() async throws {
        try await withSigningOut { rig, _, account in
            await rig.stepClock(by: .seconds(86_400))
            let outcome = await rig.waitForToken(of: account)
            #expect(outcome.snapshot?.isOver == true && outcome.snapshot?.state.phase == .scheduled)
        }
    }
}
