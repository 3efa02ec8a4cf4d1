import AccountStorage
@testable import RefreshCore
import Testing

@testable import authrefreshd

/// The map of the tokens that every caller may have, alone.
struct TokenMapTests {
    private let map = TokenMap()
    private static let start = Moment(
        wall: Timestamp(microseconds: 1_800_000_000_000_000),
        boot: BootTime(bootID: 1, microseconds: 1_000_000_000)
    )
    /// A token for an hour, due after forty minutes.
    private static let times = AccessTokenTimes(
        issuedAt: start,
        lifetime: .seconds(3600),
        refreshAfter: .seconds(2400)
    )

    private func account(_ name: String, number: Int64 = 1) throws -> Account {
        Account(
            id: AccountID(number),
            name: try #require(AccountName(name)),
            issuer: try Issuer(url: "https://as.example.org"),
            registration: ClientRegistration(clientID: "app")
        )
    }

    private func entry(
        _ name: String,
        number: Int64 = 1,
        token: Secret = Secret("token"),
        signOut: RefreshTokenTimes? = nil,
        at now: Moment = start
    ) throws -> TokenMap.Entry? {
        let state = RefreshState(phase: .scheduled, accessToken: Self.times, signOut: signOut)
        return TokenMap.Entry(try account(name, number: number), state, AccessToken(token), at: now)
    }

    private func put(
        _ name: String,
        number: Int64 = 1,
        token: Secret = Secret("token"),
        signOut: RefreshTokenTimes? = nil,
        at now: Moment = start,
        isUsed: Bool = false
    ) throws {
        let entry = try entry(name, number: number, token: token, signOut: signOut, at: now)
        map.put(try #require(entry), isUsed: isUsed)
    }

    private func has(_ name: String, at now: Moment = start) -> Bool { map.find(name, at: now) != nil }

    // MARK: Names

    @Test func `a token is found by the bytes of its account's name`() throws {
        try put("worK")
        #expect(has("worK"))
        #expect(!has("work") && !has("wor"))
        // In Swift, the sign for Kelvin equals K.
        #expect("wor\u{212A}" == "worK" && !has("wor\u{212A}"))
    }

    @Test func `an account has one entry, under its present name`() throws {
        try put("a", token: Secret("first"))
        try put("b", token: Secret("second"))
        #expect(!has("a") && map.find("b", at: Self.start)?.entry.token.secret == Secret("second"))
        try put("b", number: 2, token: Secret("third"))
        #expect(map.size.entries == 1 && map.find("b", at: Self.start)?.entry.account == AccountID(2))
        map.takeOut(AccountID(1))
        #expect(has("b"))
        map.takeOut(AccountID(2))
        #expect(!has("b") && map.size == (0, 0))
    }

    // MARK: Who

    @Test func `a list of callers, a question, a parked or a derived grant are for the coordinator`() throws {
        let state = RefreshState(phase: .scheduled, accessToken: Self.times)
        func isForAll(_ state: RefreshState, _ change: (inout Account) -> Void) throws -> Bool {
            var account = try account("work")
            change(&account)
            return TokenMap.Entry(account, state, AccessToken(Secret("t")), at: Self.start) != nil
        }
        #expect(try isForAll(state) { _ in })
        #expect(try isForAll(state) { $0.registration.serviceGrant = .clientCredentials })
        #expect(
            try !isForAll(state) { $0.allowedCallers = AllowedCallers(units: ["mail.service"], executables: []) }
        )
        #expect(
            try !isForAll(state) { $0.allowedCallers = AllowedCallers(units: [], executables: [], asksFirst: true) }
        )
        let source = SourceToken(account: try account("source").name, id: AccountID(9), type: .accessToken)
        let derived = ServiceGrant.tokenExchange(ExchangeTerms(subject: source))
        #expect(try !isForAll(state) { $0.registration.serviceGrant = derived })
        #expect(try !isForAll(RefreshState(phase: .parked(.moved), accessToken: Self.times)) { _ in })
        #expect(try !isForAll(RefreshState(phase: .scheduled)) { _ in })
    }

    // MARK: Until when

    @Test func `a token is found until it has expired by one of the clocks`() throws {
        try put("work")
        #expect(has("work", at: Self.start.later(.seconds(3599))))
        #expect(!has("work", at: Self.start.later(.seconds(3600))))
        var wall = Self.start.later(.milliseconds(3_599_500))
        wall.wall = wall.wall + .milliseconds(600)
        #expect(!has("work", at: wall))
    }

    @Test func `a token is found until the account signs out`() throws {
        try put("work", signOut: RefreshTokenTimes(issuedAt: Self.start, lifetime: .seconds(8)))
        #expect(has("work", at: Self.start.later(.seconds(7))))
        #expect(!has("work", at: Self.start.later(.seconds(8))))
        let over = RefreshTokenTimes(issuedAt: Self.start, lifetime: .seconds(8))
        #expect(try entry("work", signOut: over, at: Self.start.later(.seconds(8))) == nil)
    }

    @Test func `if the clocks contradict each other, the coordinator answers`() throws {
        try put("work")
        for step in [Duration.seconds(2), .seconds(-2), .seconds(86_400), .seconds(-86_400)] {
            var now = Self.start.later(.seconds(10))
            now.wall = now.wall + step
            #expect(!has("work", at: now), "\(step)")
        }
        var rebooted = Self.start.later(.seconds(10))
        rebooted.boot.bootID = 2
        #expect(!has("work", at: rebooted))
        #expect(has("work", at: Self.start.later(.seconds(10))))
        // After the coordinator has looked at the new time, the entry counts from there.
        var stepped = Self.start.later(.seconds(10))
        stepped.wall = stepped.wall + .seconds(600)
        try put("work", at: stepped)
        #expect(has("work", at: stepped.later(.seconds(2989))))
        #expect(!has("work", at: stepped.later(.seconds(2990))))
    }

    @Test func `a token that is due is found, and wakes the coordinator once`() throws {
        try put("work")
        #expect(map.find("work", at: Self.start.later(.seconds(2399)))?.isNewlyDue == false)
        #expect(map.find("work", at: Self.start.later(.seconds(2400)))?.isNewlyDue == true)
        #expect(map.find("work", at: Self.start.later(.seconds(2401)))?.isNewlyDue == false)
    }

    // MARK: How many

    private struct Held {
        weak var secret: Secret?
    }

    @Test func `tokens take at most their limit, and those that have to leave are erased`() throws {
        // The limit `tokenMapBytesMax`.
        var held: [Held] = []
        for number in 1...3_000 {
            let secret = Secret(repeatElement(UInt8(ascii: "x"), count: 1_000))
            held.append(Held(secret: secret))
            try put("a\(number)", number: Int64(number), token: secret)
            #expect(map.size.bytes <= TokenMap.bytesMax)
        }
        #expect(map.size.entries == TokenMap.bytesMax / 1_000)
        #expect(held.count { $0.secret != nil } == map.size.entries)
        #expect(has("a3000"))
    }

    @Test func `short tokens count as much as their entries take`() throws {
        for number in 1...20_000 { try put("a\(number)", number: Int64(number), token: Secret("x")) }
        #expect(map.size.entries == TokenMap.bytesMax / TokenMap.leastBytes)
    }

    @Test func `a token that somebody uses stays, however many come`() throws {
        try put("used", number: 10_000, isUsed: true)
        for number in 1...9_000 {
            try put("a\(number)", number: Int64(number), token: Secret(repeatElement(1, count: 1_000)))
            #expect(has("used"))
        }
        #expect(!has("a1"))
    }

    @Test func `a token that is larger than the map is not in it`() throws {
        try put("work")
        try put("work", token: Secret(repeatElement(1, count: TokenMap.bytesMax + 1)))
        #expect(!has("work") && map.size == (0, 0))
    }

    @Test func `a token is erased when it is taken out`() throws {
        weak var held: Secret?
        do {
            let secret = Secret("token")
            held = secret
            try put("work", token: secret)
        }
        #expect(held != nil)
        map.takeOut(AccountID(1), unless: { $0.token.secret == Secret("token") })
        #expect(held != nil)
        map.takeOut(AccountID(1))
        #expect(held == nil)
    }
}

extension Moment {
    /// This moment, later by `duration`.
    func later(_ duration: Duration) -> Moment {
        let boot = BootTime(bootID: boot.bootID, microseconds: boot.microseconds + duration.microseconds)
        return Moment(wall: wall + duration, boot: boot)
    }
}
