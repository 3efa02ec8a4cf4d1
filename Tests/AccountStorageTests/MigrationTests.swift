import Foundation
import GRDB
import RefreshCore
import Testing

@testable import AccountStorage

/// Databases of earlier schemas, as their versions wrote them.
///
/// `Fixtures/v1.sqlite` was written through `AccountStore` when the first migration was the only one, with `Sample.key()`. It
/// holds `work` (a client secret; `StateSamples.full`, reached by rotating generation 2 to 3) and `idle` (signed out, loopback).
struct MigrationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let fixture = try #require(Bundle.module.path(forResource: "v1", ofType: "sqlite", inDirectory: "Fixtures"))
        try FileManager.default.copyItem(atPath: fixture, toPath: folder.store)
    }

    @Test func `a store of the first schema opens with everything in it`() throws {
        let store = try folder.open()
        let work = try #require(try store.record(named: Sample.name("work")))
        #expect(work.state == StateSamples.full)
        #expect(work.account.registration.clientSecret == Secret("client secret"))
        #expect(work.account.registration.scopes == ["openid", "offline_access"])
        #expect(try store.refreshToken(of: work.account.id, generation: Generation(3)) == Sample.refreshToken("r-3"))
        #expect(try store.refreshToken(of: work.account.id, generation: Generation(2)) == Sample.refreshToken("r-2"))
        #expect(try store.accessToken(of: work.account.id) == Sample.accessToken("access"))
        #expect(try store.idToken(of: work.account.id) == Secret("id"))
        #expect(try store.record(named: Sample.name("idle"))?.state == RefreshState())
        #expect(try store.counts() == StateSamples.counts(of: [StateSamples.full, RefreshState()]))
        #expect(work.account.registration.redirect == RegisteredRedirect())
        #expect(work.account.registration.management == nil)
        #expect(work.account.providerVariables == [:])
        #expect(work.account.providerSettings == [:])
        #expect(work.account.registration.serviceGrant == nil)
        let derived = try store.inDatabase { db in
            try Int.fetchOne(
                db,
                sql: "SELECT count(*) FROM account WHERE coalesce(subject_account, grant_terms) IS NOT NULL"
            )
        }
        #expect(derived == 0)
        let version = try store.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
        #expect(version == Schema.latest)
    }

    @Test func `a token of an earlier schema is found, and comes to hand with the next one`() throws {
        let store = try folder.open()
        let atHand = {
            try store.inDatabase { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM token_at_hand") }
        }
        let work = try #require(try store.record(named: Sample.name("work")))
        #expect(store.tokenReader.token(of: "work")?.token == Sample.accessToken("access"))
        #expect(try atHand() == 0)
        let tokens = TokenWrite.store(StoredTokens(accessToken: Sample.accessToken("next")))
        let base = work.state.generation
        try store.commit([StateWrite(account: work.account.id, base: base, state: work.state, tokens: tokens)])
        #expect(store.tokenReader.token(of: "work")?.token == Sample.accessToken("next"))
        #expect(try atHand() == 1)
    }

    @Test func `derived accounts stay with the accounts that have their sources' names when the store is upgraded`()
        throws
    {
        let queue = try DatabaseQueue(path: folder.store)
        try Schema.migrator.migrate(queue, upTo: "provider settings")
        try queue.write { db in
            try db.execute(
                sql: """
                    UPDATE account SET service_grant = 'urn:ietf:params:oauth:grant-type:token-exchange',
                        grant_terms = '{"subjectTokenType":"urn:ietf:params:oauth:token-type:access_token"}', subject_account = 'work'
                    WHERE name = 'idle'
                    """
            )
        }
        try queue.close()
        let store = try folder.open()
        let work = try #require(try store.record(named: Sample.name("work"))).account.id
        let exchange = try store.record(named: Sample.name("idle"))?.account.registration.serviceGrant?.exchange
        #expect(exchange?.subject.id == work && exchange?.deriver == nil)
        #expect(try store.derived(from: work, limit: 9).count == 1)
    }

    @Test func `the first migration still makes what it made`() throws {
        let first = try #require(Schema.migrator.migrations.first)
        let fresh = try DatabaseQueue()
        try Schema.migrator.migrate(fresh, upTo: first)
        let released = try DatabaseQueue(path: folder.store)
        #expect(try schema(of: fresh) == schema(of: released))
    }

    @Test func `the last migration leaves the latest version number`() throws {
        let fresh = try DatabaseQueue()
        try Schema.migrator.migrate(fresh)
        let version = try fresh.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
        #expect(version == Schema.latest)
        #expect(Schema.migrator.migrations.count == Schema.latest)
    }

    private func schema(of queue: DatabaseQueue) throws -> [String] {
        try queue.read { db in
            try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        }
    }
}
