import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

struct CommitTests {
    private let folder: TemporaryFolder
    private let store: AccountStore
    private let id: AccountID

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
        id = try store.add(Sample.scheduled("a", due: 0)).account.id
    }

    private func token(_ generation: Int64) throws -> String? {
        try store.tokens.refreshToken(of: id, generation: Generation(generation))?.secret.reveal()
    }

    /// Rotates from generation `base` to the next one.
    private func rotation(from base: Int64, keepingPrevious: Bool = true) -> StateWrite {
        let previous = PreviousRefreshToken(generation: Generation(base), replacedAt: Sample.moment(base))
        let state = RefreshState(
            generation: Generation(base + 1),
            phase: .scheduled,
            deadline: Sample.start,
            previous: keepingPrevious ? previous : nil
        )
        let tokens = StoredTokens(
            accessToken: Sample.accessToken("access-\(base + 1)"),
            refreshToken: Sample.refreshToken("a-\(base + 1)"),
            idToken: base == 1 ? Secret("id") : nil
        )
        return StateWrite(account: id, base: Generation(base), state: state, tokens: .store(tokens))
    }

    @Test func `a rotation keeps the previous refresh token until the next one`() throws {
        try store.commit([rotation(from: 1)])
        #expect(try (token(1), token(2)) == ("a-1", "a-2"))
        try store.commit([rotation(from: 2)])
        #expect(try (token(1), token(2)) == (nil, "a-2"))
        #expect(try token(3) == "a-3")
        #expect(try store.tokens.accessToken(of: id)?.secret.reveal() == "access-3")
    }

    @Test func `a state without a previous token drops it`() throws {
        try store.commit([rotation(from: 1)])
        let state = RefreshState(generation: Generation(2), phase: .scheduled, deadline: Sample.start)
        try store.commit([StateWrite(account: id, base: Generation(2), state: state)])
        #expect(try (token(1), token(2)) == (nil, "a-2"))
    }

    @Test func `a cached account is always the stored one, whoever wrote it last`() throws {
        let before = try #require(try store.record(id))
        var state = before.state
        state.phase = .refreshing(Lease(generation: Generation(1), startedAt: Sample.moment(0)))
        try store.commit([StateWrite(account: id, base: Generation(1), state: state, learnedEncoding: .raw)])
        #expect(try store.record(id)?.state.phase == state.phase)
        #expect(try store.record(id)?.account.basicCredentialEncoding == .raw)
        var account = before.account
        account.registration.clientID = "another"
        try store.update(account)
        #expect(try store.record(id)?.account.registration.clientID == "another")
        #expect(throws: StoreError.self) {
            try store.commit([
                StateWrite(account: id, base: Generation(0), state: RefreshState(generation: Generation(0)))
            ])
        }
        #expect(try store.record(id)?.state.phase == state.phase)
        try store.remove(id)
        #expect(try store.record(id) == nil)
    }

    @Test func `an answer without a refresh token leaves the spent one in place`() throws {
        let tokens = StoredTokens(accessToken: Sample.accessToken("access"))
        let state = RefreshState(generation: Generation(1), phase: .scheduled, deadline: Sample.start)
        try store.commit([StateWrite(account: id, base: Generation(1), state: state, tokens: .store(tokens))])
        #expect(try token(1) == "a-1")
        #expect(try store.tokens.accessToken(of: id)?.secret.reveal() == "access")
    }

    @Test func `an answer for the previous generation restores that token`() throws {
        try store.commit([rotation(from: 1)])
        let state = RefreshState(generation: Generation(1), phase: .scheduled, deadline: Sample.start)
        let tokens = StoredTokens(accessToken: Sample.accessToken("access"))
        try store.commit([StateWrite(account: id, base: Generation(2), state: state, tokens: .store(tokens))])
        #expect(try (token(1), token(2)) == ("a-1", nil))
    }

    @Test func `an ID token survives a refresh but not a new grant`() throws {
        try store.commit([rotation(from: 1)])
        try store.commit([rotation(from: 2)])
        #expect(try store.tokens.idToken(of: id)?.reveal() == "id")
        let grant = StoredTokens(refreshToken: Sample.refreshToken("imported"))
        let state = RefreshState(generation: Generation(4), phase: .scheduled, deadline: Sample.start)
        try store.commit([
            StateWrite(account: id, base: Generation(3), state: state, tokens: .replace(grant, GrantFacts()))
        ])
        #expect(try store.tokens.idToken(of: id) == nil)
        #expect(try store.tokens.accessToken(of: id) == nil)
        #expect(try (token(3), token(4)) == (nil, "imported"))
    }

    @Test func `a sign-in replaces tokens and facts, and an import forgets the facts`() throws {
        try store.commit([rotation(from: 1)])
        let facts = GrantFacts(
            subject: "alice",
            person: PersonNames(username: "a", email: "alice@example.org", fullName: "Alice", tenant: "t"),
            consent: .needed,
            keptFields: ["instance_url": "https://eu1.example/"]
        )
        let tokens = StoredTokens(
            accessToken: Sample.accessToken("new"),
            refreshToken: Sample.refreshToken("r"),
            idToken: Secret("i")
        )
        var state = RefreshState(generation: Generation(3), phase: .scheduled, deadline: Sample.start)
        let write = StateWrite(account: id, base: Generation(2), state: state, tokens: .replace(tokens, facts))
        try store.commit([write])
        #expect(try store.record(id)?.account.grantFacts == facts)
        #expect(try (token(2), token(3)) == (nil, "r"))
        #expect(try store.tokens.accessToken(of: id) == Sample.accessToken("new"))
        #expect(try store.tokens.idToken(of: id) == Secret("i"))
        state.generation = Generation(4)
        let grant = TokenWrite.replace(StoredTokens(refreshToken: Sample.refreshToken("imported")), GrantFacts())
        try store.commit([StateWrite(account: id, base: Generation(3), state: state, tokens: grant)])
        #expect(try store.record(id)?.account.grantFacts == GrantFacts())
        #expect(try store.tokens.idToken(of: id) == nil)
    }

    @Test func `the scope from an answer is stored in addition to the sign-in's facts`() throws {
        var facts = GrantFacts(subject: "alice", keptFields: ["realmId": "7"])
        let tokens = StoredTokens(refreshToken: Sample.refreshToken("r"))
        let state = RefreshState(generation: Generation(2), phase: .scheduled, deadline: Sample.start)
        try store.commit([
            StateWrite(account: id, base: Generation(1), state: state, tokens: .replace(tokens, facts))
        ])
        for scope in [
            GrantedScope(granted: ["files", "mail"]),
            GrantedScope(granted: ["files", "mail"], missing: ["files"], request: .named),
            GrantedScope(granted: ["files", "mail"], missing: ["files"], request: .refused),
        ] {
            facts.scope = scope
            try store.commit([StateWrite(account: id, base: Generation(2), state: state, grantFacts: facts)])
            #expect(try store.record(id)?.account.grantFacts == facts)
        }
    }

    private func isCopied(_ token: String) throws -> Bool {
        try store.tokens.isCopied(Sample.refreshToken(token), of: id)
    }

    @Test func `a token that was imported or exported is known as long as its grant`() throws {
        let imported = Sample.refreshToken("imported")
        let state = { RefreshState(generation: Generation($0), phase: .scheduled, deadline: Sample.start) }
        let successor = StoredTokens(refreshToken: Sample.refreshToken("successor"), imported: imported)
        for (base, tokens) in [(1, StoredTokens(refreshToken: imported, imported: imported)), (2, successor)] {
            let write = TokenWrite.replace(tokens, GrantFacts())
            try store.commit([
                StateWrite(account: id, base: Generation(Int64(base)), state: state(Int64(base + 1)), tokens: write)
            ])
            #expect(try isCopied("imported"))
        }
        #expect(try !isCopied("successor"))
        try store.tokens.noteExport(of: Sample.refreshToken("successor"), of: id, generation: Generation(3))
        for base in 3...6 { try store.commit([rotation(from: Int64(base))]) }
        #expect(try isCopied("imported") && isCopied("successor"))
        #expect(try !isCopied("a-4"))
        // A damaged digest does not keep anybody from importing a grant.
        try store.connection.write { db in
            try db.execute(sql: "UPDATE token SET sealed = zeroblob(60) WHERE kind = 'copied' AND generation = 3")
        }
        #expect(try isCopied("imported") && !isCopied("successor"))
        let next = TokenWrite.replace(StoredTokens(refreshToken: Sample.refreshToken("next")), GrantFacts())
        try store.commit([StateWrite(account: id, base: Generation(7), state: state(8), tokens: next)])
        #expect(try !isCopied("imported"))
    }

    @Test func `the digests of exported tokens are limited to the last ones`() throws {
        for number in 1...TokenTable.copiedMax + 1 {
            let generation = Generation(Int64(number))
            try store.tokens.noteExport(of: Sample.refreshToken("t\(number)"), of: id, generation: generation)
        }
        #expect(try !isCopied("t1") && isCopied("t2") && isCopied("t\(TokenTable.copiedMax + 1)"))
    }

    @Test func `a grant without a refresh token is stored as such`() throws {
        let tokens = StoredTokens(accessToken: Sample.accessToken("only"))
        var state = RefreshState(generation: Generation(2), phase: .scheduled, deadline: Sample.start)
        let write = {
            StateWrite(account: id, base: Generation(1), state: state, tokens: .replace(tokens, GrantFacts()))
        }
        #expect(throws: StoreError.refreshTokenMissing(id, Generation(2))) { try store.commit([write()]) }
        state.isRefreshable = false
        try store.commit([write()])
        #expect(try store.record(id)?.state == state)
        #expect(try (token(1), token(2)) == (nil, nil))
    }

    @Test func `erasing leaves no token of any kind`() throws {
        try store.commit([rotation(from: 1)])
        let state = RefreshState(generation: Generation(3))
        try store.commit([StateWrite(account: id, base: Generation(2), state: state, tokens: .erase)])
        #expect(try (token(1), token(2)) == (nil, nil))
        #expect(try store.tokens.accessToken(of: id) == nil)
        #expect(try store.tokens.idToken(of: id) == nil)
        #expect(try store.record(id)?.state == state)
    }

    @Test func `a write decided on an older generation is refused with its whole batch`() throws {
        let other = try store.add(Sample.scheduled("b", due: 5)).account.id
        try store.commit([rotation(from: 1)])
        let before = try store.record(other)?.state
        let refusal = StoreError.staleGeneration(id, stored: Generation(2), base: Generation(1))
        let fine = StateWrite(account: other, base: Generation(1), state: RefreshState(generation: Generation(1)))
        #expect(throws: refusal) { try store.commit([fine, rotation(from: 1)]) }
        #expect(try store.record(other)?.state == before)
        #expect(try token(2) == "a-2")
    }

    @Test func `a generation without its refresh token is refused`() throws {
        let state = RefreshState(generation: Generation(2), phase: .scheduled, deadline: Sample.start)
        #expect(throws: StoreError.refreshTokenMissing(id, Generation(2))) {
            try store.commit([StateWrite(account: id, base: Generation(1), state: state)])
        }
        #expect(try token(1) == "a-1")
    }

    @Test func `a write for an account that is gone is refused`() throws {
        let gone = AccountID(4711)
        #expect(throws: StoreError.noSuchAccount(gone)) {
            try store.commit([StateWrite(account: gone, base: Generation(0), state: RefreshState())])
        }
    }

    @Test func `a learned encoding is stored, and later writes keep it`() throws {
        var write = rotation(from: 1)
        write.learnedEncoding = .raw
        try store.commit([write])
        try store.commit([rotation(from: 2)])
        #expect(try store.record(id)?.account.basicCredentialEncoding == .raw)
    }
}
