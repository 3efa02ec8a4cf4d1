import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

/// A row that cannot be read is recognized as damaged, and affects no other row.
struct DamageTests {
    private let folder: TemporaryFolder
    private let store: AccountStore

    /// Makes `a`, `b` and `c`. `b` has a value in each column that a test damages; `a` and `c` stay intact.
    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
        var middle = try Sample.account("b", state: StateSamples.full)
        middle.registration.clientSecret = Secret("s")
        _ = try store.add([Sample.account("a"), middle, Sample.account("c", issuer: Sample.loopbackURL)])
    }

    private func damage(_ assignment: String) throws {
        // Other programs that change a database do not follow our rules.
        try store.inDatabase { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF; UPDATE account SET \(assignment) WHERE name = 'b'")
        }
    }

    /// An assignment to one of the settings.
    private static func said(_ setting: String, _ value: String) -> String {
        "settings = json_set(settings, '$.\(setting)', \(value))"
    }

    private func expectDamage(_ column: String, _ flaw: ColumnFinding, name: String = "b") throws {
        let page = try store.entries(after: nil, limit: 9)
        #expect(page.map(\.name).sorted() == ["a", name, "c"].sorted())
        for entry in page where entry.name != name { _ = try entry.record() }
        let entry = try #require(page.first { $0.name == name })
        let cause = StoreError.damagedRow(entry.id, column: column, flaw)
        #expect(throws: cause) { try entry.record() }
        #expect(cause.damagedAccount == entry.id)
        #expect(try store.entry(named: name) == entry)
        #expect(try store.entry(entry.id) == entry)
    }

    @Test(arguments: [
        ("phase = 'dreaming'", "phase", ColumnFinding.unknownWord),
        (said("clientAuthentication", "'by heart'"), "settings.clientAuthentication", .unknownWord),
        (said("grantType", "'by heart'"), "settings.grantType", .unknownWord),
        ("basic_encoding = 'morse'", "basic_encoding", .unknownWord),
        ("failure_class = 'bad luck', failure_detail = '{}'", "failure_class", .unknownWord),
        ("settings = '{\"clientId\": '", "settings", .notJSON),
        ("settings = '[]'", "settings", .notJSON),
        (said("refreshParameters", "json('{\"a\": 1}')"), "settings", .notJSON),
        ("settings = '{}'", "settings.clientId", .missing),
        (said("ofALaterVersion", "true"), "settings.ofALaterVersion", .unknownWord),
        (said("redirectPort", "70000"), "settings.redirectPort", .outOfRange),
        (said("leadTimeSec", "9223372036854775807"), "settings.leadTimeSec", .outOfRange),
        ("deriver = 'oops'", "deriver", .notJSON),
        ("failure_class = 'unreachable', failure_detail = 'oops'", "failure_detail", .notJSON),
        ("failure_class = 'unreachable', failure_detail = NULL", "failure_detail", .missing),
        ("phase = 'refreshing', lease_generation = NULL", "lease_generation", .missing),
        ("access_lifetime_usec = NULL", "access_lifetime_usec", .missing),
        ("access_lifetime_usec = 9223372036854775807", "access_lifetime_usec", .outOfRange),
        ("deadline_usec = -9223372036854775808", "deadline_usec", .outOfRange),
        ("generation = 9223372036854775807", "generation", .outOfRange),
        ("failures = -1", "failures", .outOfRange),
        ("allowed_callers = 'all'", "allowed_callers", .notJSON),
        ("allowed_callers = '{\"units\":[],\"executables\":[]}'", "allowed_callers", .notJSON),
        ("issuer_id = 4711", "issuer_id", .missing),
    ])
    func `damage is named by its column and its kind`(assignment: String, column: String, flaw: ColumnFinding) throws {
        try damage(assignment)
        try expectDamage(column, flaw)
    }

    @Test func `an invalid name is found by its stored text`() throws {
        try damage("name = 'b and more'")
        try expectDamage("name", .malformed, name: "b and more")
    }

    @Test func `an invalid issuer damages only its own accounts`() throws {
        try store.connection.write { db in
            try db.execute(sql: "UPDATE issuer SET url = 'nowhere' WHERE url = ?", arguments: [Sample.loopbackURL])
        }
        let reopened = try reopen()
        let page = try reopened.entries(after: nil, limit: 9)
        _ = try page[0].record()
        _ = try page[1].record()
        let cause = StoreError.damagedRow(page[2].id, column: "issuer.url", .malformed)
        #expect(page[2] == .damaged(DamagedAccount(id: page[2].id, name: "c", issuer: nil, cause: cause)))
    }

    private func reopen() throws -> AccountStore {
        try store.close()
        return try folder.open()
    }

    @Test func `an unknown phase is counted among all accounts`() throws {
        try damage("phase = 'dreaming'")
        let counts = try store.counts()
        #expect(counts.total == 3)
        #expect(counts.unknown == 1)
    }

    /// Tries each column with each difficult value. Nothing that is read may trap, in the store or in the machine.
    @Test func `no value of any column stops the store, the machine or another account`() throws {
        let numbers = ["0", "-1", "9223372036854775807", "-9223372036854775808", "1152921504606846976", "NULL"]
        let texts = ["''", "'x'", "char(0)", "'\u{1F600}'", "'[]'", "'{}'", "x''", "zeroblob(29)"]
        var taken = 0
        try store.inDatabase { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            for column in AccountColumns.recordNames {
                for value in numbers + texts {
                    try db.inTransaction {
                        // The schema refuses most of them. Those cannot happen as damage.
                        let statement = "UPDATE account SET \(column) = \(value) WHERE name = 'b'"
                        guard (try? db.execute(sql: statement)) != nil else { return .rollback }
                        taken += 1
                        let page = try store.records.entries(.recordsAfterName, ["", 9], in: db)
                        for entry in page { if case .intact(let record) = entry { exercise(record.state) } }
                        #expect(page.filter { (try? $0.record()) != nil }.count >= 2, "\(statement)")
                        return .rollback
                    }
                }
            }
        }
        #expect(taken > 200)
    }

    private func exercise(_ state: RefreshState) {
        for now in [Sample.moment(0), Sample.moment(1 << 40)] {
            _ = state.shown(at: now)
            _ = state.accessToken?.expiresAt(at: now)
            for event in [
                Event.host(.deadlineReached), .host(.requestAbandoned(crashes: 0)), .demand(.tokenNeeded),
                .owner(.accountUpdated(asksAnew: false)),
            ] {
                var machine = RefreshMachine(state: state, policy: RefreshPolicy())
                _ = machine.handle(event, at: now, jitter: 0.5)
            }
        }
    }
}
