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
        let isSeen = activity.during { activity.isUnderWay }
        #expect(isSeen)
        // Every beginning has its end, also of what uses the files beside SQLite.
        try store.checkPlace()
        #expect(store.hasName)
        let copy = try StoreCopy(of: store, for: .check)
        while true {
            if let finished = try copy.advance(pages: 100) {
                finished.remove()
                break
            }
        }
        try StoreCopy(of: store, for: .check).discard()
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
