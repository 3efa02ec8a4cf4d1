import GRDB
import RefreshCore
import Testing

@testable import AccountStorage

struct StoreActivityTests {
    private let folder: TemporaryFolder
    private let store: AccountStore

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    @Test func `others see that the owner is inside SQLite, and that it is not`() throws {
        let activity = StoreActivity()
        store.activity = activity
        #expect(!activity.isUnderWay)
        #expect(try store.connection.read { _ in activity.isUnderWay })
        #expect(try store.connection.write { _ in activity.isUnderWay })
        #expect(throws: StoreError.self) { try store.connection.write { _ in throw StoreError.gone(path: "") } }
        #expect(!activity.isUnderWay)
    }

    @Test func `the number of crashes during an account's requests outlives the daemon`() throws {
        #expect(try store.crashes() == [:])
        try store.recordCrashes([AccountID(3): 1, AccountID(7): 2])
        try store.close()
        let again = try folder.open()
        #expect(try again.crashes() == [AccountID(3): 1, AccountID(7): 2])
        try again.recordCrashes([:])
        #expect(try again.crashes() == [:])
    }
}
