import AccountStorage
import AuthRefreshInterface
import DemoIssuer
@testable import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// A store that was used on another machine.
struct OtherMachineTests {
    @Test func `the daemon says once that the store came from another machine, and which accounts wait`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            let grant = RefreshToken(Secret(try await issuer.issueGrant(clientID: "app").refreshToken))
            let account = Account(
                name: try #require(AccountName("work")),
                issuer: try Issuer(url: url),
                registration: ClientRegistration(clientID: "app")
            )
            let new = NewAccount(account, createdAt: Timestamp(microseconds: 0))
            // In one turn, so that the grant is not used in between.
            let id = try await rig.inside { coordinator in
                let id = try coordinator.add(new, grant: grant).account.id
                for machine in ["one", "two"] { try coordinator.store.settle(on: machine) }
                return id
            }
            try await rig.start()
            try await rig.log.first("the news") {
                $0.hasPrefix("the store came from another machine") && $0.contains("1 account is parked")
            }
            let parked = try #require(try await rig.state(of: "work")).wireStatus
            #expect(parked.state == "parked" && parked.reason == "otherMachine")
            #expect(parked.hint == "authctl account resume work, if the other machine no longer uses it")
            _ = await rig.waitForToken(of: id)
            #expect(await issuer.counters.tokenRequests == 0)

            try await rig.inside { try $0.unpark(id) }
            _ = await rig.waitForToken(of: id)
            let resumed = try #require(try await rig.state(of: "work")).wireStatus
            #expect(resumed.state == "fresh" && resumed.reason == nil)
            await rig.stop()
        }
    }

    @Test func `a store is opened with the grants of another machine parked`() async throws {
        let folder = try TemporaryFolder()
        let keyring = StoreKeyring.onFiles(in: folder.path)
        let path = folder.path + "/accounts.sqlite"
        let store = try keyring.openStore(at: path)
        let account = Account(
            name: try #require(AccountName("work")),
            issuer: try Issuer(url: "https://login.example.com"),
            registration: ClientRegistration(clientID: "app")
        )
        var new = NewAccount(account, createdAt: Timestamp(microseconds: 0))
        new.state = RefreshState(generation: Generation(1), phase: .scheduled, deadline: Timestamp(microseconds: 1))
        new.tokens = StoredTokens(refreshToken: RefreshToken(Secret("token")))
        _ = try store.add(new)
        try store.settle(on: "one")
        try store.close()
        let answers = EventLog<StoreOpener.Answer>()
        let opener = StoreOpener(
            executor: DispatchQueueExecutor(label: "test"),
            path: path,
            keyring: keyring,
            busAddress: nil,
            machine: "two"
        ) { answers.append($0) }
        await opener.open(with: keyring)
        let answer = try await answers.first("the store") { _ in true }
        let opened = try #require(try answer.get().take())
        #expect(opened.parkedGrants == 1)
        #expect(try opened.counts().parked == 1)
        try opened.close()
    }
}
