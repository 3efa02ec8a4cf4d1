import GRDB
@testable import RefreshCore
import Synchronization
import Testing

@testable import AccountStorage

/// A store that comes to another machine.
struct MachineTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// An account with a refresh token of generation 1.
    private static func holder(_ name: String, _ phase: Phase, isRotating: Bool?) throws -> NewAccount {
        var state = RefreshState(generation: Generation(1), phase: phase, deadline: Sample.start)
        state.isRotating = isRotating
        let tokens = StoredTokens(refreshToken: Sample.refreshToken(name))
        return try Sample.account(name, state: state, tokens: tokens)
    }

    private static func calling(_ reason: InteractionReason) -> Phase {
        .interactionRequired(InteractionRequired(reason: reason, since: Sample.start, failure: Sample.failure))
    }

    private static let lease = Lease(generation: Generation(1), startedAt: Sample.moment(0))
    private static let backOff = BackOff(
        failedAt: Sample.moment(0),
        delay: .seconds(9),
        kind: .transient,
        failure: Sample.failure
    )

    private static func state(of name: String, in store: AccountStore) throws -> RefreshState? {
        try store.record(named: Sample.name(name))?.state
    }

    @Test func `on another machine the grants that may rotate are parked, once`() throws {
        let store = try folder.open()
        let parked: [(String, Phase)] = [
            ("scheduled", .scheduled), ("refreshing", .refreshing(Self.lease)), ("waiting", .backingOff(Self.backOff)),
            ("asked", Self.calling(.userRequired)),
        ]
        _ = try store.add(parked.map { try Self.holder($0.0, $0.1, isRotating: true) })
        _ = try store.add([
            Self.holder("new", .scheduled, isRotating: nil), Self.holder("fixed", .scheduled, isRotating: false),
            Self.holder("dead", Self.calling(.grantEnded), isRotating: true),
            Self.holder("moved", .parked(.moved), isRotating: true),
            Sample.account("robot", state: .service(at: Sample.moment(0))), Sample.account("out"),
        ])
        let before = try store.counts()
        #expect(try store.settle(on: "one") == 0)
        #expect(try store.settle(on: nil) == 0 && store.counts() == before)
        #expect(try store.settle(on: "two") == 5)
        for name in parked.map(\.0) + ["new"] {
            let state = try #require(try Self.state(of: name, in: store))
            #expect(state.phase == .parked(.otherMachine) && state.deadline == nil, "\(name)")
            #expect(state.isOutcomeUnknown == (name == "refreshing"), "\(name)")
        }
        #expect(try Self.state(of: "moved", in: store)?.phase == .parked(.moved))
        #expect(try Self.state(of: "fixed", in: store)?.phase == .scheduled)
        #expect(try Self.state(of: "robot", in: store)?.phase == .scheduled)
        #expect(try Self.state(of: "dead", in: store)?.phase == Self.calling(.grantEnded))
        #expect(try store.counts().parked == 6)
        #expect(try store.schedule.leased(limit: 9) == [])
        #expect(try store.settle(on: "two") == 0)
        try store.close()
        #expect(try folder.open().settle(on: "one") == 0, "the others are parked already, or do not rotate")
    }

    @Test func `many grants are parked in pieces, each by a statement of its own`() throws {
        let store = try folder.open()
        _ = try store.add(Self.holder("first", .scheduled, isRotating: true))
        try store.multiply(to: 20_001)
        try store.settle(on: "one")
        let statements = try store.statements(of: "UPDATE account ") { try store.settle(on: "two") }
        #expect(statements == 3 && store.parkedGrants == 20_001)
        #expect(try store.counts().parked == 20_001)
    }
}

extension AccountStore {
    /// Makes `count` accounts of the only one. Their secrets do not open.
    func multiply(to count: Int) throws {
        try inDatabase { db in
            let names = "SELECT name FROM pragma_table_info('account') WHERE name NOT IN ('id', 'name')"
            let columns = try String.fetchAll(db, sql: names).joined(separator: ", ")
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                        INSERT INTO account (name, \(columns)) SELECT 'copy' || i, \(columns) FROM account, n;
                    INSERT INTO token (account_id, kind, target, generation, type, sealed)
                        SELECT account.id, kind, target, token.generation, type, sealed FROM account, token
                        WHERE account.id <> token.account_id;
                    """
            )
        }
    }

    /// How many statements that begin with `prefix` are run by `body`.
    func statements(of prefix: String, _ body: () throws -> Void) throws -> Int {
        let seen = Mutex(0)
        try inDatabase { db in
            db.trace { event in
                if case .statement(let statement) = event, statement.sql.hasPrefix(prefix) { seen.withLock { $0 += 1 } }
            }
        }
        try body()
        try inDatabase { $0.trace(options: []) }
        return seen.withLock { $0 }
    }
}
