import AccountStorage
@testable import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// Accounts that could not be read, and can be read again.
struct SetAsideTests {
    @Test func `all repaired accounts return, however many were set aside`() async throws {
        let rig = try CoordinatorRig()
        let count = 2 * Scheduler.batchSize + 3
        try await rig.inside { coordinator in
            let accounts = try (0..<count).map { number in
                NewAccount(
                    Account(
                        name: try #require(AccountName("a\(number)")),
                        issuer: try Issuer(url: "https://login.example.com"),
                        registration: ClientRegistration(clientID: "app")
                    ),
                    createdAt: Timestamp(microseconds: 0)
                )
            }
            #expect(try coordinator.store.schedule.setAside(try coordinator.store.add(accounts)).count == count)
        }
        try await rig.start()
        // After the turns in which they return, which begin before all others.
        for _ in 0..<3 { #expect(try await rig.inside { try $0.overview().accounts } == count) }
        #expect(try await rig.inside { try $0.overview().damaged } == 0)
        await rig.stop()
    }
}
