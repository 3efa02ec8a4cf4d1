import AccountStorage
import AuthRefreshInterface
import DemoIssuer
import Dispatch
import Foundation
import RefreshCore
import TestSupport
import Testing

@testable import Varlink
@testable import authrefreshd

/// Callers while a commit waits for the disk.
struct StalledCommitTests {
    /// The answer that a caller gets from the socket's thread; nil if the call goes to the coordinator.
    private static func answer(_ name: String, _ rig: CoordinatorRig) -> String? {
        let message = #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"\#(name)"}}"#
        guard let call = VarlinkCall(message: Array(message.utf8), limits: ServerLimits()),
            let now = try? rig.clock.timebase().now()
        else { return nil }
        return PlainAcquireToken(call)?.answer(from: rig.coordinator.tokens, at: now)
            .map { String(decoding: $0.reply, as: UTF8.self) }
    }

    /// Runs `work` on the coordinator's queue, which waits in its commit until `meanwhile` has ended.
    private func during(
        _ work: @escaping @Sendable (isolated RefreshCoordinator) throws -> Void,
        of rig: CoordinatorRig,
        _ meanwhile: () -> Void
    ) async throws {
        let (stalled, mayEnd) = (EventLog<Void>(), DispatchSemaphore(value: 0))
        async let end: Void = rig.inside { coordinator in
            // The store finds its log gone before it writes, and says so before it continues.
            coordinator.store.onLogRenewed = {
                stalled.append(())
                mayEnd.wait()
                coordinator.store.onLogRenewed = {}
            }
            try FileManager.default.removeItem(atPath: coordinator.store.path + "-wal")
            try work(coordinator)
        }
        try await stalled.first("the commit") { _ in true }
        meanwhile()
        mayEnd.signal()
        try await end
    }

    @Test func `a caller gets a token while a commit waits for the disk, and not one that the commit ends`()
        async throws
    {
        try await withFreshAccount { rig, issuer, work in
            let url = try #require(try await rig.state(of: "work")?.account.issuer.url)
            let home = try await rig.add("home", url, try await issuer.issueGrant(clientID: "app"))
            _ = await rig.waitForToken(of: home)
            let before = ["work", "home"].map { Self.answer($0, rig) }
            #expect(before[0] != nil && before[1] != nil)
            try await during({ try $0.eraseTokens(of: work) }, of: rig) {
                #expect(Self.answer("work", rig) == nil)
                #expect(Self.answer("home", rig) == before[1])
            }
            #expect(Self.answer("work", rig) == nil)
            #expect(Self.answer("home", rig) == before[1])
        }
    }

    @Test func `while a new token waits for the disk, callers get the one before`() async throws {
        try await withFreshAccount { rig, _, id in
            let before = Self.answer("work", rig)
            #expect(before != nil)
            let work = { @Sendable (coordinator: isolated RefreshCoordinator) in
                let generation = try coordinator.store.record(id)?.state.generation
                let event = Event.answer(.tokensIssued(try #require(generation), Issuance(lifetime: .seconds(1_000))))
                let tokens = StoredTokens(accessToken: AccessToken(Secret("next")))
                let arrival = QueuedEvent(account: id, event: event, tokens: tokens)
                try coordinator.decideNow(arrival, at: coordinator.timebase.now())
            }
            try await during(work, of: rig) { #expect(Self.answer("work", rig) == before) }
            #expect(Self.answer("work", rig)?.contains(#""next""#) == true)
        }
    }

    @Test func `a token whose sign-out failed is given out by the coordinator, which looks into the store`()
        async throws
    {
        try await withFreshAccount { rig, _, id in
            try rig.setStoreIsThere(false)
            await #expect(throws: (any Error).self) { try await rig.inside { try $0.eraseTokens(of: id) } }
            #expect(Self.answer("work", rig) == nil)
            #expect(try await rig.state(of: "work")?.holdsAccessToken(for: nil) == true)
            try rig.setStoreIsThere(true)
        }
    }
}
