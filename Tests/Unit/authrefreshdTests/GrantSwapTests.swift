import AccountStorage
import DemoIssuer
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// Replacing a working grant by one from outside, while something else happens.
struct GrantSwapTests {
    /// The content of an export: the client of the grant, and a setting of its own.
    private static let change = SettingsChange(setting: {
        $0.registration.clientID = "desk"
        $0.policy.leadTime = .seconds(420)
    })

    /// Runs `body` with `work`, which is fresh, and a grant for it from another client.
    private func withSwap(
        _ body: (CoordinatorRig, DemoIssuer, Account, RefreshToken) async throws -> Void
    ) async throws {
        try await withIssuer(clients: [DemoClient(id: "app"), DemoClient(id: "desk")]) { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            _ = await rig.waitForToken(of: id)
            let held = try #require(try await rig.state(of: "work")).account
            let grant = RefreshToken(Secret(try await issuer.issueGrant(clientID: "desk").refreshToken))
            try await issuer.script(.delayAfter(.seconds(3600)))
            try await body(rig, issuer, held, grant)
            #expect(await issuer.counters.spentTokenUses == 0)
        }
    }

    private static func stored(_ id: AccountID, in rig: CoordinatorRig) async throws -> Account? {
        try await rig.inside { try $0.store.record(id)?.account }
    }

    private static func edit(_ id: AccountID, in coordinator: isolated RefreshCoordinator) throws {
        _ = try coordinator.update(
            id,
            by: SettingsChange(setting: { $0.policy.leadTime = .seconds(60) })
        )
        try coordinator.rename(id, to: #require(AccountName("old")))
    }

    /// Moves the store away as if its files were not watched. Nobody notices before something is to be stored.
    private static func takeAwayUnseen(in rig: CoordinatorRig) async throws {
        try rig.setStoreIsThere(false)
        try await rig.log.first("the news of it") { $0.contains("the store cannot be used") }
        #expect(await rig.inside { $0.storeKeeping.noteSuccess() })
    }

    @Test func `changes during the proof of a grant are kept together with the grant`() async throws {
        try await withSwap { rig, issuer, held, grant in
            let change = SettingsChange(setting: { $0.registration.clientID = "desk" })
            let swap = Task { await rig.prove(grant, for: change.applied(to: held), by: change) }
            _ = try await issuer.waitForRequest { $0.clientID == "desk" }
            try await rig.inside { try Self.edit(held.id, in: $0) }
            await issuer.endDelays()
            #expect(await swap.value.stored?.shown == .fresh)
            let stored = try #require(try await Self.stored(held.id, in: rig))
            #expect(stored.registration.clientID == "desk")
            #expect(stored.policy.leadTime == .seconds(60) && stored.name.text == "old")
            await rig.stop()
        }
    }

    @Test func `a proof for a client that the account no longer has does not count`() async throws {
        try await withSwap { rig, issuer, held, grant in
            let asked = SettingsChange(setting: { $0.registration.clientID = "desk" }).applied(to: held)
            let proof = Task { await rig.prove(grant, for: asked, by: nil) }
            _ = try await issuer.waitForRequest { $0.clientID == "desk" }
            await issuer.endDelays()
            #expect(await proof.value.isRefused)
            let stored = try await Self.stored(held.id, in: rig)
            #expect(stored?.registration.clientID == "app")
            await rig.stop()
        }
    }

    @Test func `a proved grant that cannot be stored is stored later, without undoing later changes`() async throws {
        try await withSwap { rig, issuer, held, grant in
            let swap = Task {
                await rig.prove(grant, for: Self.change.applied(to: held), by: Self.change)
            }
            _ = try await issuer.waitForRequest { $0.clientID == "desk" }
            try await Self.takeAwayUnseen(in: rig)
            await issuer.endDelays()
            #expect(await swap.value.isUnstored)
            #expect(await rig.inside { $0.trouble != nil && $0.records.unstored.count == 1 })
            await #expect(throws: StoreError.self) { try await rig.inside { try $0.storeKeeping.checkIsWritable() } }

            // In one turn: the pending data is stored together with the edit, and before it.
            try await rig.inside { coordinator in
                try rig.setStoreIsThere(true)
                try Self.edit(held.id, in: coordinator)
            }
            let stored = try #require(try await Self.stored(held.id, in: rig))
            #expect(stored.registration.clientID == "desk")
            #expect(stored.policy.leadTime == .seconds(60) && stored.name.text == "old")
            #expect(await rig.inside { $0.trouble == nil && $0.records.areStored })
            try await rig.log.first("the news") { $0.contains("account updated") }
            await rig.stop()
        }
    }

    @Test func `the end waits until a proved grant is stored, with its settings`() async throws {
        try await withSwap { rig, issuer, held, grant in
            let swap = Task {
                await rig.prove(grant, for: Self.change.applied(to: held), by: Self.change)
            }
            _ = try await issuer.waitForRequest { $0.clientID == "desk" }
            try await Self.takeAwayUnseen(in: rig)
            await issuer.endDelays()
            #expect(await swap.value.isUnstored)
            async let end: Void = rig.stop()
            await rig.inside { $0.finishShutdownIfIdle() }
            #expect(await rig.inside { !$0.lifecycle.isOver && $0.records.unstored.count == 1 })
            try rig.setStoreIsThere(true)
            await rig.pass(StoreOutage.retryInterval + .seconds(1))
            await end
            #expect(await rig.inside { $0.lifecycle.isOver && $0.records.areStored })
        }
    }
}

extension GrantProof.Outcome {
    fileprivate var stored: AccountSnapshot? {
        if case .stored(let snapshot) = self { snapshot } else { nil }
    }

    fileprivate var isRefused: Bool {
        if case .refused = self { true } else { false }
    }

    fileprivate var isUnstored: Bool {
        if case .unstored = self { true } else { false }
    }
}
