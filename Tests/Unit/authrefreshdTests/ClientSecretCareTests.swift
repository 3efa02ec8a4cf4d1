import AccountStorage
import DemoIssuer
import Glibc
import OAuthClient
import OAuthMessages
@testable import RefreshCore
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

/// Client secrets that expire, and their renewal by the servers.
struct ClientSecretCareTests {
    private static let management = RegistrationManagement(
        uri: "http://127.0.0.1:9/register/app",
        accessToken: Secret("t1")
    )

    /// A registration whose secret expires within the hour.
    private static func registration(secret: String, isManaged: Bool = true) throws -> ClientRegistration {
        let now = try Timebase.system().now().wall
        return ClientRegistration(
            clientID: "app",
            authentication: .clientSecretPost,
            clientSecret: Secret(secret),
            clientSecretExpiresAt: now + .seconds(3600),
            management: isManaged ? management : nil
        )
    }

    private static func add(
        _ registration: ClientRegistration,
        to rig: CoordinatorRig,
        named name: String = "work",
        url: String = "http://127.0.0.1:9",
        grant: String? = nil
    ) async throws -> Account {
        let account = NewAccount(
            Account(
                name: try #require(AccountName(name)),
                issuer: try Issuer(url: url),
                registration: registration
            ),
            createdAt: Timestamp(microseconds: 0)
        )
        return try await rig.coordinator.add(account, grant: grant.map { RefreshToken(Secret($0)) })
            .account
    }

    /// `registration` after the server renewed it: another secret, another token, a later expiry.
    private static func renewed(_ registration: ClientRegistration) -> ClientRegistration {
        var renewed = registration
        renewed.clientSecret = Secret("s2")
        renewed.clientSecretExpiresAt = registration.clientSecretExpiresAt.map { $0 + .seconds(86_400) }
        renewed.management?.accessToken = Secret("t2")
        return renewed
    }

    private static func renewal(
        of account: Account,
        in coordinator: isolated RefreshCoordinator
    ) -> ClientSecretRenewal {
        let asking = coordinator.requestingClient(of: account, correlationID: "c1")
        return ClientSecretRenewal(account: account.id, management: management, asking: asking)
    }

    /// Makes a renewal of `account` whose result cannot be stored, because the store's file was moved.
    private static func keepWithoutStore(_ account: Account, in rig: CoordinatorRig) async -> Bool {
        await rig.inside { coordinator in
            _ = unsafe rename(coordinator.store.path, coordinator.store.path + ".away")
            coordinator.registrations.beginRenewal(account.registration, of: account.id)
            defer { coordinator.registrations.endRenewal(of: account.id) }
            let renewal = renewal(of: account, in: coordinator)
            return coordinator.keep(renewed(account.registration), of: renewal, isRenewal: true)
        }
    }

    private static func putStoreBack(of rig: CoordinatorRig) async {
        await rig.inside { _ = unsafe rename($0.store.path + ".away", $0.store.path) }
        await rig.pass(StoreOutage.retryInterval + .seconds(1))
    }

    private static func stored(_ account: Account, in rig: CoordinatorRig) async throws -> ClientRegistration? {
        try await rig.inside { try $0.store.record(account.id)?.account.registration }
    }

    @Test func `a renewed secret that cannot be stored is used, and stored when that is possible again`() async throws {
        let rig = try CoordinatorRig()
        try await rig.start()
        let account = try await Self.add(Self.registration(secret: "s1"), to: rig)
        #expect(await Self.keepWithoutStore(account, in: rig) == false)
        let used = await rig.inside { $0.requestingClient(of: account, correlationID: "c2").registration }
        #expect(used.clientSecret == Secret("s2") && used.management?.accessToken == Secret("t2"))
        #expect(await rig.inside { $0.trouble != nil && !$0.registrations.areStored })

        await Self.putStoreBack(of: rig)
        #expect(await rig.inside { $0.trouble == nil && $0.registrations.areStored })
        #expect(try await Self.stored(account, in: rig) == used)
        await rig.stop()
    }

    @Test func `an edit with the previous secret does not undo a renewal`() async throws {
        let rig = try CoordinatorRig()
        try await rig.start()
        let account = try await Self.add(Self.registration(secret: "s1"), to: rig)
        #expect(await Self.keepWithoutStore(account, in: rig) == false)
        try await rig.inside { coordinator in
            _ = unsafe rename(coordinator.store.path + ".away", coordinator.store.path)
            let change = SettingsChange(setting: { $0.registration = account.registration })
            _ = try coordinator.update(account.id, by: change)
        }
        let stored = try #require(try await Self.stored(account, in: rig))
        #expect(stored.clientSecret == Secret("s2") && stored.management?.accessToken == Secret("t2"))
        await rig.stop()
    }

    @Test func `the end waits until a renewed secret is stored`() async throws {
        let rig = try CoordinatorRig()
        try await rig.start()
        let account = try await Self.add(Self.registration(secret: "s1"), to: rig)
        #expect(await Self.keepWithoutStore(account, in: rig) == false)
        async let end: Void = rig.stop()
        await rig.inside { $0.finishShutdownIfIdle() }
        #expect(await rig.inside { !$0.lifecycle.isOver && !$0.registrations.areStored })
        await Self.putStoreBack(of: rig)
        await end
        #expect(await rig.inside { $0.lifecycle.isOver && $0.registrations.areStored })
    }

    @Test func `a person's new secret is kept together with the registration's new token`() async throws {
        let rig = try CoordinatorRig()
        try await rig.start()
        var account = try await Self.add(Self.registration(secret: "s1"), to: rig)
        let asked = account.registration
        account.registration.clientSecret = Secret("person's")
        account.registration.clientSecretExpiresAt = nil
        let (edited, id) = (account, account.id)
        try await rig.inside { coordinator in
            _ = try coordinator.update(id, by: SettingsChange(setting: { $0 = edited }))
            coordinator.registrations.beginRenewal(asked, of: id)
            let renewal = Self.renewal(of: edited, in: coordinator)
            _ = coordinator.keep(Self.renewed(asked), of: renewal, isRenewal: true)
            coordinator.registrations.endRenewal(of: id)
        }
        let stored = try #require(try await Self.stored(account, in: rig))
        #expect(stored.clientSecret == Secret("person's") && stored.clientSecretExpiresAt == nil)
        #expect(stored.management?.accessToken == Secret("t2"))
        await rig.stop()
    }

    @Test func `a renewal without a place is tried again soon, and takes no place from people`() async throws {
        let rig = try CoordinatorRig()
        try await rig.start()
        let account = try await Self.add(Self.registration(secret: "s1"), to: rig)
        await rig.inside { coordinator in
            for other in [AccountID(71), AccountID(72)] {
                coordinator.registrations.beginRenewal(account.registration, of: other)
            }
            coordinator.renewClientSecretIfDue(of: account.id)
            #expect(coordinator.lifecycle.serverCalls.isEmpty)
            let soon = coordinator.timebase.now().wall + .seconds(61)
            #expect(coordinator.registrations.nextLook(at: account.id).map { $0 < soon } == true)
            for other in [AccountID(71), AccountID(72)] { coordinator.registrations.endRenewal(of: other) }
        }
        await rig.stop()
    }

    @Test func `no renewal begins while the store fails, or when the daemon ends`() async throws {
        let rig = try CoordinatorRig()
        try await rig.start()
        let account = try await Self.add(Self.registration(secret: "s1"), to: rig)
        await rig.inside { coordinator in
            let now = coordinator.timebase.now()
            _ = coordinator.storeKeeping.noteFailure(.diskFull(path: coordinator.store.path), at: now)
            coordinator.renewClientSecretIfDue(of: account.id)
            _ = coordinator.storeKeeping.noteSuccess()
            let running = coordinator.lifecycle
            coordinator.lifecycle.stop()
            coordinator.renewClientSecretIfDue(of: account.id)
            coordinator.lifecycle = running
            #expect(coordinator.lifecycle.serverCalls.isEmpty)
            #expect(coordinator.registrations.nextLook(at: account.id) == nil)
        }
        await rig.stop()
    }

    @Test func `a refusal of the previous secret is not a misconfiguration`() async throws {
        let client = DemoClient(id: "app", authentication: .post(secret: "s2"))
        try await withIssuer(clients: [client]) { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            try await issuer.script(.delayBefore(.seconds(3600)))
            let grant = try await issuer.issueGrant(clientID: "app").refreshToken
            let before = try Self.registration(secret: "s1", isManaged: false)
            let account = try await Self.add(before, to: rig, url: url, grant: grant)
            async let first = rig.waitForToken(of: account.id)
            let after = try await rig.inside { coordinator in
                #expect(coordinator.scheduler.requests[account.id] != nil)
                let change = SettingsChange(setting: { $0.registration.clientSecret = Secret("s2") })
                return try coordinator.update(account.id, by: change)
            }
            #expect(after != nil)
            _ = try await issuer.waitForRequest { $0.outcome == .held }
            await issuer.endDelays()
            // The refusal is that of the old secret. The next attempt follows soon, with the new one.
            #expect(await first.snapshot?.shown != .misconfigured)
            await rig.pass(.seconds(3))
            #expect(await rig.waitForToken(of: account.id).snapshot?.shown == .fresh)
            await rig.stop()
        }
    }
}
