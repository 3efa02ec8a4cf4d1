import Basics
import Crypto
import Foundation
import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

struct SealingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private let place = SealedPlace(account: AccountID(1), column: .refreshToken, generation: Generation(2))

    @Test func `an encrypted value opens in its place`() throws {
        let sealer = try Sealer(Sample.key())
        for text in ["", "x", String(repeating: "long ", count: 10_000)] {
            #expect(try sealer.open(sealer.seal(Secret(text), for: place), at: place) == Secret(text))
        }
    }

    /// All versions of the store derived the key so; the library's own HKDF must give the same.
    @Test func `an account's key is HKDF of the store's key and the account's number`() throws {
        let sealed = try Sealer(Sample.key()).seal(Secret("x"), for: place)
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: [UInt8](repeating: 7, count: 32)),
            info: Data("authrefresh account key".utf8) + [0, 0, 0, 0, 0, 0, 0, 1],
            outputByteCount: 32
        )
        let context = Data([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]) + Data("token.refresh".utf8) + [0]
        let box = try AES.GCM.SealedBox(combined: sealed.dropFirst())
        #expect(try AES.GCM.open(box, using: key, authenticating: context) == Data("x".utf8))
    }

    @Test func `no two sealed values are equal`() throws {
        let sealer = try Sealer(Sample.key())
        let sealed = try (0..<100).map { _ in try sealer.seal(Secret("x"), for: place) }
        #expect(Set(sealed).count == 100)
    }

    @Test func `an encrypted value opens in no other place`() throws {
        let sealer = try Sealer(Sample.key())
        let sealed = try sealer.seal(Secret("x"), for: place)
        var others = [place, place, place, place]
        others[0].account = AccountID(2)
        others[1].generation = Generation(1)
        others[2].column = .accessToken
        others[3].target = "x"
        for other in others {
            #expect(throws: StoreError.sealBroken(other.account, column: other.column)) {
                try sealer.open(sealed, at: other)
            }
        }
    }

    @Test func `every flipped bit and every cut is noticed`() throws {
        let sealer = try Sealer(Sample.key())
        let sealed = try sealer.seal(Secret("token"), for: place)
        let broken = StoreError.sealBroken(place.account, column: place.column)
        for bit in 0..<sealed.count * 8 {
            var altered = sealed
            altered[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: broken) { try sealer.open(altered, at: place) }
        }
        for length in 0..<sealed.count {
            #expect(throws: broken) { try sealer.open(sealed.prefix(length), at: place) }
        }
    }

    @Test func `another key opens nothing`() throws {
        let sealed = try Sealer(Sample.key(1)).seal(Secret("x"), for: place)
        #expect(throws: StoreError.self) { try Sealer(Sample.key(2)).open(sealed, at: place) }
    }

    @Test func `a token moved to another account does not open`() throws {
        let store = try folder.open()
        let ids = try store.add([Sample.scheduled("a", due: 1), Sample.scheduled("b", due: 1)])
        try store.connection.write { db in
            try db.execute(
                sql: "UPDATE token SET sealed = (SELECT sealed FROM token WHERE account_id = ?) WHERE account_id = ?",
                arguments: [ids[0].rawValue, ids[1].rawValue]
            )
        }
        #expect(throws: StoreError.sealBroken(ids[1], column: .refreshToken)) {
            try store.tokens.refreshToken(of: ids[1], generation: Generation(1))
        }
        #expect(try store.tokens.refreshToken(of: ids[0], generation: Generation(1)) == Sample.refreshToken("a-1"))
    }

    @Test func `a spent token in place of the current one does not open`() throws {
        let store = try folder.open()
        let id = try store.add(Sample.scheduled("a", due: 1)).account.id
        try store.connection.write { db in try db.execute(sql: "UPDATE token SET generation = 2") }
        #expect(throws: StoreError.sealBroken(id, column: .refreshToken)) {
            try store.tokens.refreshToken(of: id, generation: Generation(2))
        }
    }

    @Test func `a broken client secret names its account and affects no other`() throws {
        let store = try folder.open()
        var secretive = try Sample.scheduled("a", due: 1)
        secretive.registration.clientSecret = Secret("s")
        let ids = try store.add([secretive, Sample.scheduled("b", due: 1)])
        try store.connection.write { db in
            try db.execute(sql: "UPDATE account SET client_secret = zeroblob(64) WHERE id = 1")
        }
        let broken = StoreError.sealBroken(ids[0], column: .clientSecret)
        #expect(throws: broken) { try store.record(ids[0]) }
        #expect(try store.schedule.due(at: Sample.start + .seconds(1), online: true, limit: 9) == ids)
        let page = try store.entries(after: nil, limit: 9)
        #expect(page.map(\.name) == ["a", "b"])
        #expect(throws: broken) { try page[0].record() }
        #expect(try page[1].record() == store.record(ids[1]))
    }

    @Test func `an erased secret is in no file, encrypted or not`() throws {
        let store = try folder.open()
        var new = try Sample.account("a")
        new.registration.clientSecret = Secret("client-secret-in-the-clear")
        let id = try store.add(new).account.id
        let tokens = StoredTokens(
            accessToken: Sample.accessToken("access-token-in-the-clear"),
            refreshToken: Sample.refreshToken("refresh-token-in-the-clear"),
            idToken: Secret("id-token-in-the-clear")
        )
        let state = RefreshState(generation: Generation(1), phase: .scheduled, deadline: Sample.start)
        try store.commit([StateWrite(account: id, base: Generation(0), state: state, tokens: .store(tokens))])
        let sealed = try store.connection.read { db in try Data.fetchAll(db, sql: "SELECT sealed FROM token") }
        #expect(sealed.count == 3)
        let held = try rawFiles(of: folder.store)
        for value in sealed { #expect(held.range(of: value) != nil) }

        let signedOut = RefreshState(generation: Generation(2))
        try store.commit([StateWrite(account: id, base: Generation(1), state: signedOut, tokens: .erase)])
        let erased = try rawFiles(of: folder.store)
        for value in sealed { #expect(erased.range(of: value) == nil) }
        for files in [held, erased] { #expect(files.range(of: Data("in-the-clear".utf8)) == nil) }
    }

    @Test func `no error shows a secret`() throws {
        let store = try folder.open()
        let key = try Sample.key()
        var new = try Sample.scheduled("a", due: 1)
        new.registration.clientSecret = Secret("visible-secret")
        new.tokens = StoredTokens(refreshToken: Sample.refreshToken("visible-token"))
        let id = try store.add(new).account.id
        var errors: [StoreError?] = [#expect(throws: StoreError.self) { try store.add(new) }]
        try store.connection.write { db in
            try db.execute(sql: "UPDATE account SET client_secret = zeroblob(64)")
            try db.execute(sql: "UPDATE token SET sealed = zeroblob(64)")
        }
        errors.append(#expect(throws: StoreError.self) { try store.record(id) })
        errors.append(
            #expect(throws: StoreError.self) { try store.tokens.refreshToken(of: id, generation: Generation(1)) }
        )
        // A statement that has secrets as arguments, and fails.
        errors.append(
            #expect(throws: StoreError.self) {
                try store.connection.write { db in
                    try db.execute(sql: "INSERT INTO account (name) VALUES (?)", arguments: ["visible-secret"])
                }
            }
        )
        try store.close()
        errors.append(#expect(throws: StoreError.self) { try folder.open(key: Sample.key(8)) })
        #expect(Set(errors.map { "\($0, default: "none")" }).count == errors.count)
        var texts = ["\(key)", String(reflecting: key)]
        for error in errors {
            let error = try #require(error)
            var dumped = ""
            dump(error, to: &dumped)
            texts += ["\(error)", String(reflecting: error), error.hint?.text ?? "", dumped]
        }
        // Also the bytes of the keys, as digits, as a list and in Base64.
        let secrets = ["visible", "0707", "0808", "7, 7", "8, 8", "BwcH", "CAgI"]
        for text in texts { #expect(!secrets.contains { text.contains($0) }, "\(text)") }
        #expect(texts[0] == "<redacted>")
    }
}
