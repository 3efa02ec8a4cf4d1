@testable import RefreshCore
import Testing

@testable import AccountStorage

struct AccountStoreTests {
    private let folder: TemporaryFolder
    private let store: AccountStore

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    @Test func `a person's accounts at an issuer are found, and nobody else's`() throws {
        for (name, subject, issuer) in [
            ("a", "alice", Sample.issuerURL), ("b", "bob", Sample.issuerURL), ("c", "alice", Sample.loopbackURL),
            ("d", "alice", Sample.issuerURL),
        ] {
            var account = try Sample.account(name, issuer: issuer)
            account.grantFacts.subject = subject
            _ = try store.add(account)
        }
        let find = { (subject: String, limit: Int) in
            try store.accounts(ofPerson: subject, at: Issuer(url: Sample.issuerURL), limit: limit).map(\.name.text)
        }
        #expect(try find("alice", 10) == ["a", "d"])
        #expect(try find("alice", 1) == ["a"])
        #expect(try find("Alice", 10) == [])
    }

    @Test func `every field of an account survives a reopening`() throws {
        let new = NewAccount(
            Account(
                name: try Sample.name("work@example.com"),
                issuer: try Issuer(url: Sample.issuerURL),
                provider: "entra",
                registration: ClientRegistration(
                    clientID: "client ü",
                    authentication: .clientSecretPost,
                    clientSecret: Secret("the client's secret"),
                    scopes: ["openid", "https://example.com/.default", "offline_access"],
                    refreshParameters: ["resource": "https://example.com/a b", "ä": "\"\n/"]
                ),
                policy: RefreshPolicy(
                    leadTime: .seconds(30),
                    rotationGrace: .seconds(2),
                    refreshTokenLifetime: .seconds(86_400),
                    forgetAfter: .seconds(28_800)
                ),
                delivery: Delivery(
                    urls: ["https://git.example/team"],
                    username: "oauth2",
                    file: TokenFile(name: "work", kind: .bearerHeader)
                )
            ),
            createdAt: Sample.start
        )
        let added = try store.add(new)
        try store.close()

        let read = try #require(try folder.open().record(named: new.name))
        #expect(read == added)
        #expect(read.account.issuer == new.issuer)
        #expect(read.account.provider == "entra")
        #expect(read.account.registration == new.registration)
        #expect(read.account.policy == new.policy)
        #expect(read.account.delivery == new.delivery)
        #expect(read.createdAt == Sample.start)
        #expect(read.state == RefreshState())
    }

    @Test(arguments: StateSamples.all)
    func `every phase and every optional field survives a reopening`(state: RefreshState) throws {
        let tokens = StoredTokens(refreshToken: Sample.refreshToken("r"))
        let id = try store.add(Sample.account("a", state: state, tokens: tokens)).account.id
        try store.commit([StateWrite(account: id, base: state.generation, state: state)])
        try store.close()
        #expect(try folder.open().record(id)?.state == state)
    }

    @Test func `a name is unique`() throws {
        let first = try store.add(Sample.account("a")).account
        let second = try store.add(Sample.account("b")).account
        let taken = StoreError.nameTaken(first.name)
        #expect(throws: taken) { try store.add(Sample.account("a")) }
        #expect(throws: taken) { try store.rename(second.id, to: first.name) }
        var renamed = second
        renamed.name = first.name
        #expect(throws: taken) { try store.update(renamed) }
        #expect(throws: taken) { try store.add([Sample.account("c"), Sample.account("a")]) }
        #expect(try store.counts().total == 2)
    }

    @Test func `a rename keeps the number and the sealed secrets`() throws {
        var new = try Sample.scheduled("a", due: 1)
        new.registration.clientSecret = Secret("s")
        let id = try store.add(new).account.id
        try store.rename(id, to: Sample.name("b"))
        #expect(try store.record(named: Sample.name("a")) == nil)
        #expect(try store.record(named: Sample.name("b"))?.account.registration.clientSecret == Secret("s"))
        #expect(try store.entry(named: "b")?.id == id)
        #expect(try store.tokens.refreshToken(of: id, generation: Generation(1)) == Sample.refreshToken("a-1"))
    }

    @Test func `a derived account names its sources, which a rename follows`() throws {
        let (work, agent) = (
            try store.add(Sample.account("work")).account, try store.add(Sample.account("agent")).account
        )
        var new = try Sample.account("derived")
        var terms = ExchangeTerms(
            subject: SourceToken(account: work.name, id: work.id, type: .idToken),
            actor: SourceToken(account: agent.name, id: agent.id),
            requestedType: TokenTypeIdentifier.jwt.rawValue
        )
        terms.deriver = SeenProgram(unit: "a.service", executable: "/usr/bin/a")
        new.registration.serviceGrant = .tokenExchange(terms)
        let id = try store.add(new).account.id
        #expect(try store.record(id)?.account.registration == new.registration)
        #expect(try store.derived(from: work.id, limit: 9) == [id])
        try store.rename(work.id, to: Sample.name("job"))
        try store.rename(agent.id, to: Sample.name("robot"))
        let exchange = try #require(try store.record(id)?.account.registration.serviceGrant?.exchange)
        #expect(exchange.subject == SourceToken(account: try Sample.name("job"), id: work.id, type: .idToken))
        #expect(exchange.actor?.account == (try Sample.name("robot")))
        #expect(exchange.requestedType == TokenTypeIdentifier.jwt.rawValue)
        #expect(try store.derived(from: agent.id, limit: 9) == [id])
    }

    @Test func `a new account under a removed source's name is not the source`() throws {
        let work = try store.add(Sample.account("work")).account
        var new = try Sample.account("derived")
        new.registration.serviceGrant = .tokenExchange(
            ExchangeTerms(subject: SourceToken(account: work.name, id: work.id))
        )
        let id = try store.add(new).account.id
        try store.remove(work.id)
        let other = try store.add(Sample.account("work")).account
        let source = try #require(try store.record(id)?.account.registration.serviceGrant?.exchange).subject
        #expect(source.id == work.id && source.id != other.id)
        #expect(try store.derived(from: other.id, limit: 9) == [])
        try store.rename(other.id, to: Sample.name("job"))
        #expect(try store.record(id)?.account.registration.serviceGrant?.exchange?.subject == source)
    }

    @Test func `the terms of an assertion survive a reopening`() throws {
        var new = try Sample.account("robot")
        let terms = AssertionTerms(subject: "ann", audience: "https://a.example", lifetime: .seconds(600))
        new.registration.serviceGrant = .jwtBearer(terms)
        let id = try store.add(new).account.id
        try store.close()
        #expect(try folder.open().record(id)?.account.registration.serviceGrant == .jwtBearer(terms))
    }

    @Test func `an update replaces registration, policy and issuer`() throws {
        var account = try store.add(Sample.scheduled("a", due: 1)).account
        account.issuer = try Issuer(url: Sample.loopbackURL)
        account.registration.clientSecret = Secret("new")
        account.registration.scopes = ["x"]
        account.policy.leadTime = .seconds(9)
        account.allowedCallers = AllowedCallers(units: ["a.service"], executables: ["/usr/bin/a", "/b \u{1F600}"])
        account.basicCredentialEncoding = .raw
        try store.update(account)
        let record = try #require(try store.record(account.id))
        #expect(record.account == account)
        #expect(record.state.generation == Generation(1))
        #expect(try store.schedule.due(at: Sample.start + .seconds(1), online: false, limit: 9) == [account.id])
    }

    @Test func `removing an account removes its tokens, and its number is not reused`() throws {
        let id = try store.add(Sample.scheduled("a", due: 1)).account.id
        try store.remove(id)
        #expect(try store.record(id) == nil)
        #expect(try store.tokens.refreshToken(of: id, generation: Generation(1)) == nil)
        #expect(try store.add(Sample.account("a")).account.id > id)
        #expect(throws: StoreError.noSuchAccount(id)) { try store.remove(id) }
        #expect(throws: StoreError.noSuchAccount(id)) { try store.rename(id, to: Sample.name("z")) }
    }

    @Test func `pages follow the order of names`() throws {
        let names = ["b", "a", "Z", "c", "0"]
        _ = try store.add(names.map { try Sample.account($0) })
        var pages: [[String]] = []
        var last: String?
        while case let page = try store.entries(after: last, limit: 2), !page.isEmpty {
            pages.append(page.map(\.name))
            last = page.last?.name
        }
        #expect(pages == [["0", "Z"], ["a", "b"], ["c"]])
    }

    @Test func `counts follow every change of phase`() throws {
        let states = StateSamples.all
        let ids = try store.add(
            states.enumerated().map { index, state in
                try Sample.account(
                    "a\(index)",
                    state: state,
                    tokens: StoredTokens(refreshToken: Sample.refreshToken("r"))
                )
            }
        )
        #expect(try store.counts() == StateSamples.counts(of: states))
        for (index, id) in ids.enumerated() {
            let rotated = (states[index].generation, states[(index + 1) % states.count])
            var state = rotated.1
            state.generation = rotated.0
            try store.commit([StateWrite(account: id, base: rotated.0, state: state)])
        }
        #expect(try store.counts() == StateSamples.counts(of: states))
        for id in ids.dropFirst() { try store.remove(id) }
        #expect(try store.counts().total == 1)
    }

    @Test func `skew and clock offset are stored`() throws {
        let issuer = try store.add(Sample.account("a")).issuerID
        #expect(try store.skew(of: issuer) == nil)
        #expect(try store.clockOffset() == nil)
        let clock = ClockOffset(at: Sample.moment(5))
        try store.recordSkew(.seconds(-3), of: issuer)
        try store.recordClockOffset(clock)
        try store.close()
        let reopened = try folder.open()
        #expect(try reopened.skew(of: issuer) == .seconds(-3))
        #expect(try reopened.clockOffset() == clock)
        #expect(throws: StoreError.noSuchIssuer(IssuerID(99))) {
            try reopened.recordSkew(.zero, of: IssuerID(99))
        }
    }
}
