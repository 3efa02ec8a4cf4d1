import Foundation
import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

/// Changing the store's key while the store is in use, with stops at any step.
struct RekeyTests {
    private let folder: TemporaryFolder
    private let old: StoreKey
    private let new: StoreKey

    init() throws {
        folder = try TemporaryFolder()
        (old, new) = (try Sample.key(1), try Sample.key(2))
    }

    /// A store with accounts `a0`, `a1`, …, each with a client secret and all kinds of tokens.
    private func filled(_ count: Int) throws -> (store: AccountStore, ids: [AccountID]) {
        let store = try folder.open(key: old)
        let accounts = try (0..<count).map { index in
            var account = try Sample.scheduled("a\(index)", due: 10)
            account.registration.clientSecret = Secret("client-\(index)")
            account.registration.clientKey = Secret("key-\(index)")
            account.registration.dpopKey = Secret("dpop-\(index)")
            account.registration.management = RegistrationManagement(
                uri: "https://as.example/register/\(index)",
                accessToken: Secret("registration-\(index)")
            )
            account.registration.redirect = RegisteredRedirect(
                uri: "http://127.0.0.1:1/",
                port: index + 1,
                scheme: "a.b"
            )
            account.providerVariables = ["tenant": "t-\(index)"]
            account.providerSettings = ["scope_separator": ",", "headers": "{X-Index: \(index)}"]
            account.tokens?.accessToken = Sample.accessToken("access-\(index)")
            account.tokens?.idToken = Secret("id-\(index)")
            return account
        }
        return (store, try store.add(accounts))
    }

    private func expectSecrets(_ ids: [AccountID], in store: AccountStore) throws {
        for (index, id) in ids.enumerated() {
            let registration = try #require(try store.record(id)?.account.registration)
            #expect(registration.clientSecret == Secret("client-\(index)"))
            #expect(registration.clientKey == Secret("key-\(index)"))
            #expect(registration.dpopKey == Secret("dpop-\(index)"))
            #expect(registration.management?.accessToken == Secret("registration-\(index)"))
            #expect(registration.redirect.port == index + 1 && registration.redirect.scheme == "a.b")
            #expect(
                try store.tokens.refreshToken(of: id, generation: Generation(1)) == Sample.refreshToken("a\(index)-1")
            )
            #expect(try store.tokens.accessToken(of: id) == Sample.accessToken("access-\(index)"))
            #expect(try store.tokens.idToken(of: id) == Secret("id-\(index)"))
        }
    }

    @Test func `every secret opens with the new key alone, whatever the size of a batch`() throws {
        for size in [1, 3, 100] {
            let (store, ids) = try filled(7)
            try store.rekeying.begin(to: new)
            var batches = 0
            while try !store.rekeying.reseal(limit: size).isLast { batches += 1 }
            #expect(batches == (7 + size - 1) / size)
            #expect(!store.rekeying.isBeingResealed)
            #expect(store.rekeying.keyIdentifier == new.identifier)
            #expect(try store.rekeying.retiredKeyIdentifier() == old.identifier)
            try store.close()
            #expect(
                throws: StoreError.wrongKey(path: folder.store, expected: new.identifier, given: old.identifier)
            ) {
                try folder.open(key: old)
            }
            let reopened = try folder.open(key: new)
            try expectSecrets(ids, in: reopened)
            try reopened.close()
            try FileManager.default.removeItem(atPath: folder.store)
        }
    }

    @Test func `after a stop at any step the store opens with both keys and continues`() throws {
        var (store, ids) = try filled(5)
        try store.rekeying.begin(to: new)
        var steps = 0
        while true {
            try store.close()
            for (key, missing) in [(old, new), (new, old)] {
                let wrong = StoreError.wrongKey(path: folder.store, expected: missing.identifier, given: key.identifier)
                #expect(throws: wrong) { try folder.open(key: key) }
            }
            store = try AccountStore(path: folder.store, keys: [new, old])
            #expect(store.rekeying.isBeingResealed)
            try expectSecrets(ids, in: store)
            steps += 1
            if try store.rekeying.reseal(limit: 1).isLast { break }
        }
        #expect(steps == 6)
        try expectSecrets(ids, in: store)
    }

    @Test func `writes during a key change are sealed with the new key`() throws {
        let (store, ids) = try filled(4)
        try store.rekeying.begin(to: new)
        _ = try store.rekeying.reseal(limit: 2)
        // An account that is already encrypted with the new key, one that is not yet, and an added one.
        for id in [ids[0], ids[3]] {
            let state = RefreshState(generation: Generation(2), phase: .scheduled, deadline: Sample.start)
            let tokens = StoredTokens(
                accessToken: Sample.accessToken("later"),
                refreshToken: Sample.refreshToken("later")
            )
            try store.commit([StateWrite(account: id, base: Generation(1), state: state, tokens: .store(tokens))])
        }
        let added = try store.add(Sample.scheduled("added", due: 1)).account.id
        try store.tokens.noteExport(of: Sample.refreshToken("a2-1"), of: ids[2], generation: Generation(1))
        while try !store.rekeying.reseal(limit: 2).isLast {}
        try store.close()
        let reopened = try folder.open(key: new)
        for id in [ids[0], ids[3]] {
            #expect(try reopened.tokens.refreshToken(of: id, generation: Generation(2)) == Sample.refreshToken("later"))
            #expect(try reopened.tokens.accessToken(of: id) == Sample.accessToken("later"))
        }
        #expect(
            try reopened.tokens.refreshToken(of: added, generation: Generation(1)) == Sample.refreshToken("added-1")
        )
        #expect(try reopened.tokens.accessToken(of: ids[1]) == Sample.accessToken("access-1"))
        #expect(try reopened.tokens.isCopied(Sample.refreshToken("a2-1"), of: ids[2]))
    }

    @Test func `a secret that no key opens is counted and stops nothing`() throws {
        let (store, ids) = try filled(3)
        try store.connection.write { db in
            try db.execute(sql: "UPDATE token SET sealed = zeroblob(40) WHERE account_id = 2 AND kind = 'access'")
            try db.execute(sql: "UPDATE account SET client_secret = zeroblob(40) WHERE id = 3")
        }
        try store.rekeying.begin(to: new)
        let batch = try store.rekeying.reseal(limit: 9)
        #expect(batch == ResealedBatch(accounts: 3, unreadable: 2, isLast: false))
        #expect(try store.rekeying.reseal(limit: 9).isLast)
        #expect(try store.tokens.refreshToken(of: ids[1], generation: Generation(1)) == Sample.refreshToken("a1-1"))
    }

    @Test func `nothing encrypted with the old key is left in the files`() throws {
        let (store, _) = try filled(20)
        let sealed = try store.connection.read { db in
            try Data.fetchAll(db, sql: "SELECT sealed FROM token UNION ALL SELECT client_secret FROM account")
        }
        #expect(sealed.count == 80)
        try store.rekeying.begin(to: new)
        while try !store.rekeying.reseal(limit: 8).isLast {}
        let files = try rawFiles(of: folder.store)
        for value in sealed { #expect(files.range(of: value) == nil) }
    }

    @Test func `a backup made during a key change opens with both keys and continues the change`() throws {
        let (store, ids) = try filled(5)
        try store.rekeying.begin(to: new)
        _ = try store.rekeying.reseal(limit: 2)
        #expect(store.connection.keys.all.map(\.identifier) == [old.identifier, new.identifier])
        let path = folder.file("backup")
        try store.backup(to: path)
        for key in [old, new] {
            #expect(throws: StoreError.self) { try AccountStore(path: path, key: key) }
        }
        let copy = try AccountStore(path: path, keys: [new, old])
        try expectSecrets(ids, in: copy)
        while try !copy.rekeying.reseal(limit: 2).isLast {}
        #expect(copy.connection.keys.all.map(\.identifier) == [new.identifier])
        try copy.close()
        try expectSecrets(ids, in: AccountStore(path: path, key: new))
    }

    @Test func `an empty store can change its key, too`() throws {
        let store = try folder.open(key: old)
        try store.rekeying.begin(to: new)
        #expect(try store.rekeying.reseal(limit: 1) == ResealedBatch(accounts: 0, unreadable: 0, isLast: true))
        try store.rekeying.forgetRetiredKey()
        #expect(try store.rekeying.retiredKeyIdentifier() == nil)
        try store.close()
        try folder.open(key: new).close()
    }
}
