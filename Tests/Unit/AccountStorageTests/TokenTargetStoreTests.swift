import Foundation
import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

/// Token targets in the store: their tokens, their times, and when they are erased.
struct TokenTargetStoreTests {
    private let folder: TemporaryFolder
    private let store: AccountStore
    private let id: AccountID

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
        id = try store.add(Sample.scheduled("a", due: 0)).account.id
    }

    private func target(_ scope: String) throws -> TokenTarget {
        try TokenTarget(scopes: [scope], resources: ["urn:x"])
    }

    private func times(at seconds: Int64, lifetime: Int64 = 3600) -> AccessTokenTimes {
        AccessTokenTimes(
            issuedAt: Sample.moment(seconds),
            lifetime: .seconds(lifetime),
            refreshAfter: .seconds(lifetime / 2)
        )
    }

    /// Commits the machine's decision for tokens with `scope`. The refresh token stays unless `rotated` is a new one.
    private func commit(
        _ scope: String,
        at seconds: Int64 = 0,
        granted: [String]? = nil,
        rotated: String? = nil
    ) throws {
        let generation = Generation(rotated == nil ? 1 : 2)
        let tokens = StoredTokens(
            accessToken: AccessToken(Secret("for \(scope)"), type: "DPoP"),
            refreshToken: rotated.map { Sample.refreshToken($0) },
            scopes: granted
        )
        let write = TokenTargetWrite(target: try target(scope), times: times(at: seconds), tokens: tokens)
        try commit(.storeTarget(write), generation)
    }

    private func commit(_ tokens: TokenWrite, _ generation: Generation = Generation(1), at seconds: Int64 = 0) throws {
        var state = RefreshState(generation: generation, phase: .scheduled, deadline: Sample.start)
        state.accessToken = times(at: seconds)
        try store.commit([StateWrite(account: id, base: Generation(1), state: state, tokens: tokens)])
    }

    private func tokenRows() throws -> Int {
        try store.connection.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM token WHERE kind = 'access' AND target <> ''") ?? -1
        }
    }

    @Test func `a target's token, times and granted scopes survive reopening`() throws {
        try commit("mail", granted: ["mail", "profile"])
        try store.close()
        let reopened = try folder.open()
        let record = TokenTargetRecord(
            target: try target("mail"),
            times: times(at: 0),
            grantedScopes: ["mail", "profile"]
        )
        #expect(try reopened.targets.record(target("mail"), of: id) == record)
        #expect(try reopened.targets.records(of: id) == [record])
        #expect(
            try reopened.targets.accessToken(of: id, for: target("mail"))
                == AccessToken(Secret("for mail"), type: "DPoP")
        )
        #expect(try reopened.targets.record(target("other"), of: id) == nil)
        #expect(try reopened.targets.accessToken(of: id, for: target("other")) == nil)
    }

    @Test func `the default token and the tokens of targets do not touch each other`() throws {
        try commit("mail")
        try commit(.store(StoredTokens(accessToken: Sample.accessToken("default"))))
        try commit("files")
        try commit("mail", at: 5)
        #expect(try store.tokens.accessToken(of: id) == Sample.accessToken("default"))
        #expect(try store.targets.accessToken(of: id, for: target("mail"))?.secret == Secret("for mail"))
        #expect(try store.targets.record(target("mail"), of: id)?.times == times(at: 5))
        #expect(try store.targets.records(of: id).count == 2)
        #expect(try tokenRows() == 2)
    }

    @Test func `a refresh token that comes with a target's token is kept like any other`() throws {
        try commit("mail", rotated: "a-2")
        #expect(try store.tokens.refreshToken(of: id, generation: Generation(2)) == Sample.refreshToken("a-2"))
        #expect(try store.tokens.refreshToken(of: id, generation: Generation(1)) == nil)
        #expect(try store.targets.accessToken(of: id, for: target("mail")) != nil)
    }

    @Test func `no target's token is on disk in plain form`() throws {
        try commit("mail")
        #expect(try !rawFiles(of: folder.store).contains("for mail"))
    }

    @Test func `a target's token moved to another target does not open`() throws {
        try commit("mail")
        try commit("files")
        try store.connection.write { db in
            try db.execute(
                sql: """
                    UPDATE token SET sealed = (SELECT sealed FROM token WHERE target = ?) WHERE target = ?
                    """,
                arguments: [try target("mail").text, try target("files").text]
            )
        }
        #expect(throws: StoreError.sealBroken(id, column: .accessToken)) {
            try store.targets.accessToken(of: id, for: target("files"))
        }
    }

    @Test(arguments: [
        TokenWrite.erase, .replace(StoredTokens(refreshToken: Sample.refreshToken("imported")), GrantFacts()),
    ])
    func `signing out and a new grant erase the targets`(write: TokenWrite) throws {
        try commit("mail")
        try commit(write, Generation(2))
        #expect(try store.targets.records(of: id).isEmpty)
        #expect(try tokenRows() == 0)
    }

    @Test func `the tokens of another person erase the targets, and the refresh token is kept`() throws {
        try commit("mail")
        let state = RefreshState(generation: Generation(2), phase: .scheduled, isWithheld: true)
        let tokens = TokenWrite.storeGrant(StoredTokens(refreshToken: Sample.refreshToken("others")))
        try store.commit([StateWrite(account: id, base: Generation(1), state: state, tokens: tokens)])
        #expect(try store.targets.records(of: id).isEmpty)
        #expect(try tokenRows() == 0)
        #expect(try store.tokens.refreshToken(of: id, generation: Generation(2)) == Sample.refreshToken("others"))
    }

    @Test func `removing an account removes its targets, and no other's`() throws {
        try commit("mail")
        let other = try store.add(Sample.scheduled("b", due: 0)).account.id
        try store.remove(other)
        #expect(try store.targets.records(of: id).count == 1)
        try store.remove(id)
        #expect(try tokenRows() == 0)
        #expect(try store.connection.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM token_set") } == 0)
    }

    @Test func `a target refused by its resource is erased, and no other`() throws {
        try commit("mail")
        try commit("files")
        try commit(.eraseTarget(target("mail")))
        #expect(try store.targets.records(of: id).map(\.target) == [target("files")])
        #expect(try tokenRows() == 1)
    }

    @Test func `a target that expired a day before a refresh is forgotten`() throws {
        try commit("old", at: 0)
        try commit("new", at: 1)
        let day: Int64 = 86_400
        try commit(.store(StoredTokens(accessToken: Sample.accessToken("x"))), at: day + 3600)
        #expect(try store.targets.records(of: id).count == 2)
        try commit(.store(StoredTokens(accessToken: Sample.accessToken("x"))), at: day + 3601)
        #expect(try store.targets.records(of: id).map(\.target) == [target("new")])
        #expect(try tokenRows() == 1)
    }

    @Test func `if there are too many targets, those that expire first are removed`() throws {
        for number in 0...TokenTarget.maximum { try commit("s\(number)", at: Int64(number)) }
        let held = try store.targets.records(of: id)
        #expect(held.count == TokenTarget.maximum)
        #expect(try !held.map(\.target).contains(target("s0")))
        #expect(try tokenRows() == TokenTarget.maximum)
    }

    @Test func `a damaged target counts as missing, and its account is served`() throws {
        try commit("mail")
        try commit("files")
        try store.connection.write { db in
            try db.execute(
                sql: "UPDATE token_set SET target = 'nothing' WHERE target = ?",
                arguments: [target("mail").text]
            )
        }
        #expect(try store.targets.records(of: id).map(\.target) == [target("files")])
        #expect(try store.record(id)?.state.generation == Generation(1))
    }

    @Test func `a change of the key encrypts the tokens of targets again`() throws {
        try commit("mail")
        let key = try Sample.key(9)
        try store.rekeying.begin(to: key)
        while try !store.rekeying.reseal(limit: 10).isLast {}
        try store.close()
        let reopened = try folder.open(key: key)
        #expect(try reopened.targets.accessToken(of: id, for: target("mail"))?.secret == Secret("for mail"))
    }
}

extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
