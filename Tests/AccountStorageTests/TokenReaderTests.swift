import Dispatch
import Foundation
import GRDB
import RefreshCore
import Synchronization
import Testing

@testable import AccountStorage

/// What threads other than the owner's read of access tokens: the stored token, or that they must ask the owner.
struct TokenReaderTests {
    private let folder: TemporaryFolder
    private let store: AccountStore

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    private var reader: TokenReader { store.tokenReader }

    /// An account with an access token, and with another one in a token set of its own.
    private func account(_ name: String, allowed: AllowedCallers? = nil) throws -> NewAccount {
        var account = try Sample.fresh(
            name,
            StoredTokens(
                accessToken: AccessToken(Secret("access-\(name)"), type: "DPoP"),
                refreshToken: Sample.refreshToken("refresh-\(name)")
            )
        )
        account.allowedCallers = allowed
        return account
    }

    private func commit(_ id: AccountID, _ tokens: TokenWrite, holding times: AccessTokenTimes?) throws {
        var state = RefreshState(generation: Generation(1), phase: .scheduled, deadline: Sample.start)
        if case .erase = tokens { state = RefreshState(generation: Generation(1)) }
        state.accessToken = times
        try store.commit([StateWrite(account: id, base: Generation(1), state: state, tokens: tokens)])
    }

    @Test func `a token is found by its account's name, with its times and its type`() throws {
        _ = try store.add([account("a"), account("b")])
        let found = try #require(reader.token(of: "b"))
        #expect(found.token == AccessToken(Secret("access-b"), type: "DPoP"))
        #expect(found.times == Sample.accessTokenTimes)
        #expect(reader.token(of: "c") == nil)
    }

    @Test func `a store may be released while queries share a transaction`() throws {
        _ = try store.add(account("a"))
        try store.close()
        for _ in 0..<50 {
            let again = try folder.open()
            #expect(again.tokenReader.token(of: "a") != nil)
        }
    }

    @Test func `a replaced token is found at once`() throws {
        let id = try store.add(account("a")).account.id
        var later = Sample.accessTokenTimes
        later.issuedAt = Sample.moment(60)
        try commit(id, .store(StoredTokens(accessToken: Sample.accessToken("second"))), holding: later)
        let found = try #require(reader.token(of: "a"))
        #expect(found.token == Sample.accessToken("second"))
        #expect(found.times == later)
    }

    @Test func `after a sign-out, rejection, renaming or removal nothing is found`() throws {
        let ids = try store.add([account("out"), account("rejected"), account("old"), account("gone")])
        try commit(ids[0], .erase, holding: nil)
        try commit(ids[1], .unchanged, holding: nil)
        _ = try store.rename(ids[2], to: Sample.name("new"))
        try store.remove(ids[3])
        for name in ["out", "rejected", "old", "gone"] { #expect(reader.token(of: name) == nil, "\(name)") }
        #expect(reader.token(of: "new")?.token.secret == Secret("access-old"))
    }

    /// A cached token must not be found after any of these changes.
    @Test(arguments: [
        "DELETE FROM token WHERE kind = 'access'", "UPDATE token SET sealed = x'00'", "UPDATE account SET name = 'b'",
        "DELETE FROM account", "UPDATE account SET access_lifetime_usec = NULL",
        "UPDATE account SET allowed_callers = '{}'",
        "INSERT INTO set_aside (account_id, deadline_usec) SELECT id, NULL FROM account",
    ])
    func `a cached token is not found after a change that removes it`(change: String) throws {
        _ = try store.add(account("a"))
        for _ in 0..<2 { #expect(reader.token(of: "a") != nil) }
        try store.inDatabase { db in try db.execute(sql: change) }
        #expect(reader.token(of: "a") == nil)
    }

    @Test func `a cached token follows every write of the store`() throws {
        let id = try store.add(account("a")).account.id
        let found = { reader.token(of: "a")?.token.secret }
        #expect(found() == Secret("access-a"))
        var account = try #require(try store.record(id)).account
        account.allowedCallers = AllowedCallers(units: ["mail.service"], executables: [])
        try store.update(account)
        #expect(found() == nil)
        account.allowedCallers = nil
        try store.update(account)
        #expect(found() == Secret("access-a"))
        _ = try store.schedule.setAside([id])
        #expect(found() == nil)
        _ = try store.schedule.takeBack(after: AccountID(0), limit: 10)
        #expect(found() == Secret("access-a"))
        try commit(
            id,
            .store(StoredTokens(accessToken: Sample.accessToken("second"))),
            holding: Sample.accessTokenTimes
        )
        #expect(found() == Secret("second"))
        _ = try store.rename(id, to: Sample.name("b"))
        #expect(found() == nil)
        _ = try store.rename(id, to: Sample.name("a"))
        #expect(found() == Secret("second"))
        try commit(id, .erase, holding: nil)
        #expect(found() == nil)
    }

    /// Queries share a transaction. It must end at the next use of the store, or the log would never be emptied.
    @Test func `readers block neither writers nor the emptying of the log`() throws {
        let ids = try store.add([account("a"), account("b")])
        for name in ["a", "b"] { #expect(reader.token(of: name) != nil) }
        try commit(ids[0], .erase, holding: nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store + "-wal")).isEmpty)
        #expect(reader.token(of: "a") == nil)
        #expect(reader.token(of: "b")?.token.secret == Secret("access-b"))
    }

    @Test func `a failed commit removes nothing`() throws {
        let id = try store.add(account("a")).account.id
        #expect(reader.token(of: "a") != nil)
        var state = RefreshState(generation: Generation(1))
        state.accessToken = nil
        let stale = StateWrite(account: id, base: Generation(0), state: state, tokens: .erase)
        #expect(throws: StoreError.self) { try store.commit([stale]) }
        #expect(reader.token(of: "a")?.token.secret == Secret("access-a"))
    }

    @Test func `few tokens are cached, and a dropped one is erased`() throws {
        struct Found {
            weak var secret: Secret?
        }
        _ = try store.add((0..<200).map { try account("a\($0)") })
        var found: [Found] = []
        for index in 0..<200 {
            let secret = reader.token(of: "a\(index)")?.token.secret
            #expect(secret == Secret("access-a\(index)"))
            found.append(Found(secret: secret))
        }
        let cached = found.count { $0.secret != nil }
        #expect((1...64).contains(cached), "\(cached)")
        weak var last: Secret?
        last = reader.token(of: "a199")?.token.secret
        #expect(last != nil)
        // The end of the write is enough; nobody has to ask for the token.
        try store.inDatabase { db in try db.execute(sql: "UPDATE account SET failures = 1") }
        #expect(last == nil)
    }

    @Test func `an account with a callers' list is left to the owner`() throws {
        _ = try store.add(account("a", allowed: AllowedCallers(units: ["mail.service"], executables: [])))
        #expect(reader.token(of: "a") == nil)
    }

    @Test func `while the owner uses the store, readers get nothing and do not wait`() throws {
        _ = try store.add(account("a"))
        let reader = reader
        let found = try store.connection.read { _ in
            let answers = DispatchQueue(label: "another thread")
            return answers.sync { reader.token(of: "a") }
        }
        #expect(found == nil)
        #expect(reader.token(of: "a") != nil)
    }

    @Test func `while something could not be stored, readers get nothing`() throws {
        _ = try store.add(account("a"))
        reader.setBehind(true)
        #expect(reader.token(of: "a") == nil)
        reader.setBehind(false)
        #expect(reader.token(of: "a") != nil)
    }

    @Test(arguments: [
        "UPDATE account SET access_wall_usec = 9223372036854775807", "UPDATE account SET access_lifetime_usec = NULL",
        "UPDATE account SET access_refresh_after_usec = -9223372036854775808",
        "UPDATE account SET access_boot_id = NULL",
        "UPDATE token SET sealed = x'00'", "UPDATE token SET sealed = x''", "UPDATE token SET generation = 7",
        "UPDATE token SET sealed = (SELECT sealed FROM token WHERE kind = 'refresh')",
    ])
    func `damaged tokens are not found, and the owner gets the reason`(damage: String) throws {
        _ = try store.add(account("a"))
        try store.inDatabase { db in try db.execute(sql: damage) }
        #expect(reader.token(of: "a") == nil)
    }

    @Test func `an account set aside is left to the owner`() throws {
        let id = try store.add(account("a")).account.id
        _ = try store.schedule.setAside([id])
        #expect(reader.token(of: "a") == nil)
    }

    @Test func `tokens are found during a key change and afterwards`() throws {
        _ = try store.add((0..<5).map { try account("a\($0)") })
        let all = { (0..<5).allSatisfy { reader.token(of: "a\($0)")?.token.secret == Secret("access-a\($0)") } }
        try store.rekeying.begin(to: Sample.key(9))
        #expect(all())
        while try !store.rekeying.reseal(limit: 2).isLast { #expect(all()) }
        #expect(all())
    }

    @Test func `a closed store has no tokens`() throws {
        _ = try store.add(account("a"))
        try store.close()
        #expect(reader.token(of: "a") == nil)
    }

    @Test func `threads may read while the owner writes, and get complete answers`() throws {
        let id = try store.add(account("a")).account.id
        try commit(id, .store(StoredTokens(accessToken: Sample.accessToken("t3600"))), holding: Sample.accessTokenTimes)
        let reader = reader
        let group = DispatchGroup()
        let wrong = Counter()
        for _ in 0..<2 {
            DispatchQueue.global().async(group: group) {
                for _ in 0..<2_000 {
                    guard let found = reader.token(of: "a") else { continue }
                    // The token and its times were stored together.
                    if found.token.secret != Secret("t\(found.times.lifetime.components.seconds)") { wrong.raise() }
                }
            }
        }
        for index in 1...50 {
            var times = Sample.accessTokenTimes
            times.lifetime = .seconds(index)
            try commit(id, .store(StoredTokens(accessToken: Sample.accessToken("t\(index)"))), holding: times)
        }
        group.wait()
        #expect(wrong.count == 0)
    }
}

/// Counts on any thread.
private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .sequentiallyConsistent) }

    func raise() { value.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}
