import AccountStorage
@testable import RefreshCore
import Testing
import Varlink

@testable import authrefreshd

/// The parts of the coordinator that hold data, each alone: without a daemon, a store or a server.
struct DutyTests {
    private let account = AccountID(7)

    private func at(_ seconds: Int64) -> Moment {
        Moment(
            wall: Timestamp(microseconds: 1_000_000_000_000 + seconds * 1_000_000),
            boot: BootTime(bootID: 1, microseconds: seconds * 1_000_000)
        )
    }

    private func lease(_ generation: Int64) -> Lease {
        Lease(generation: Generation(generation), startedAt: at(0))
    }

    private func pending(_ generation: Int64, _ correlationID: String, awaitsSource: Bool = false) -> PendingRequest {
        PendingRequest(
            lease: lease(generation),
            correlationID: correlationID,
            claims: nil,
            lastFailure: nil,
            awaitsSource: awaitsSource
        )
    }

    // MARK: Requests

    @Test func `a request is young until its time limit, overdue after it, and gone when it has ended`() {
        var requests = PendingRequests()
        requests.begin(pending(1, "a"), of: account)
        #expect(requests.anyAnswerIsNear && !requests.isOverdue(account))
        #expect(requests.passLimit("a") == true)
        #expect(!requests.anyAnswerIsNear && requests.isOverdue(account))
        #expect(requests.passLimit("a") == false)
        #expect(requests.end(lease(1), of: account, correlationID: "a") != nil)
        #expect(requests.isEmpty && !requests.isOverdue(account))
    }

    @Test func `the end of a request for a replaced grant does not affect the new one's request`() {
        var requests = PendingRequests()
        requests.begin(pending(1, "old"), of: account)
        requests.begin(pending(2, "new"), of: account)
        #expect(requests.end(lease(1), of: account, correlationID: "old") == nil)
        #expect(requests.holding(lease(2), of: account) != nil && requests.anyAnswerIsNear)
        #expect(requests.end(lease(2), of: account, correlationID: "new") != nil)
        #expect(requests.isEmpty && !requests.anyAnswerIsNear)
    }

    @Test func `a wait for another account's token is neither young nor overdue, and ends only by its own lease`() {
        var requests = PendingRequests()
        requests.begin(pending(1, "", awaitsSource: true), of: account)
        requests.begin(pending(1, "b"), of: AccountID(8))
        #expect(!requests.isOverdue(account))
        #expect(requests.endWaiting(lease(2), of: account) == false)
        #expect(requests.endWaiting(lease(1), of: AccountID(8)) == false)
        let ended = requests.endAllWaiting()
        #expect(ended.map(\.account) == [account])
        #expect(requests.endWaiting(lease(1), of: account) == false)
        #expect(requests.count == 1)
    }

    // MARK: Callers

    private func snapshot(_ state: RefreshState) throws -> AccountSnapshot {
        let account = Account(
            id: account,
            name: try #require(AccountName("work")),
            issuer: try Issuer(url: "https://login.example.com"),
            registration: ClientRegistration(clientID: "app")
        )
        return AccountSnapshot(account: account, state: state, at: at(0))
    }

    private func standing(_ state: RefreshState, after event: Event, isOverdue: Bool = false) throws -> Callers.Standing
    {
        Callers.Standing(
            snapshot: try snapshot(state),
            event: event,
            isOverdue: isOverdue,
            targets: [:]
        )
    }

    private func add(_ callers: inout Callers, after event: Event = .demand(.tokenNeeded), since: Int64 = 0) -> Int {
        let purpose = Waiter.Purpose.token(minimumValidity: nil, isForced: false)
        return callers.add(purpose, of: account, after: event, holding: nil, at: at(since)) { _ in }
    }

    @Test func `a gone caller is removed, and one that waits too long is released once`() {
        var callers = Callers()
        let gone = add(&callers)
        callers.forget(gone, of: account)
        #expect(!callers.isAwaited(account) && callers.remaining(at: at(0)) == nil)
        let late = add(&callers)
        _ = add(&callers, since: 30)
        #expect(callers.remaining(at: at(39)) == .seconds(1))
        #expect(callers.takeExpired(at: at(39)).count == 0)
        let expired = callers.takeExpired(at: at(40))
        #expect(expired.map(\.number) == [late])
        #expect(callers.takeExpired(at: at(40)).count == 0)
        #expect(callers.isAwaited(account))
    }

    @Test func `callers wait during a request, and are released when it is overdue`() throws {
        var callers = Callers()
        _ = add(&callers)
        let refreshing = RefreshState(phase: .refreshing(lease(1)))
        let waiting = try callers.settle(standing(refreshing, after: .demand(.tokenNeeded)))
        #expect(waiting.told.isEmpty && callers.isAwaited(account))
        let settled = try callers.settle(standing(refreshing, after: .demand(.tokenNeeded), isOverdue: true))
        guard case .notNow? = settled.told.first?.1 else {
            Issue.record("\(settled.told)")
            return
        }
        #expect(!callers.isAwaited(account))
    }

    @Test func `after another request one common request follows for all callers`()
        throws
    {
        var callers = Callers()
        let target = try TokenTarget(scopes: ["read"])
        for _ in 0..<3 { _ = add(&callers, after: .demand(.targetNeeded(target))) }
        #expect(decided(&callers) == [.demand(.targetNeeded(target))])
        let done = try callers.settle(standing(RefreshState(phase: .scheduled), after: .host(.deadlineReached)))
        #expect(done.told.isEmpty && done.haveMore)
        #expect(decided(&callers) == [.demand(.targetNeeded(target))] && decided(&callers).isEmpty)
        #expect(callers.targets(of: account) == [target])
    }

    @Test func `a new caller joins a request that is held up, and has one that was decided looked at again`() throws {
        var callers = Callers()
        _ = add(&callers)
        #expect(decided(&callers) == [.demand(.tokenNeeded)])
        callers.hold(.demand(.tokenNeeded), of: account, by: .pace)
        _ = add(&callers)
        #expect(callers.takeReady { hold, _ in hold != .pace }.isEmpty)
        #expect(callers.shortestHold { _, _ in .seconds(3) } == .seconds(3))
        // What another event decides does not end their wait before their own request.
        let other = try callers.settle(standing(RefreshState(phase: .scheduled), after: .host(.requestContinues)))
        #expect(other.told.isEmpty && !other.haveMore)
        #expect(decided(&callers) == [.demand(.tokenNeeded)])
        _ = add(&callers)
        #expect(decided(&callers) == [.demand(.tokenNeeded)])
        #expect(callers.takeAll(of: account).count == 3)
        #expect(callers.shortestHold { _, _ in .seconds(3) } == nil)
    }

    @Test func `a report waits without its caller, and a wish for a token does not`() throws {
        var callers = Callers()
        let report = Event.demand(.accessTokenRejected(issuedAt: nil))
        let wish = Event.demand(.targetNeeded(try TokenTarget(scopes: ["a"])))
        let gone = add(&callers, after: report)
        #expect(decided(&callers) == [report])
        callers.forget(gone, of: account)
        for event in [wish, report] { callers.hold(event, of: account, by: .pace) }
        #expect(!callers.isAwaited(account))
        #expect(decided(&callers) == [report] && decided(&callers).isEmpty)
    }

    /// Takes all wishes, whatever holds them up.
    private func decided(_ callers: inout Callers) -> [Event] {
        callers.takeReady { _, _ in true }.map(\.event)
    }

    @Test func `whoever moves an account waits until it is parked, before all others`() throws {
        var callers = Callers()
        _ = add(&callers, after: .demand(.refreshRequested))
        _ = callers.add(.parking, of: account, after: .owner(.parked), holding: nil, at: at(0)) { _ in }
        let failure = RefreshFailure(.unreachable, detail: FailureDetail(summary: "no route"))
        let backOff = BackOff(failedAt: at(0), delay: .seconds(1), kind: .transient, failure: failure)
        #expect(decided(&callers) == [.owner(.parked), .demand(.refreshRequested)])
        let busy = try callers.settle(standing(RefreshState(phase: .refreshing(lease(1))), after: .owner(.parked)))
        #expect(busy.told.isEmpty && !busy.haveMore)
        let target = try TokenTarget(scopes: ["read"])
        let free = try callers.settle(standing(RefreshState(phase: .scheduled), after: .demand(.targetNeeded(target))))
        #expect(
            free.told.isEmpty && free.haveMore && decided(&callers) == [.owner(.parked), .demand(.refreshRequested)]
        )
        let failed = try callers.settle(
            standing(RefreshState(phase: .backingOff(backOff)), after: .host(.deadlineReached))
        )
        #expect(failed.told.count == 1 && failed.haveMore && decided(&callers) == [.owner(.parked)])
        #expect(callers.wantParking(of: account))
        let parked = try callers.settle(standing(RefreshState(phase: .parked(.moved)), after: .owner(.parked)))
        #expect(parked.told.count == 1 && !callers.wantParking(of: account))
        // Without a grant, there is nothing to park.
        for state in [RefreshState(), RefreshState(phase: .scheduled, isRefreshable: false)] {
            _ = callers.add(.parking, of: account, after: .owner(.parked), holding: nil, at: at(0)) { _ in }
            #expect(decided(&callers) == [.owner(.parked)])
            #expect(try callers.settle(standing(state, after: .owner(.parked))).told.count == 1)
        }
    }

    // MARK: Registrations

    /// An account whose client secret expires within a fortnight, and may be renewed by the client.
    private func endingSecret(of id: AccountID, isManaged: Bool = true) throws -> Account {
        var registration = ClientRegistration(clientID: "app", clientSecret: Secret("one"))
        registration.clientSecretExpiresAt = at(86_400).wall
        if isManaged {
            registration.management = RegistrationManagement(
                uri: "https://login.example.com/clients/app",
                accessToken: Secret("t")
            )
        }
        return Account(
            id: id,
            name: try #require(AccountName("work")),
            issuer: try Issuer(url: "https://login.example.com"),
            registration: registration
        )
    }

    @Test func `renewals have two places, and one without a place is checked again within a minute`() throws {
        var registrations = Registrations()
        let now = at(0).wall
        for other in [AccountID(1), AccountID(2)] {
            #expect(registrations.isCareDue(for: try endingSecret(of: other), at: now) == true)
            registrations.beginRenewal(ClientRegistration(clientID: "app"), of: other)
        }
        let third = try endingSecret(of: account)
        #expect(registrations.isCareDue(for: third, at: now) == false)
        registrations.endRenewal(of: AccountID(2))
        #expect(registrations.isCareDue(for: third, at: now + .seconds(59)) == false)
        #expect(registrations.isCareDue(for: third, at: now + .seconds(60)) == true)
        // Not while its renewal is in flight.
        let first = try endingSecret(of: AccountID(1))
        #expect(registrations.isCareDue(for: first, at: now + .seconds(60)) == false)
    }

    @Test func `a secret that only a person can renew is announced, and again at half of the remaining time`()
        throws
    {
        var registrations = Registrations()
        let (account, now) = (try endingSecret(of: account, isManaged: false), at(0).wall)
        #expect(registrations.needsPerson(for: account, at: now))
        #expect(registrations.isCareDue(for: account, at: now) == true)
        #expect(registrations.isCareDue(for: account, at: now + .seconds(43_199)) == false)
        #expect(registrations.isCareDue(for: account, at: now + .seconds(43_200)) == true)
    }

    @Test func `a changed registration is used until it is stored`() {
        var registrations = Registrations()
        let old = ClientRegistration(clientID: "app", clientSecret: Secret("one"))
        var new = old
        new.clientSecret = Secret("two")
        // Nobody asked for this renewal.
        #expect(registrations.take(new, of: account, isRenewal: true, correlationID: "c") == false)
        registrations.beginRenewal(old, of: account)
        #expect(registrations.take(old, of: account, isRenewal: true, correlationID: "c") == false)
        #expect(registrations.take(new, of: account, isRenewal: true, correlationID: "c") == true)
        #expect(registrations.current(of: account, stored: old).clientSecret == Secret("two"))
        #expect(!registrations.areStored)
        registrations.forget(account)
        #expect(registrations.areStored && registrations.current(of: account, stored: old) == old)
    }

    // MARK: Step-ups

    @Test func `a demand is met by a refresh that requested it and by a sign-in`() {
        var stepUps = StepUps()
        var demand = StepUp(since: at(0).wall, claims: "{}")
        demand.needsPerson = false
        stepUps.note(demand, of: account)
        #expect(stepUps.isDemanding(account))
        stepUps.met(nil, of: account)
        stepUps.forget(after: .tokenRefreshed, of: account, signedInBy: nil)
        #expect(stepUps[account] != nil)
        stepUps.met("{}", of: account)
        #expect(stepUps[account] == nil)
        stepUps.note(demand, of: account)
        stepUps.forget(after: .signedIn, of: account, signedInBy: nil)
        #expect(stepUps[account] == nil)
    }

    // MARK: Host

    @Test func `an announced sleep without an end counts for half a minute`() {
        var host = HostState()
        #expect(host.timeToSleep(at: at(0)) == nil)
        host.sleepBegins(at: at(0))
        #expect(host.timeToSleep(at: at(10)) == .seconds(20))
        #expect(host.timeToSleep(at: at(30)) == nil)
        host.sleepBegins(at: at(40))
        host.sleepIsOver()
        #expect(host.timeToSleep(at: at(40)) == nil)
    }

    @Test func `an existing route is not news`() {
        var host = HostState()
        #expect(host.note(isOnline: true) == false)
        #expect(host.note(isOnline: false) == true)
        #expect(!host.isOnline)
        #expect(host.note(isOnline: false) == false)
    }

    // MARK: The end of the daemon

    @Test func `the end waits for server calls and other work, and comes once`() async {
        var lifecycle = Lifecycle()
        #expect((lifecycle.serverCalls.take(for: 1) == nil) == true)
        lifecycle.stop()
        await withCheckedContinuation { (stopped: CheckedContinuation<Void, Never>) in
            lifecycle.waitForEnd(stopped)
            #expect((lifecycle.end(ifIdle: true) == nil) == true)
            lifecycle.serverCalls.count(-1, for: 1)
            #expect((lifecycle.end(ifIdle: false) == nil) == true)
            #expect(!lifecycle.isOver)
            let ended = lifecycle.end(ifIdle: true)
            #expect(ended != nil && lifecycle.isOver)
            #expect((lifecycle.end(ifIdle: true) == nil) == true)
            ended?.resume()
        }
    }
}
