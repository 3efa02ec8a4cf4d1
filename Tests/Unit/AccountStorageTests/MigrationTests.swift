import Basics
import Foundation
import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

/// Migrations of a database of the previous schema, as its version wrote it.
///
/// `Fixtures/v21.sqlite` was written through `AccountStore`, with `Sample.key()`. It holds `work` (with a client secret
/// and `StateSamples.full`, after a rotation from generation 2 to 3), `idle` (signed out, loopback), `full` (every
/// setting has a value), the service accounts `robot` (jwt-bearer), `machine` (client credentials) and `wiki` (derived
/// from `work`, acting as `idle`), and `damaged` (its parameters are no JSON). The account that was added last was
/// removed.
struct MigrationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.putFixture()
    }

    @Test func `a store of the previous schema keeps its tokens, states and counts`() throws {
        let store = try folder.open()
        let work = try #require(try store.record(named: Sample.name("work")))
        #expect(work.state == StateSamples.full)
        #expect(work.account.registration.clientSecret == Secret("client secret"))
        #expect(work.account.registration.scopes == ["openid", "offline_access"])
        #expect(
            try store.tokens.refreshToken(of: work.account.id, generation: Generation(3)) == Sample.refreshToken("r-3")
        )
        #expect(
            try store.tokens.refreshToken(of: work.account.id, generation: Generation(2)) == Sample.refreshToken("r-2")
        )
        #expect(try store.tokens.accessToken(of: work.account.id) == Sample.accessToken("access"))
        #expect(try store.tokens.idToken(of: work.account.id) == Secret("id"))
        #expect(try store.record(named: Sample.name("idle"))?.state == RefreshState())
        #expect(
            try store.counts()
                == StateSamples.counts(of: [StateSamples.full] + Array(repeating: RefreshState(), count: 6))
        )
        let version = try store.connection.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
        #expect(version == Schema.latest)
    }

    @Test func `every setting of an account is migrated`() throws {
        let account = try #require(try folder.open().record(named: Sample.name("full"))).account
        var expected = Account(
            id: account.id,
            name: try Sample.name("full"),
            issuer: try Issuer(url: Sample.issuerURL),
            provider: "keycloak",
            providerVariables: ["host": "sso.example.org", "realm": "staff"],
            providerSettings: ["scope_separator": ","],
            registration: ClientRegistration(clientID: "app \"1\"")
        )
        expected.registration.authentication = .privateKeyJWT
        expected.registration.clientSecret = Secret("client secret of full")
        expected.registration.clientSecretExpiresAt = Sample.start + .seconds(86_400)
        expected.registration.clientKey = Secret("client key of full")
        expected.registration.clientKeyID = "k1"
        expected.registration.teamID = "T1"
        expected.registration.dpopKey = Secret(repeatElement(5, count: 32))
        expected.registration.scopes = ["openid", "a\\nb", "q\"x"]
        expected.registration.refreshParameters = ["resource": "https://api.example"]
        expected.registration.authorizationParameters = ["display": "popup"]
        expected.registration.authorizationDetails = #"[{"type":"payment"}]"#
        expected.registration.redirect = RegisteredRedirect(
            uri: "https://app.example/back",
            port: 8400,
            scheme: "org.example.mail",
            postLogoutURI: "https://app.example/bye"
        )
        expected.registration.management = RegistrationManagement(
            uri: "https://as.example/c/1",
            accessToken: Secret("management")
        )
        expected.policy = RefreshPolicy(
            leadTime: .seconds(300),
            rotationGrace: .seconds(30),
            refreshTokenLifetime: .seconds(7_776_000)
        )
        expected.allowedCallers = AllowedCallers(units: ["mbsync.service"], executables: ["/usr/bin/mbsync"])
        expected.grantFacts = GrantFacts(subject: "alice", keptFields: ["realmId": "7"])
        expected.basicCredentialEncoding = .raw
        #expect(account == expected)
    }

    @Test func `service accounts keep their terms and sources`() throws {
        let store = try folder.open()
        let grant = { (name: String) in
            try store.record(named: Sample.name(name))?.account.registration.serviceGrant
        }
        let terms = AssertionTerms(subject: "you@example.org", audience: "https://aud.example", lifetime: .seconds(600))
        #expect(try grant("robot") == .jwtBearer(terms))
        #expect(try grant("machine") == .clientCredentials)
        #expect(try grant("work") == nil)
        let work = try #require(try store.record(named: Sample.name("work"))).account
        let idle = try #require(try store.record(named: Sample.name("idle"))).account
        var exchange = ExchangeTerms(
            subject: SourceToken(account: work.name, id: work.id, type: .accessToken),
            actor: SourceToken(account: idle.name, id: idle.id, type: .idToken),
            requestedType: TokenTypeIdentifier.accessToken.rawValue
        )
        exchange.deriver = SeenProgram(unit: "wiki.service", executable: "/usr/bin/wiki")
        #expect(try grant("wiki") == .tokenExchange(exchange))
        #expect(try store.derived(from: work.id, limit: 9).count == 1)
    }

    @Test func `only accounts damaged before the migration are damaged after it`() throws {
        let page = try folder.open().entries(after: nil, limit: 9)
        #expect(page.count == 7)
        let damaged = page.filter { (try? $0.record()) == nil }
        let account = try #require(damaged.first)
        #expect(damaged.count == 1 && account.name == "damaged")
        #expect(throws: StoreError.damagedRow(account.id, column: "settings", .notJSON)) { try account.record() }
    }

    /// Changes the old store in a way that its owner never would.
    private func change(_ sql: String) throws {
        let queue = try DatabaseQueue(path: folder.store)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF; " + sql) }
        try queue.close()
    }

    @Test(arguments: [
        ("grant_terms = NULL", "robot", "settings.grantTerms"),
        ("grant_terms = '{\"a\":'", "robot", "settings.grantTerms"),
        ("grant_terms = json_remove(grant_terms, '$.subjectTokenType')", "wiki", "settings.grantTerms"),
        ("actor_account = NULL", "wiki", "settings.actorAccount"),
    ]) func `missing terms are damage, not weaker terms`(change: String, name: String, column: String) throws {
        try self.change("UPDATE account SET \(change) WHERE name = '\(name)'")
        let entry = try #require(try folder.open().entry(named: name))
        let flaw = column.hasSuffix("grantTerms") ? ColumnFinding.unknownWord : .missing
        #expect(throws: StoreError.damagedRow(entry.id, column: column, flaw)) { try entry.record() }
    }

    @Test func `superfluous terms damage no account`() throws {
        try change("UPDATE account SET grant_terms = 'x' WHERE name IN ('work', 'machine')")
        let store = try folder.open()
        #expect(try store.record(named: Sample.name("work"))?.state == StateSamples.full)
        #expect(
            try store.record(named: Sample.name("machine"))?.account.registration.serviceGrant == .clientCredentials
        )
    }

    @Test func `one damaged setting leaves all others repairable`() throws {
        try change("UPDATE account SET authorization_parameters = 'x' WHERE name = 'full'")
        let before = try DatabaseQueue(path: folder.store)
        let clientID = try before.read {
            try String.fetchOne($0, sql: "SELECT client_id FROM account WHERE name = 'full'")
        }
        try before.close()
        try folder.open().close()
        let queue = try DatabaseQueue(path: folder.store)
        let row = try queue.read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT json_extract(settings, '$.clientId') AS client, json_extract(settings, '$.provider') AS provider,
                        json_extract(settings, '$.authorizationParameters') AS damaged
                    FROM account WHERE name = 'full'
                    """
            )
        }
        try queue.close()
        let stored = try #require(row)
        #expect(stored["client"] == clientID && stored["damaged"] == "x")
        #expect((stored["provider"] as String?) != nil)
        try change(
            "UPDATE account SET settings = json_remove(settings, '$.authorizationParameters') WHERE name = 'full'"
        )
        #expect(try folder.open().record(named: Sample.name("full"))?.account.registration.clientID == clientID)
    }

    @Test func `orphaned rows damage their account and do not keep the store from opening`() throws {
        let queue = try DatabaseQueue(path: folder.store)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    UPDATE account SET issuer_id = 4711 WHERE name = 'idle';
                    """
            )
        }
        try queue.close()
        let store = try folder.open()
        let idle = try #require(try store.entry(named: "idle"))
        #expect(throws: StoreError.damagedRow(idle.id, column: "issuer_id", .missing)) { try idle.record() }
        #expect(try store.record(named: Sample.name("work"))?.state == StateSamples.full)
    }

    @Test func `a store of schema 22 gets the later columns`() throws {
        try folder.open().close()
        try change(
            """
            ALTER TABLE account DROP COLUMN grant_facts;
            ALTER TABLE account DROP COLUMN park_reason;
            ALTER TABLE account DROP COLUMN is_withheld;
            DROP INDEX account_sign_out;
            DROP INDEX account_sign_out_by_wall;
            ALTER TABLE account DROP COLUMN sign_out_next_usec;
            ALTER TABLE account DROP COLUMN sign_out_wall_usec;
            ALTER TABLE account DROP COLUMN sign_out_boot_id;
            ALTER TABLE account DROP COLUMN sign_out_boot_usec;
            ALTER TABLE account DROP COLUMN sign_out_after_usec;
            ALTER TABLE account DROP COLUMN sign_out_announced;
            DELETE FROM grdb_migrations
                WHERE identifier IN (
                    'facts of the grant', 'accounts that sign out by themselves', 'sign-outs by their own time',
                    'grants of another machine', 'tokens of another person'
                );
            PRAGMA user_version = 22;
            """
        )
        let store = try folder.open()
        let record = try #require(try store.record(named: Sample.name("full")))
        #expect(record.account.grantFacts == GrantFacts(subject: "alice", keptFields: ["realmId": "7"]))
        #expect(try store.connection.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") } == Schema.latest)
    }

    private static let undoneSignOuts = """
        DROP INDEX account_sign_out;
        DROP INDEX account_sign_out_by_wall;
        ALTER TABLE account DROP COLUMN sign_out_next_usec;
        DELETE FROM grdb_migrations WHERE identifier = 'sign-outs by their own time';
        PRAGMA user_version = 25;
        """

    @Test func `sign-outs of an earlier store are found by their own time`() throws {
        let store = try folder.open()
        let near = RefreshTokenTimes(issuedAt: Sample.moment(0), lifetime: .seconds(28_800), isExtendedByUse: false)
        let far = RefreshTokenTimes(issuedAt: Sample.moment(0), lifetime: .seconds(8_640_000), isExtendedByUse: false)
        var states = [near, near, far].map { RefreshState(phase: .scheduled, signOut: $0) }
        states[1].signOut?.isEndAnnounced = true
        for (number, state) in states.enumerated() { _ = try store.add(Sample.account("s\(number)", state: state)) }
        try store.close()
        try change(Self.undoneSignOuts)
        let migrated = try folder.open().connection.read { db in
            try Int64.fetchAll(
                db,
                sql: "SELECT sign_out_next_usec FROM account WHERE sign_out_after_usec IS NOT NULL ORDER BY name"
            )
        }
        #expect(migrated == states.compactMap { $0.signOut?.nextAfter.microseconds })
    }

    @Test func `a migrated account with the tokens of another person is withheld`() throws {
        let store = try folder.open()
        for (name, reason) in [("others", InteractionReason.otherPerson), ("ended", .grantEnded)] {
            let interaction = InteractionRequired(reason: reason, since: Sample.start, failure: Sample.failure)
            _ = try store.add(Sample.account(name, state: RefreshState(phase: .interactionRequired(interaction))))
        }
        try store.close()
        try change(
            """
            ALTER TABLE account DROP COLUMN is_withheld;
            DELETE FROM grdb_migrations WHERE identifier = 'tokens of another person';
            PRAGMA user_version = 27;
            """
        )
        let migrated = try folder.open()
        #expect(try migrated.record(named: Sample.name("others"))?.state.isWithheld == true)
        #expect(try migrated.record(named: Sample.name("ended"))?.state.isWithheld == false)
    }

    @Test func `the sign-outs of many accounts get their own time`() throws {
        try FileManager.default.removeItem(atPath: folder.store)
        let store = try folder.open()
        let times = RefreshTokenTimes(issuedAt: Sample.moment(0), lifetime: .seconds(28_800), isExtendedByUse: false)
        _ = try store.add(Sample.account("first", state: RefreshState(phase: .scheduled, signOut: times)))
        try store.multiply(to: 10_001)
        try store.close()
        try change(Self.undoneSignOuts)
        let own = try folder.open().connection.read { db in
            try Int.fetchOne(
                db,
                sql: "SELECT count(*) FROM account WHERE sign_out_next_usec = ?",
                arguments: [times.nextAfter.microseconds]
            )
        }
        #expect(own == 10_001)
    }

    @Test func `the number of a removed account is not reused`() throws {
        let before = try DatabaseQueue(path: folder.store)
        let last = try before.read { db in
            try #require(try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'account'"))
        }
        try before.close()
        let added = try folder.open().add(Sample.account("new"))
        #expect(added.account.id == AccountID(last + 1))
    }

    /// What an earlier version had for its copies of access tokens.
    private func copies(in db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: "SELECT sql FROM sqlite_schema WHERE name LIKE 'token_at_hand%' ORDER BY type, name"
        )
    }

    @Test(arguments: [0, 1, 10_001])
    func `the copies of tokens and their triggers are removed, however many there are`(count: Int) throws {
        let old = try DatabaseQueue(path: folder.store)
        let parts = try old.read(copies)
        try old.close()
        #expect(parts.count == 8)
        // Replace the store of schema 21 by one of schema 24.
        try FileManager.default.removeItem(atPath: folder.store)
        let store = try folder.open()
        _ = try store.add(Sample.fresh("a", StoredTokens(accessToken: Sample.accessToken("first"))))
        try store.close()
        let rows = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO token_at_hand SELECT i, 'a' || i, i, 1, NULL, x'00', 0, 0, 0, 0, 0 FROM n WHERE i <= \(count)
            """
        let undone = "DELETE FROM grdb_migrations WHERE identifier = 'no copies of tokens'; PRAGMA user_version = 24"
        try change((parts + [rows, undone]).joined(separator: ";\n"))
        let again = try folder.open()
        #expect(try again.connection.read(copies).isEmpty)
        let record = try #require(try again.record(named: Sample.name("a")))
        #expect(try again.tokens.accessToken(of: record.account.id) == Sample.accessToken("first"))
        try again.rename(record.account.id, to: Sample.name("b"))
        let tokens = TokenWrite.store(StoredTokens(accessToken: Sample.accessToken("next")))
        let base = record.state.generation
        try again.commit([StateWrite(account: record.account.id, base: base, state: record.state, tokens: tokens)])
        #expect(try again.tokens.accessToken(of: record.account.id) == Sample.accessToken("next"))
    }

    @Test(arguments: [1, 20])
    func `a too old store is reported and left unchanged`(version: Int) throws {
        let queue = try DatabaseQueue(path: folder.store)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA user_version = \(version); PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try queue.close()
        let before = try rawFiles(of: folder.store)
        let refusal = StoreError.olderSchema(path: folder.store, found: version, oldest: Schema.oldest)
        #expect(throws: refusal) { try folder.open() }
        #expect(refusal.hint?.text.contains("schema \(Schema.oldest) once") == true)
        #expect(try rawFiles(of: folder.store) == before)
    }

    @Test func `a new store and a migrated one have the same tables`() throws {
        let (old, new) = (try folder.open(), try TemporaryFolder().open())
        #expect(try schema(of: old) == schema(of: new))
    }

    private func schema(of store: AccountStore) throws -> [String] {
        try store.connection.read { db in
            try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        }
    }
}

extension TemporaryFolder {
    /// Copies the store of the previous schema to the place of the store.
    func putFixture(at path: String? = nil) throws {
        let fixture = try #require(Bundle.module.path(forResource: "v21", ofType: "sqlite", inDirectory: "Fixtures"))
        try FileManager.default.copyItem(atPath: fixture, toPath: path ?? store)
    }
}
