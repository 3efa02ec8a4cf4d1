import AccountStorage
import Foundation
import OAuthClient
@testable import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// The scheduler alone, with a real store: without a queue or a server, and only with the callers that a test names.
struct SchedulerTests {
    private let folder: TemporaryFolder
    private let store: AccountStore
    private let records: AccountRecords
    private let scheduler: Scheduler
    private let now = Moment(
        wall: Timestamp(microseconds: 1_800_000_000_000_000),
        boot: BootTime(bootID: 1, microseconds: 1_000_000_000)
    )

    init() throws {
        folder = try TemporaryFolder()
        store = try StoreKeyring.onFiles(in: folder.path).openStore(at: folder.path + "/accounts.sqlite")
        records = AccountRecords(store: store)
        let now = now
        scheduler = Scheduler(store: store, records: records, timebase: Timebase(now: { now }, jitter: { 0.5 }))
    }

    /// Adds an account whose grant is due at once.
    private func add(
        _ name: String,
        at issuer: String = "https://login.example.com",
        hasWorked: Bool = false
    ) throws -> AccountID {
        var machine = RefreshMachine(state: RefreshState(), policy: RefreshPolicy())
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: nil)), at: now, jitter: 0.5)
        var new = NewAccount(
            Account(
                name: try #require(AccountName(name)),
                issuer: try Issuer(url: issuer),
                registration: ClientRegistration(clientID: "app")
            ),
            createdAt: now.wall
        )
        new.state = machine.state
        new.state.hasWorked = hasWorked
        new.tokens = StoredTokens(refreshToken: RefreshToken(Secret("\(name)-refresh")))
        return try store.add(new).account.id
    }

    private func turn(_ conditions: Scheduler.Conditions = Scheduler.Conditions()) throws -> [AccountID] {
        var callers = Callers()
        return try turn(for: &callers, conditions).map(\.account)
    }

    private func turn(
        for callers: inout Callers,
        _ conditions: Scheduler.Conditions = Scheduler.Conditions()
    ) throws -> [QueuedEvent] {
        var turn = scheduler.takeArrivals()
        try scheduler.takeDue(into: &turn, for: &callers, conditions, at: now)
        return turn.arrivals
    }

    private func plan(
        _ arrivals: [QueuedEvent],
        perIssuer: Int = 8,
        _ conditions: Scheduler.Conditions = Scheduler.Conditions()
    ) throws -> Scheduler.Plan {
        var callers = Callers()
        return try plan(arrivals, for: &callers, perIssuer: perIssuer, conditions)
    }

    private func plan(
        _ arrivals: [QueuedEvent],
        for callers: inout Callers,
        perIssuer: Int = 8,
        _ conditions: Scheduler.Conditions = Scheduler.Conditions()
    ) throws -> Scheduler.Plan {
        var settings = RefreshConfiguration()
        settings.issuerLimits = IssuerGate.Limits(concurrent: perIssuer, perSecond: 1000)
        return try scheduler.plan(arrivals, for: &callers, &settings, conditions, at: now)
    }

    /// Adds a caller that waits for a token.
    private func ask(_ callers: inout Callers, for event: Event, of account: AccountID) -> Int {
        let purpose = Waiter.Purpose.token(minimumValidity: nil, isForced: false)
        return callers.add(purpose, of: account, after: event, holding: nil, at: now) { _ in }
    }

    /// Begins the requests of a plan. Returns their places, in order.
    @discardableResult
    private func send(_ plan: Scheduler.Plan) throws -> [IssuerGate.Place] {
        try scheduler.commit(plan, afterTrouble: false).committed.filter(\.sends).map { decision in
            let lease = Lease(generation: decision.record.state.generation, startedAt: now)
            let name = decision.record.account.name.text
            scheduler.begin(PendingRequest(lease: lease, correlationID: name), of: decision.record.account.id)
            return scheduler.enter(decision.record, nil, limits: IssuerGate.Limits(), at: now)
        }
    }

    private func due(_ accounts: [AccountID]) -> [QueuedEvent] {
        accounts.map { QueuedEvent(account: $0, event: .host(.deadlineReached)) }
    }

    /// The server's answer to the lease of a decision.
    private func answer(_ decision: AccountTransition) throws -> QueuedEvent {
        guard case .refreshing(let lease) = decision.record.state.phase else { throw TestFault.unreadable("a lease") }
        return QueuedEvent(
            account: decision.record.account.id,
            event: .answer(.tokensIssued(lease.generation, Issuance(lifetime: .seconds(3600), isRotated: true))),
            tokens: StoredTokens(
                accessToken: AccessToken(Secret("access"), type: "Bearer"),
                refreshToken: RefreshToken(Secret("rotated"))
            )
        )
    }

    @Test func `due accounts are leased in the store before anything is sent, and are then not due`() throws {
        let id = try add("work")
        #expect(try turn() == [id])
        let plan = try plan(due([id]))
        #expect(plan.decisions.map(\.sends) == [true])
        #expect(try turn() == [id])
        let outcome = try scheduler.commit(plan, afterTrouble: false)
        #expect(outcome.committed.count == 1 && outcome.refused.isEmpty)
        #expect(try store.schedule.leased(limit: 10) == [id])
        #expect(try turn() == [])
    }

    @Test func `a closed gate leaves the others due, and the end of a request opens it`() throws {
        let ids = [try add("one"), try add("two")]
        let first = try plan(due(ids), perIssuer: 1)
        #expect(first.decisions.map(\.record.account.id) == [ids[0]] && first.held.isEmpty)
        let record = try #require(first.decisions.first?.record)
        let lease = Lease(generation: record.state.generation, startedAt: now)
        let place = try #require(try send(first).first)
        #expect(try turn() == [])
        #expect(scheduler.end(lease, of: record, Self.unreachable, at: place, "one", now: now) != nil)
        #expect(try turn() == [ids[1]])
    }

    @Test func `if nothing can be sent, callers learn why; before a sleep they wait`() throws {
        let id = try add("work")
        var callers = Callers()
        _ = ask(&callers, for: .demand(.tokenNeeded), of: id)
        let asked = [QueuedEvent(account: id, event: .demand(.tokenNeeded))]
        let full = StoreOutage(error: .diskFull(path: "/"), since: now)
        for (conditions, expected) in [
            (Scheduler.Conditions(trouble: full), "storeFailed"), (Scheduler.Conditions(isStopping: true), "stopping"),
            (Scheduler.Conditions(isOnline: false), "notNow"),
        ] {
            let plan = try plan(asked, for: &callers, conditions)
            #expect(plan.decisions.isEmpty && plan.held.count == 1)
            let held = try #require(plan.held.first)
            let snapshot = AccountSnapshot(account: held.account, state: held.state, at: now)
            #expect("\(conditions.refusal(of: snapshot))".hasPrefix(expected))
        }
        let asleep = Scheduler.Conditions(timeToSleep: .seconds(3))
        let sleeping = try plan(try turn(for: &callers, asleep), for: &callers, asleep)
        #expect(sleeping.decisions.isEmpty && sleeping.held.isEmpty)
        #expect(try turn(for: &callers, asleep).isEmpty)
        #expect(try turn(for: &callers).first?.event == .demand(.tokenNeeded))
    }

    /// Adds an account whose time is over, and one that is derived from it.
    private func addSigningOut() throws -> (source: AccountID, derived: AccountID) {
        let issuer = try Issuer(url: "https://login.example.com")
        let name = try #require(AccountName("work"))
        let registration = ClientRegistration(clientID: "app")
        var new = NewAccount(Account(name: name, issuer: issuer, registration: registration), createdAt: now.wall)
        let before = Moment(
            wall: now.wall - .seconds(60),
            boot: BootTime(bootID: now.boot.bootID, microseconds: now.boot.microseconds - 60_000_000)
        )
        let token = AccessTokenTimes(issuedAt: before, lifetime: .seconds(3600), refreshAfter: .seconds(2400))
        new.state = RefreshState(
            phase: .scheduled,
            deadline: now.wall + .seconds(2340),
            accessToken: token,
            signOut: RefreshTokenTimes(issuedAt: before, lifetime: .seconds(60), isExtendedByUse: false)
        )
        new.tokens = StoredTokens(refreshToken: RefreshToken(Secret("refresh")))
        let source = try store.add(new).account.id
        var exchanging = registration
        let terms = ExchangeTerms(subject: SourceToken(account: name, id: source))
        exchanging.serviceGrant = .tokenExchange(terms)
        let other = try #require(AccountName("wiki"))
        var derived = NewAccount(Account(name: other, issuer: issuer, registration: exchanging), createdAt: now.wall)
        derived.state = RefreshState(phase: .scheduled, deadline: new.state.deadline, accessToken: token)
        derived.tokens = StoredTokens(accessToken: AccessToken(Secret("access"), type: "Bearer"))
        return (source, try store.add(derived).account.id)
    }

    @Test func `a sign-out needs no network, no open gate and no wake machine, and comes first`() throws {
        let (source, _) = try addSigningOut()
        let other = try add("other")
        let asleep = Scheduler.Conditions(timeToSleep: .seconds(3), isOnline: false)
        #expect(try turn(asleep) == [source])
        let untrusted = Scheduler.Conditions(timeToTrustWall: .seconds(300))
        #expect(try turn(untrusted) == [source, other])
        #expect(try turn(Scheduler.Conditions(isStopping: true)) == [])
    }

    @Test func `derived accounts end together with their source, in one commit`() throws {
        let (source, derived) = try addSigningOut()
        let plan = try plan([QueuedEvent(account: source, event: .host(.signOutReached))], perIssuer: 0)
        #expect(plan.decisions.map(\.record.account.id) == [source, derived])
        #expect(plan.decisions.allSatisfy { $0.erasesTokens && !$0.sends })
        _ = try scheduler.commit(plan, afterTrouble: false)
        #expect(try store.record(source)?.state.phase == .signedOut)
        #expect(try store.record(derived)?.state.interaction?.reason == .sourceAccount)
        #expect(try store.tokens.accessToken(of: derived) == nil)
        #expect(try turn() == [])
    }

    @Test func `an arrival that nobody waits for any more is dropped`() throws {
        let id = try add("work")
        for event in [Event.demand(.tokenNeeded), .owner(.parked)] {
            #expect(try plan([QueuedEvent(account: id, event: event)]).decisions.isEmpty)
        }
        #expect(try plan([QueuedEvent(account: AccountID(99), event: .host(.deadlineReached))]).decisions.isEmpty)
    }

    @Test func `a request that waits at a closed gate is gone when the last of its callers has left`() throws {
        let id = try add("work")
        try send(try plan(due([try add("first")]), perIssuer: 1))
        var (callers, waiting) = (Callers(), [Int]())
        for number in 0..<3 {
            let target = try TokenTarget(audience: "https://api\(number / 2).example")
            waiting.append(ask(&callers, for: .demand(.targetNeeded(target)), of: id))
        }
        let refused = try plan(try turn(for: &callers), for: &callers, perIssuer: 1)
        #expect(refused.decisions.isEmpty)
        // Of the two callers of the first set, one leaves; of the second set, the only one.
        callers.forget(waiting[0], of: id)
        callers.forget(waiting[2], of: id)
        scheduler.forgetIdleGates(at: now)
        #expect(callers.targets(of: id) == [try TokenTarget(audience: "https://api0.example")])
        #expect(callers.takeReady { _, _ in true }.count == 1)
        callers.forget(waiting[1], of: id)
        #expect(callers.accounts.isEmpty && callers.takeReady { _, _ in true }.isEmpty)
    }

    @Test func `the wish that came first goes through the gate first, before accounts that are only due`() throws {
        let ids = [try add("one"), try add("two"), try add("three")]
        let first = try add("first")
        let places = try send(try plan(due([first]), perIssuer: 1))
        var callers = Callers()
        for id in [ids[1], ids[0]] { _ = ask(&callers, for: .demand(.tokenNeeded), of: id) }
        #expect(try plan(try turn(for: &callers), for: &callers, perIssuer: 1).decisions.isEmpty)
        // A later caller finds the open gate at the same time.
        let record = try #require(try store.record(first))
        let lease = Lease(generation: record.state.generation, startedAt: now)
        _ = scheduler.end(lease, of: record, Self.unreachable, at: places[0], "first", now: now)
        _ = ask(&callers, for: .demand(.tokenNeeded), of: ids[2])
        let next = try plan(try turn(for: &callers), for: &callers, perIssuer: 1)
        #expect(next.decisions.map(\.record.account.id) == [ids[1]])
    }

    private static let unreachable = RefreshOutcome(
        result: .failure(RefreshFailure(.unreachable, detail: FailureDetail(summary: "no route")))
    )

    @Test func `requestsMax requests are under way, and accounts that have worked have the last quarter`() throws {
        let (most, quarter) = (IssuerGates.requestsMax, IssuerGates.requestsMax / 4)
        let new = try (0..<most).map { try add("new\($0)", at: "https://\($0).example") }
        let begun = try plan(due(new))
        #expect(begun.decisions.count == most - quarter)
        try send(begun)
        let worked = try (0...quarter).map {
            try add("worked\($0)", at: "https://\($0).worked.example", hasWorked: true)
        }
        let served = try plan(due(worked))
        #expect(served.decisions.map(\.record.account.id) == worked.dropLast())
        try send(served)
        // The next begins when one has ended. Until then, all that are due stay in the store.
        _ = try add("late", at: "https://late.example", hasWorked: true)
        #expect(try turn() == [])
        #expect(try plan(due([worked[quarter]])).decisions.isEmpty)
        let deadline = try scheduler.nextDeadline(for: Callers(), Scheduler.Conditions(), at: now)
        #expect(deadline == now.wall + Lease.duration)
    }

    @Test func `an answer that cannot be stored is kept, visible to readers, and stored with the next commit`() throws {
        let id = try add("work")
        let sent = try plan(due([id]))
        _ = try scheduler.commit(sent, afterTrouble: false)
        let answered = try plan([try answer(try #require(sent.decisions.first))])
        let (path, aside) = (store.path, store.path + ".away")
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        #expect(throws: StoreError.self) { _ = try scheduler.commit(answered, afterTrouble: false) }
        scheduler.keepAnswers(of: answered)
        #expect(records.unstored.count == 1)
        #expect(try records.accessToken(of: id)?.secret.reveal() == "access")
        try FileManager.default.moveItem(atPath: aside, toPath: path)
        #expect(try scheduler.commit(try plan([]), afterTrouble: true).committed.count == 1)
        #expect(records.areStored)
        #expect(try store.tokens.accessToken(of: id)?.secret.reveal() == "access")
    }

    @Test func `a second answer that cannot be stored does not replace the first, with its refresh token`() throws {
        let id = try add("work")
        let sent = try plan(due([id]))
        _ = try scheduler.commit(sent, afterTrouble: false)
        // The refresh has brought another refresh token, and a sign-in meanwhile only an access token.
        let refreshed = try plan([try answer(try #require(sent.decisions.first))])
        scheduler.keepAnswers(of: refreshed)
        let signedIn = QueuedEvent(
            account: id,
            event: .grant(.accessTokenObtained(Issuance(lifetime: .seconds(3600)), sentAt: now)),
            tokens: StoredTokens(accessToken: AccessToken(Secret("second"), type: "Bearer"))
        )
        scheduler.keepAnswers(of: try plan([signedIn]))
        #expect(records.unstored.count == 2)
        let record = try #require(try records.record(of: id))
        let snapshot = AccountSnapshot(account: record.account, state: record.state, at: now)
        #expect(try records.refreshToken(of: snapshot)?.secret.reveal() == "rotated")
        #expect(try records.accessToken(of: id)?.secret.reveal() == "second")

        let outcome = try scheduler.commit(try plan([]), afterTrouble: true)
        #expect(outcome.committed.count == 2 && outcome.refused.isEmpty && records.areStored)
        let generation = record.state.generation
        #expect(try store.tokens.refreshToken(of: id, generation: generation)?.secret.reveal() == "rotated")
        #expect(try store.tokens.accessToken(of: id)?.secret.reveal() == "second")
    }

    @Test func `a decision that contradicts the store is left out of the commit, and the others are not`() throws {
        let ids = [try add("one"), try add("two")]
        let plan = try plan(due(ids))
        try store.remove(ids[0])
        let outcome = try scheduler.commit(plan, afterTrouble: false)
        #expect(outcome.committed.map(\.record.account.id) == [ids[1]])
        #expect(outcome.refused.map(\.record.account.id) == [ids[0]] && outcome.causes[ids[0]] != nil)
    }
}
