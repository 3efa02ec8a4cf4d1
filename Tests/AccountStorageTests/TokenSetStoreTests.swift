import Foundation
import GRDB
import RefreshCore
import Testing

@testable import AccountStorage

/// Token sets in the store: their tokens, their times, and what becomes of them.
struct TokenSetStoreTests {
    private let folder: TemporaryFolder
    private let store: AccountStore
    private let id: AccountID

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
        id = try store.add(Sample.scheduled("a", due: 0)).account.id
    }

    private func set(_ scope: String) throws -> TokenSet { try TokenSet(scopes: [scope], resources: ["urn:x"]) }

    private func times(at seconds: Int64, lifetime: Int64 = 3600) -> AccessTokenTimes {
        AccessTokenTimes(
            issuedAt: Sample.moment(seconds),
            lifetime: .seconds(lifetime),
            refreshAfter: .seconds(lifetime / 2)
        )
    }

    /// What the machine decides when tokens for `scope` come; the refresh token stays unless `rotated` names a new one.
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
        let write = TokenSetWrite(set: try set(scope), times: times(at: seconds), tokens: tokens)
        try commit(.storeSet(write), generation)
    }

    private func commit(_ tokens: TokenWrite, _ generation: Generation = Generation(1), at seconds: Int64 = 0) throws {
        var state = RefreshState(generation: generation, phase: .scheduled, deadline: Sample.start)
        state.accessToken = times(at: seconds)
        try store.commit([StateWrite(account: id, base: Generation(1), state: state, tokens: tokens)])
    }

    private func tokenRows() throws -> Int {
        try store.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM token WHERE kind = 'access' AND target <> ''") ?? -1
        }
    }

    @Test func `a set's token, times and granted scopes survive reopening`() throws {
        try commit("mail", granted: ["mail", "profile"])
        try store.close()
        let reopened = try folder.open()
        let record = TokenSetRecord(set: try set("mail"), times: times(at: 0), grantedScopes: ["mail", "profile"])
        #expect(try reopened.tokenSet(set("mail"), of: id) == record)
        #expect(try reopened.tokenSets(of: id) == [record])
        #expect(try reopened.accessToken(of: id, for: set("mail")) == AccessToken(Secret("for mail"), type: "DPoP"))
        #expect(try reopened.tokenSet(set("other"), of: id) == nil)
        #expect(try reopened.accessToken(of: id, for: set("other")) == nil)
    }

    @Test func `the default token and the tokens of sets do not touch each other`() throws {
        try commit("mail")
        try commit(.store(StoredTokens(accessToken: Sample.accessToken("default"))))
        try commit("files")
        try commit("mail", at: 5)
        #expect(try store.accessToken(of: id) == Sample.accessToken("default"))
        #expect(try store.accessToken(of: id, for: set("mail"))?.secret == Secret("for mail"))
        #expect(try store.tokenSet(set("mail"), of: id)?.times == times(at: 5))
        #expect(try store.tokenSets(of: id).count == 2)
        #expect(try tokenRows() == 2)
    }

    @Test func `a refresh token that comes with a set's token is kept like any other`() throws {
        try commit("mail", rotated: "a-2")
        #expect(try store.refreshToken(of: id, generation: Generation(2)) == Sample.refreshToken("a-2"))
        #expect(try store.refreshToken(of: id, generation: Generation(1)) == nil)
        #expect(try store.accessToken(of: id, for: set("mail")) != nil)
    }

    @Test func `no token of a set is on disk as it came`() throws {
        try commit("mail")
        #expect(try !rawFiles(of: folder.store).contains("for mail"))
    }

    @Test func `a set's token moved to another set does not open`() throws {
        try commit("mail")
        try commit("files")
        try store.write { db in
            try db.execute(
                sql: """
                    UPDATE token SET sealed = (SELECT sealed FROM token WHERE target = ?) WHERE target = ?
                    """,
                arguments: [try set("mail").text, try set("files").text]
            )
        }
        #expect(throws: StoreError.sealBroken(id, column: .accessToken)) {
            try store.accessToken(of: id, for: set("files"))
        }
    }

    @Test(arguments: [
        TokenWrite.erase, .replace(StoredTokens(refreshToken: Sample.refreshToken("imported")), GrantFacts()),
    ])
    func `signing out and a new grant erase the sets`(write: TokenWrite) throws {
        try commit("mail")
        try commit(write, Generation(2))
        #expect(try store.tokenSets(of: id).isEmpty)
        #expect(try tokenRows() == 0)
    }

    @Test func `removing an account removes its sets, and no other's`() throws {
        try commit("mail")
        let other = try store.add(Sample.scheduled("b", due: 0)).account.id
        try store.remove(other)
        #expect(try store.tokenSets(of: id).count == 1)
        try store.remove(id)
        #expect(try tokenRows() == 0)
        #expect(try store.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM token_set") } == 0)
    }

    @Test func `a set that was refused by its resource is erased alone`() throws {
        try commit("mail")
        try commit("files")
        try commit(.eraseSet(set("mail")))
        #expect(try store.tokenSets(of: id).map(\.set) == [set("files")])
        #expect(try tokenRows() == 1)
    }

    @Test func `a set that ended a day before a refresh is forgotten`() throws {
        try commit("old", at: 0)
        try commit("new", at: 1)
        let day: Int64 = 86_400
        try commit(.store(StoredTokens(accessToken: Sample.accessToken("x"))), at: day + 3600)
        #expect(try store.tokenSets(of: id).count == 2)
        try commit(.store(StoredTokens(accessToken: Sample.accessToken("x"))), at: day + 3601)
        #expect(try store.tokenSets(of: id).map(\.set) == [set("new")])
        #expect(try tokenRows() == 1)
    }

    @Test func `of more sets than there is room for those go that end first`() throws {
        for number in 0...TokenSet.maximum { try commit("s\(number)", at: Int64(number)) }
        let held = try store.tokenSets(of: id)
        #expect(held.count == TokenSet.maximum)
        #expect(try !held.map(\.set).contains(set("s0")))
        #expect(try tokenRows() == TokenSet.maximum)
    }

    @Test func `a damaged set is one that is not there, and its account is served`() throws {
        try commit("mail")
        try commit("files")
        try store.write { db in
            try db.execute(
                sql: "UPDATE token_set SET target = 'nothing' WHERE target = ?",
                arguments: [set("mail").text]
            )
        }
        #expect(try store.tokenSets(of: id).map(\.set) == [set("files")])
        #expect(try store.record(id)?.state.generation == Generation(1))
    }

    @Test func `a change of the key seals the tokens of sets anew`() throws {
        try commit("mail")
        let key = try Sample.key(9)
        try store.beginRekey(to: key)
        while try !store.reseal(limit: 10).isLast {}
        try store.close()
        let reopened = try folder.open(key: key)
        #expect(try reopened.accessToken(of: id, for: set("mail"))?.secret == Secret("for mail"))
    }
}

extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
