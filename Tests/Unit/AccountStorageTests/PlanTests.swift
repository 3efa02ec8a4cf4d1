import GRDB
import Testing

@testable import AccountStorage

struct PlanTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func plan(of sql: String, in store: AccountStore) throws -> [String] {
        try store.connection.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
            let numbered = (1...4).filter { sql.contains("?\($0)") }.count
            let count = numbered > 0 ? numbered : sql.count { $0 == "?" }
            let arguments = StatementArguments([Int?](repeating: nil, count: count))
            return try Row.fetchAll(statement, arguments: arguments).map { $0["detail"] }
        }
    }

    @Test(arguments: StoreStatement.allCases)
    func `every statement finds its rows through an index, in its order`(query: StoreStatement) throws {
        let plan = try plan(of: query.sql, in: folder.open())
        let steps = plan.filter { !$0.contains("SCALAR SUBQUERY") }
        #expect(!steps.isEmpty)
        for step in steps {
            #expect(step.hasPrefix("SEARCH") && !step.contains("TEMP B-TREE"), "\(query): \(step)")
        }
    }

    @Test func `one user among a million at one address is found by an index`() throws {
        let plan = try plan(of: StoreStatement.accountsByAddressAndUser.sql, in: folder.open())
        #expect(plan.first?.contains("COVERING INDEX account_url_user (url=? AND username=?") == true, "\(plan)")
    }

    @Test func `the schedule reads its index and nothing else`() throws {
        let store = try folder.open()
        for query in [StoreStatement.dueOnline, .nextDeadlineOnline] {
            #expect(try plan(of: query.sql, in: store).first?.contains("COVERING INDEX account_deadline ") == true)
        }
        for query in [StoreStatement.dueOffline, .nextDeadlineOffline] {
            #expect(try plan(of: query.sql, in: store).first?.contains("INDEX account_local_deadline ") == true)
        }
        for query in [StoreStatement.signOutDue, .nextSignOut] {
            #expect(try plan(of: query.sql, in: store).first?.contains("INDEX account_sign_out ") == true)
        }
        for query in [StoreStatement.signOutDueByWall, .nextSignOutByWall] {
            let steps = try plan(of: query.sql, in: store)
            #expect(steps.first?.contains("INDEX account_sign_out_by_wall ") == true, "\(steps)")
        }
        #expect(try plan(of: StoreStatement.leased.sql, in: store).first?.contains("INDEX account_leased ") == true)
        let waiting = try plan(of: StoreStatement.awaitingConnectivity.sql, in: store)
        #expect(waiting.first?.contains("INDEX account_troubled ") == true)
    }
}
