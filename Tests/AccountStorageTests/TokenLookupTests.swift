import GRDB
import RefreshCore
import Testing

@testable import AccountStorage

/// The copy of the tokens that all callers may have. Each row must equal its original.
struct TokenLookupTests {
    private let folder: TemporaryFolder
    private let store: AccountStore

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    private func account(_ name: String, allowed: AllowedCallers? = nil) throws -> NewAccount {
        var account = try Sample.fresh(
            name,
            StoredTokens(
                accessToken: Sample.accessToken("access-\(name)"),
                refreshToken: Sample.refreshToken("refresh-\(name)"),
                idToken: Secret("id-\(name)")
            )
        )
        account.allowedCallers = allowed
        return account
    }

    private func commit(
        _ id: AccountID,
        _ tokens: TokenWrite,
        generation: Int64 = 1,
        base: Int64 = 1,
        holding times: AccessTokenTimes?
    ) throws {
        var state = RefreshState(generation: Generation(generation), phase: .scheduled, deadline: Sample.start)
        if case .erase = tokens { state = RefreshState(generation: Generation(generation)) }
        state.accessToken = times
        try store.commit([StateWrite(account: id, base: Generation(base), state: state, tokens: tokens)])
    }

    /// The accounts whose tokens are in the copy. Compares each row with its original.
    private func copied() throws -> [Int64] {
        try store.inDatabase { db in
            let wrong = try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM token_at_hand EXCEPT
                    SELECT name_place(name), name, id, token.generation, type, sealed, access_wall_usec, access_boot_id, access_boot_usec,
                        access_lifetime_usec, access_refresh_after_usec
                    FROM account JOIN token ON account_id = id AND kind = 'access' AND target = ''
                    WHERE allowed_callers IS NULL AND id NOT IN (SELECT account_id FROM set_aside)
                    """
            )
            #expect(wrong.isEmpty)
            return try Int64.fetchAll(db, sql: "SELECT account_id FROM token_at_hand ORDER BY 1")
        }
    }

    @Test func `the token copy follows every write of the store`() throws {
        let ids = try store.add([
            account("a"), account("b"), account("c", allowed: AllowedCallers(units: ["x.service"], executables: [])),
        ])
        #expect(try copied() == [1, 2])
        var later = Sample.accessTokenTimes
        later.issuedAt = Sample.moment(60)
        let next = StoredTokens(accessToken: Sample.accessToken("next"), refreshToken: Sample.refreshToken("next"))
        try commit(ids[0], .store(next), generation: 2, holding: later)
        #expect(try copied() == [1, 2])
        _ = try store.rename(ids[0], to: Sample.name("z"))
        #expect(try copied() == [2])
        #expect(store.tokenReader.token(of: "z")?.token == Sample.accessToken("next"))
        try commit(ids[0], .store(next), generation: 2, base: 2, holding: later)
        #expect(try copied() == [1, 2])
        try commit(ids[1], .unchanged, holding: nil)
        #expect(try copied() == [1])
        try store.rekeying.begin(to: Sample.key(9))
        while try !store.rekeying.reseal(limit: 1).isLast { _ = try copied() }
        #expect(try copied() == [1])
        _ = try store.schedule.setAside([ids[0]])
        #expect(try copied() == [])
        _ = try store.schedule.takeBack(after: AccountID(0), limit: 10)
        #expect(store.tokenReader.token(of: "z")?.token == Sample.accessToken("next"))
        try store.remove(ids[0])
        #expect(try copied() == [])
    }

    /// Rows are found by the name alone. There must never be a row for another account that has the name now.
    @Test func `a name that moves to another account does not bring the first one's token`() throws {
        let ids = try store.add([account("a"), account("b")])
        _ = try store.rename(ids[0], to: Sample.name("c"))
        _ = try store.rename(ids[1], to: Sample.name("a"))
        #expect(try copied() == [])
        #expect(store.tokenReader.token(of: "a")?.token == Sample.accessToken("access-b"))
        try store.remove(ids[1])
        _ = try store.add(account("b"))
        _ = try store.add(Sample.scheduled("a", due: 1))
        #expect(try copied() == [3])
        #expect(store.tokenReader.token(of: "a") == nil)
    }

    @Test func `two accounts with the same row number both have their own token`() throws {
        let ids = try store.add([account("a"), account("b")])
        // Simulates two names with the same hash: at the place of "b" is the row of another account.
        try store.inDatabase { db in
            try db.execute(
                sql: "UPDATE OR REPLACE token_at_hand SET place = name_place('b') WHERE account_id = ?",
                arguments: [ids[0].rawValue]
            )
        }
        for name in ["a", "b"] {
            #expect(store.tokenReader.token(of: name)?.token == Sample.accessToken("access-\(name)"))
        }
    }

    /// FNV-1a's own test vectors, folded.
    @Test(arguments: [("", 0x9CE4_8422_E8D7), ("a", 0xDC4C_8601_43EF)])
    func `a name's row number is its hash`(name: String, place: Int64) {
        #expect(TokenLookup.place(of: name.utf8) == place)
    }

    @Test func `names that differ in a digit have different row numbers`() {
        #expect(Set((0..<50_000).lazy.map { TokenLookup.place(of: "account\($0)".utf8) }).count == 50_000)
    }

    @Test(arguments: [true, false])
    func `the copied token disappears with the token and with the account`(isSignedOut: Bool) throws {
        let id = try store.add(account("a")).account.id
        #expect(try copied() == [1])
        if isSignedOut { try commit(id, .erase, holding: nil) } else { try store.remove(id) }
        #expect(try copied() == [])
    }

    @Test func `after a callers' list is removed, the token is found in the original table`() throws {
        let id = try store.add(account("a")).account.id
        var account = try #require(try store.record(id)).account
        account.allowedCallers = AllowedCallers(units: ["mail.service"], executables: [])
        try store.update(account)
        #expect(try copied() == [])
        account.allowedCallers = nil
        try store.update(account)
        #expect(try copied() == [])
        #expect(store.tokenReader.token(of: "a")?.token == Sample.accessToken("access-a"))
    }

    @Test func `tokens of token sets and other kinds are not in the copy`() throws {
        let id = try store.add(account("a")).account.id
        try store.inDatabase { db in
            try db.execute(sql: "DELETE FROM token WHERE kind = 'access'")
            try db.execute(
                sql: """
                    INSERT INTO token (account_id, kind, target, generation, sealed) VALUES (?, 'access', 'set', 1, x'00')
                    """,
                arguments: [id.rawValue]
            )
        }
        #expect(try copied() == [])
        #expect(store.tokenReader.token(of: "a") == nil)
    }

    @Test func `the copy is read without the rows of accounts and tokens`() throws {
        let plan = try store.inDatabase { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + StoreStatement.tokenLookup.sql, arguments: [nil, nil])
                .map { $0["detail"] as String }
        }
        #expect(plan.count == 1)
        #expect(plan.first?.hasPrefix("SEARCH token_at_hand USING INTEGER PRIMARY KEY") == true)
    }
}
