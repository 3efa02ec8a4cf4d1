import Basics
import Foundation
import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

/// The check of a store finds each kind of fault, and reports nothing else.
struct StoreCheckTests {
    private let folder: TemporaryFolder
    private let store: AccountStore

    /// Makes `a` and `b`, which wait for their next refresh and have all kinds of secrets, and `c`, which is signed
    /// out.
    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
        let accounts = try ["a", "b"].map { name in
            var account = try Sample.scheduled(name, due: 10)
            account.registration.clientSecret = Secret("client-\(name)")
            account.tokens?.accessToken = Sample.accessToken("access-\(name)")
            account.tokens?.idToken = Secret("id-\(name)")
            return account
        }
        _ = try store.add(accounts + [Sample.account("c", issuer: Sample.loopbackURL)])
    }

    private func check(_ store: AccountStore? = nil, pages: Int = 3) throws -> (accounts: Int, [StoreFinding]) {
        let copy = try StoreCopy(of: store ?? self.store, for: .check)
        while true {
            guard let finished = try copy.advance(pages: pages) else { continue }
            var whole = StoreCheck.Portion()
            StoreCheck.run(on: finished, at: Sample.start) { portion in
                whole.accounts += portion.accounts
                whole.findings += portion.findings
            }
            return (whole.accounts, whole.findings)
        }
    }

    /// Changes the database as another program would.
    private func damage(_ statements: String) throws {
        try store.inDatabase { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: statements)
        }
    }

    private var leftovers: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".check") }
        }
    }

    @Test func `a service account without a refresh token is sound, and is read unchanged`() throws {
        let moment = Sample.moment(0)
        var service = try Sample.account("service", state: .service(at: moment))
        service.registration.serviceGrant = .clientCredentials
        let ids = try store.add([service])
        var state = service.state
        state.accessToken = AccessTokenTimes(issuedAt: moment, lifetime: .seconds(60), refreshAfter: .seconds(30))
        state.deadline = moment.wall + .seconds(30)
        let tokens = TokenWrite.store(StoredTokens(accessToken: Sample.accessToken("of its own")))
        try store.commit([StateWrite(account: ids[0], base: state.generation, state: state, tokens: tokens)])
        let stored = try #require(try store.record(ids[0]))
        #expect(stored.account.registration == service.registration && stored.state == state)
        #expect(try check().1 == [])
    }

    @Test(arguments: [1, 3, 1_000])
    func `a sound store has no findings with any batch size, and no copy is left`(pages: Int) throws {
        let (accounts, findings) = try check(pages: pages)
        #expect(accounts == 3)
        #expect(findings == [])
        #expect(try leftovers == [])
    }

    @Test func `a migrated store is sound, except for earlier damage`() throws {
        let path = folder.file("old.sqlite")
        try folder.putFixture(at: path)
        let findings = try check(AccountStore(path: path, key: Sample.key())).1
        guard case .damaged(name: "damaged", _)? = findings.first, findings.count == 1 else {
            Issue.record("\(findings)")
            return
        }
    }

    @Test func `several portions of accounts are all checked`() throws {
        let more = try (0..<1_200).map { try Sample.scheduled("m\($0)", due: 10) }
        let ids = try store.add(more)
        try damage("DELETE FROM token WHERE account_id = \(ids[1_100].rawValue)")
        let (accounts, findings) = try check(pages: 50)
        #expect(accounts == 1_203)
        #expect(findings == [.refreshTokenMissing(name: "m1100", Generation(1))])
    }

    @Test func `a row that cannot be read is named by its column`() throws {
        try damage("UPDATE account SET settings = 'oops' WHERE name = 'b'")
        let cause = StoreError.damagedRow(AccountID(2), column: "settings", .notJSON)
        let (accounts, findings) = try check()
        #expect(accounts == 3)
        #expect(findings == [.damaged(name: "b", cause)])
        #expect(findings.first?.hint.text.contains("authctl account remove b") == true)
    }

    @Test(arguments: [("refresh", SealedColumn.refreshToken), ("access", .accessToken), ("id", .idToken)])
    func `a seal that is broken is found`(kind: String, column: SealedColumn) throws {
        try damage("UPDATE token SET sealed = zeroblob(40) WHERE account_id = 2 AND kind = '\(kind)'")
        #expect(try check().1 == [.sealBroken(name: "b", .sealBroken(AccountID(2), column: column))])
    }

    @Test func `a token that was moved to another account does not open there`() throws {
        try damage(
            "UPDATE token SET sealed = (SELECT sealed FROM token WHERE account_id = 1 AND kind = 'access')"
                + " WHERE account_id = 2 AND kind = 'access'"
        )
        #expect(try check().1 == [.sealBroken(name: "b", .sealBroken(AccountID(2), column: .accessToken))])
    }

    @Test func `a client secret that does not open is found`() throws {
        try damage("UPDATE account SET client_secret = zeroblob(40) WHERE name = 'a'")
        #expect(try check().1 == [.damaged(name: "a", .sealBroken(AccountID(1), column: .clientSecret))])
    }

    @Test func `a token of an unknown kind is reported`() throws {
        try damage("UPDATE token SET kind = 'bus' WHERE account_id = 1 AND kind = 'id'")
        #expect(try check().1 == [.unknownToken(name: "a")])
    }

    /// Gives `a` a token target for a scope.
    private func addTarget() throws {
        let target = try TokenTarget(scopes: ["mail"])
        let times = AccessTokenTimes(
            issuedAt: Sample.moment(0),
            lifetime: .seconds(3600),
            refreshAfter: .seconds(2400)
        )
        let tokens = StoredTokens(accessToken: Sample.accessToken("for mail"))
        let state = RefreshState(
            generation: Generation(1),
            phase: .scheduled,
            deadline: Sample.start + .seconds(10)
        )
        let write = StateWrite(
            account: AccountID(1),
            base: Generation(1),
            state: state,
            tokens: .storeTarget(TokenTargetWrite(target: target, times: times, tokens: tokens))
        )
        try store.commit([write])
    }

    @Test func `an intact token target is not reported`() throws {
        try addTarget()
        #expect(try check().1 == [])
    }

    @Test(arguments: [
        "UPDATE token_set SET access_lifetime_usec = -9223372036854775808",
        "UPDATE token_set SET target = 'oops'; UPDATE token SET target = 'oops' WHERE target <> ''",
        "DELETE FROM token WHERE target <> ''",
        "DROP TRIGGER token_set_erased; DELETE FROM token_set",
        "UPDATE token SET sealed = zeroblob(40) WHERE target <> ''",
    ])
    func `a token target that is unreadable, sealed wrongly or incomplete is reported`(statements: String) throws {
        try addTarget()
        try damage(statements)
        #expect(try check().1.contains(.targetDamaged(name: "a")))
    }

    @Test func `a refresh token of another generation counts as missing`() throws {
        try damage("UPDATE account SET generation = 2 WHERE name = 'a'")
        #expect(try check().1 == [.refreshTokenMissing(name: "a", Generation(2))])
    }

    @Test func `orphaned tokens and accounts are counted for each table`() throws {
        try damage("UPDATE token SET account_id = 99 WHERE account_id = 2")
        let findings = try check().1
        #expect(findings.contains(.orphans(path: folder.store, table: "token", count: 3)))
        #expect(findings.contains(.refreshTokenMissing(name: "b", Generation(1))))
        #expect(findings.count == 2)
    }

    @Test func `an account without its issuer is found in its row and among the orphans`() throws {
        try damage("UPDATE account SET issuer_id = 4711 WHERE name = 'a'")
        let cause = StoreError.damagedRow(AccountID(1), column: "issuer_id", .missing)
        #expect(
            try check().1 == [
                .orphans(path: folder.store, table: "account", count: 1), .damaged(name: "a", cause),
            ]
        )
    }

    @Test func `a missing or too distant deadline is reported`() throws {
        try damage(
            """
            UPDATE account SET deadline_usec = NULL WHERE name = 'a';
            UPDATE account SET deadline_usec = deadline_usec + 7200000000 WHERE name = 'b';
            """
        )
        #expect(try check().1 == [.deadlineMissing(name: "a"), .deadlineTooFar(name: "b")])
    }

    @Test func `deadlines are checked on the schedule's clock`() throws {
        // The wall clock was set back by a day. The stored numbers stay, and their meaning moves with the clock.
        try damage("INSERT OR REPLACE INTO meta VALUES ('schedule_offset_usec', 86400000000)")
        #expect(try check().1 == [.deadlineTooFar(name: "a"), .deadlineTooFar(name: "b")])
    }

    @Test func `an account set aside is reported with its damage, or by itself if it was repaired`() throws {
        try damage("UPDATE account SET failures = -1 WHERE name = 'b'")
        _ = try store.schedule.setAside([AccountID(2)])
        let cause = StoreError.damagedRow(AccountID(2), column: "failures", .outOfRange)
        #expect(try check().1 == [.damaged(name: "b", cause)])
        try damage("UPDATE account SET failures = 0 WHERE name = 'b'")
        #expect(try check().1 == [.stillAside(name: "b")])
    }

    @Test func `wrong counts are reported`() throws {
        try damage("UPDATE phase_count SET accounts = 7 WHERE tally = 'scheduled'")
        #expect(try check().1 == [.counts(path: folder.store)])
        try damage("DELETE FROM phase_count")
        #expect(try check().1 == [.counts(path: folder.store)])
    }

    @Test func `a changed index, trigger or table is reported`() throws {
        try damage(
            """
            DROP INDEX account_leased;
            DROP TRIGGER account_discounted;
            CREATE TRIGGER account_discounted AFTER DELETE ON account BEGIN SELECT 1; END;
            CREATE TABLE stranger (x);
            """
        )
        #expect(
            try check().1 == [
                .schema(path: folder.store, name: "account_discounted", .altered),
                .schema(path: folder.store, name: "account_leased", .missing),
                .schema(path: folder.store, name: "stranger", .unknown),
            ]
        )
    }

    @Test func `other comments of the version that made the store are no change`() throws {
        try damage(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, ' -- a JSON object:', '-- an object of an earlier name:
                -- more of it') WHERE name = 'account';
            PRAGMA writable_schema = OFF;
            """
        )
        #expect(try check().1 == [])
        try damage(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'needs_route INTEGER', 'needs_route INT') WHERE name = 'account';
            PRAGMA writable_schema = OFF;
            """
        )
        let altered = try check().1
        #expect(altered == [.schema(path: folder.store, name: "account", .altered)])
    }

    @Test func `an index that only a later version knows is no damage, unless it can refuse rows`() throws {
        try damage("create index if not exists later ON account (created_usec)")
        #expect(try check().1 == [])
        try damage("CREATE UNIQUE INDEX refusing ON account (created_usec, id)")
        #expect(try check().1 == [.schema(path: folder.store, name: "refusing", .unknown)])
    }

    /// The reason for `integrity_check`: nothing else would notice this fault, and the account would never be
    /// refreshed.
    @Test func `an account missing from the schedule's index is reported`() throws {
        try damage(
            """
            PRAGMA writable_schema = ON;
            CREATE TEMP TABLE kept AS SELECT * FROM sqlite_master WHERE name = 'account_deadline';
            DELETE FROM sqlite_master WHERE name = 'account_deadline';
            PRAGMA writable_schema = RESET;
            """
        )
        try damage("UPDATE account SET deadline_usec = deadline_usec + 1 WHERE name = 'b'")
        try damage(
            """
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master SELECT * FROM kept;
            PRAGMA writable_schema = RESET;
            """
        )
        let findings = try check().1
        #expect(!findings.isEmpty)
        for finding in findings {
            guard case .file(folder.store, let verdict) = finding else {
                Issue.record("\(finding)")
                continue
            }
            #expect(verdict.contains("account_deadline"), "\(verdict)")
        }
    }

    @Test func `a file with overwritten pages is reported, and the check ends`() throws {
        let more = try (0..<500).map { try Sample.scheduled("m\($0)", due: 10) }
        _ = try store.add(more)
        try store.close()
        let file = try #require(FileHandle(forUpdatingAtPath: folder.store))
        let size = try file.seekToEnd()
        try file.seek(toOffset: size / 2 / 4096 * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let findings = try check(folder.open(), pages: 100).1
        #expect(findings.contains { $0.kind == "file" }, "\(findings)")
        #expect(findings.count < 1_000)
        #expect(try leftovers == [])
    }

    @Test func `writes during the copying are in the copy`() throws {
        let copy = try StoreCopy(of: store, for: .check)
        #expect(try copy.advance(pages: 2) == nil)
        let id = try store.add(Sample.scheduled("late", due: 1)).account.id
        try damage("DELETE FROM token WHERE account_id = \(id.rawValue)")
        var finished: FinishedCopy?
        while finished == nil { finished = try copy.advance(pages: 2) }
        // From now on the copy is independent of the store.
        try store.remove(AccountID(1))
        var accounts = 0
        var findings: [StoreFinding] = []
        StoreCheck.run(on: try #require(finished), at: Sample.start) { portion in
            accounts += portion.accounts
            findings += portion.findings
        }
        #expect(accounts == 4)
        #expect(findings == [.refreshTokenMissing(name: "late", Generation(1))])
    }

    @Test func `a store whose key is being changed is checked with both keys`() throws {
        try store.rekeying.begin(to: try Sample.key(9))
        _ = try store.rekeying.reseal(limit: 1)
        #expect(try check().1 == [])
        while try !store.rekeying.reseal(limit: 1).isLast {}
        #expect(try check().1 == [])
    }

    @Test func `an abandoned copy and one left by a crash are removed`() throws {
        let copy = try StoreCopy(of: store, for: .check)
        _ = try copy.advance(pages: 1)
        #expect(try leftovers == ["accounts.sqlite.check"])
        copy.discard()
        #expect(try leftovers == [])
        try Data("half".utf8).write(to: URL(fileURLWithPath: folder.store + ".check"))
        #expect(try check().1 == [])
        #expect(try leftovers == [])
        // The store still works, and can be closed.
        try store.close()
    }

    @Test func `only this user may read the copy, and it has no plain secret`() throws {
        let copy = try StoreCopy(of: store, for: .check)
        while try copy.advance(pages: 4) == nil {}
        let path = folder.store + ".check"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data("access-a".utf8)) == nil)
    }
}

/// The permissions that protect the store.
struct StoreGuardTests {
    private let folder: TemporaryFolder
    private let store: AccountStore
    private let keyring: StoreKeyring

    init() throws {
        folder = try TemporaryFolder()
        keyring = StoreKeyring(
            source: StoreKeySource(credentialsDirectory: nil, stateDirectory: folder.path),
            secretService: SecretServiceKeys(load: { [] }, add: { _, _ in }, removeOthers: { _ in }),
            usesSecretService: false
        )
        store = try keyring.openStore(at: folder.store)
    }

    private var findings: [StoreFinding] {
        keyring.findings(about: folder.store, sealedWith: store.rekeying.keyIdentifier)
    }

    private func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test func `a store that only its owner can enter has no findings`() {
        #expect(findings == [])
    }

    @Test func `a file or folder open to others is reported`() throws {
        try setMode(0o644, of: folder.store)
        try setMode(0o750, of: folder.path)
        #expect(
            findings == [.tooOpen(path: folder.path, mode: 0o750), .tooOpen(path: folder.store, mode: 0o644)]
        )
        #expect(findings.first?.hint.text.hasPrefix("chmod 700 '\(folder.path)'") == true)
    }

    @Test func `a key file that is readable by others, missing or wrong is reported`() throws {
        let path = folder.file("store-key")
        try setMode(0o640, of: path)
        #expect(findings == [.key(.tooOpen(path: path, mode: 0o640))])
        try FileManager.default.removeItem(atPath: path)
        #expect(findings == [.key(.keyMissing(path: path))])
        _ = try keyring.source.createFile()
        #expect(findings == [.key(.keyMissing(path: path))])
    }
}
