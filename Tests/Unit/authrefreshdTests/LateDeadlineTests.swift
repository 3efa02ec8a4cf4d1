import AccountStorage
import DemoIssuer
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// Deadlines that are past when they are written, or when the store can be written again. No timer fires for a past
/// time.
struct LateDeadlineTests {
    @Test func `an answer with an expired token is followed by a refresh at once`() async throws {
        try await withFreshAccount { rig, issuer, _ in
            try await issuer.script(.delayAfter(.seconds(3600)))
            let before = await issuer.lastSequence
            await rig.pass(.seconds(41 * 60))
            let served = try await issuer.waitForRequest(after: before) { $0.outcome == .rotated }
            // The machine sleeps. The answer is there when it wakes.
            await rig.pass(.seconds(2 * 3_600))
            await issuer.endDelays()
            _ = try await issuer.waitForRequest(after: served.sequence) { $0.outcome == .rotated }
        }
    }

    @Test func `a caller whose answer has an expired token gets the next one`() async throws {
        try await withFreshAccount { rig, issuer, id in
            try await issuer.script(.delayAfter(.seconds(3600)))
            let before = await issuer.lastSequence
            await rig.pass(.seconds(41 * 60))
            _ = try await issuer.waitForRequest(after: before) { $0.outcome == .rotated }
            await rig.pass(.seconds(2 * 3_600))
            await issuer.endDelays()
            let snapshot = try #require(await rig.waitForToken(of: id).snapshot)
            #expect(snapshot.holdsAccessToken(for: nil))
            #expect(snapshot.state.generation == Generation(4))
        }
    }

    @Test func `a due token waits after a failed request for claims`() async throws {
        try await withFreshAccount { rig, issuer, id in
            await rig.inside { coordinator in
                var demand = StepUp(since: coordinator.timebase.now().wall, claims: "{}")
                demand.needsPerson = false
                coordinator.stepUps.note(demand, of: id)
            }
            // If all of these requests were sent at once, the twenty-first would bring a token.
            try await issuer.script(.answer(CannedAnswer(status: 503, body: "")), times: 20)
            await rig.pass(.seconds(2 * 3_600))
            let snapshot = try #require(await rig.waitForToken(of: id).snapshot)
            guard case .backingOff = snapshot.state.phase else {
                Issue.record("\(snapshot.state.phase)")
                return
            }
        }
    }

    @Test func `accounts that became due during a store failure are refreshed right after it`() async throws {
        try await withFreshAccount { rig, issuer, _ in
            await rig.inside { coordinator in
                let full = StoreError.diskFull(path: coordinator.store.path)
                _ = coordinator.storeKeeping.noteFailure(full, at: coordinator.timebase.now())
            }
            let sequence = await issuer.lastSequence
            await rig.pass(.seconds(41 * 60))
            _ = try await issuer.waitForRequest(after: sequence) { $0.outcome == .rotated }
        }
    }
}
