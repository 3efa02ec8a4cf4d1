import GRDB
@testable import RefreshCore
import Testing

@testable import AccountStorage

struct ScheduleTests {
    private let folder: TemporaryFolder
    private let store: AccountStore

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    private func at(_ seconds: Int64) -> Timestamp { Sample.start + .seconds(seconds) }

    private func names(_ ids: [AccountID]) throws -> [String] { try ids.compactMap { try store.entry($0)?.name } }

    @Test func `due accounts come in the order of deadlines, up to the limit`() throws {
        _ = try store.add([
            Sample.scheduled("late", due: 30), Sample.scheduled("first", due: 10), Sample.scheduled("second", due: 20),
            Sample.account("idle"),
        ])
        #expect(try names(store.schedule.due(at: at(9), online: true, limit: 9)) == [])
        #expect(try names(store.schedule.due(at: at(10), online: true, limit: 9)) == ["first"])
        #expect(try names(store.schedule.due(at: at(99), online: true, limit: 9)) == ["first", "second", "late"])
        #expect(try names(store.schedule.due(at: at(99), online: true, limit: 2)) == ["first", "second"])
    }

    @Test func `without a route only loopback issuers are due`() throws {
        _ = try store.add([
            Sample.scheduled("far", due: 10), Sample.scheduled("near", due: 20, issuer: Sample.loopbackURL),
        ])
        let far = try #require(try store.record(named: Sample.name("far"))?.issuerID)
        let near = try #require(try store.record(named: Sample.name("near"))?.issuerID)
        #expect(try names(store.schedule.due(at: at(99), online: true, limit: 9)) == ["far", "near"])
        #expect(try names(store.schedule.due(at: at(99), online: false, limit: 9)) == ["near"])
        #expect(try names(store.schedule.due(issuer: far, at: at(99), online: false, limit: 9)) == [])
        #expect(try names(store.schedule.due(issuer: far, at: at(99), online: true, limit: 9)) == ["far"])
        #expect(try names(store.schedule.due(issuer: near, at: at(99), online: false, limit: 9)) == ["near"])
        #expect(try store.schedule.nextDeadline(after: at(0), online: true) == at(10))
        #expect(try store.schedule.nextDeadline(after: at(0), online: false) == at(20))
    }

    @Test func `accounts of closed issuers are skipped`() throws {
        _ = try store.add([
            Sample.scheduled("a", due: 1), Sample.scheduled("b", due: 2, issuer: "https://b.example"),
            Sample.scheduled("c", due: 3, issuer: "https://c.example"),
        ])
        let closed = try #require(try store.record(named: Sample.name("b"))?.issuerID)
        #expect(try names(store.schedule.due(at: at(9), online: true, excluding: [closed], limit: 9)) == ["a", "c"])
    }

    @Test func `after a walk with only closed issuers, newly due accounts are found`() throws {
        _ = try store.add([Sample.scheduled("b", due: 2, issuer: "https://b.example")])
        let b = try #require(try store.record(named: Sample.name("b")))
        let closed: Set = [b.issuerID]
        let due = { (closed: Set<IssuerID>, seconds: Int64) throws -> [String] in
            try names(store.schedule.due(at: at(seconds), online: true, excluding: closed, limit: 9))
        }
        #expect(try due(closed, 9) == [])
        #expect(try due([], 9) == ["b"])
        #expect(try due(closed, 9) == [])
        _ = try store.add([Sample.scheduled("a", due: 1), Sample.scheduled("c", due: 20)])
        #expect(try due(closed, 9) == ["a"])
        let a = try #require(try store.record(named: Sample.name("a")))
        let write = { (seconds: Int64) in
            let state = RefreshState(generation: a.state.generation, phase: .scheduled, deadline: at(seconds))
            return StateWrite(account: a.account.id, base: a.state.generation, state: state)
        }
        try store.commit([write(12)])
        #expect(try due(closed, 9) == [])
        #expect(try due(closed, 12) == ["a"])
        try store.commit([write(30)])
        #expect(try due(closed, 12) == [])
        try store.commit([write(5)])
        #expect(try due(closed, 12) == ["a"])
        try store.commit([write(30)])
        #expect(try due(closed, 25) == ["c"])
    }

    @Test func `a closed issuer's backlog does not hide the others`() throws {
        let backlog = try (0...AccountSchedule.longestWalk).map { try Sample.scheduled("a\($0)", due: 0) }
        _ = try store.add(backlog)
        _ = try store.add([
            Sample.scheduled("y", due: 8, issuer: "https://y.example"),
            Sample.scheduled("x", due: 7, issuer: "https://x.example"),
        ])
        let closed = try #require(try store.record(named: Sample.name("a0"))?.issuerID)
        #expect(try names(store.schedule.due(at: at(9), online: true, excluding: [closed], limit: 9)) == ["x", "y"])
        #expect(try names(store.schedule.due(at: at(7), online: true, excluding: [closed], limit: 9)) == ["x"])
    }

    @Test func `behind a closed issuer's backlog other issuers are asked once and not in every turn`() throws {
        let backlog = try (0...AccountSchedule.longestWalk).map { try Sample.scheduled("a\($0)", due: 0) }
        _ = try store.add(backlog)
        _ = try store.add([Sample.scheduled("x", due: 7, issuer: "https://x.example")])
        let closed = try #require(try store.record(named: Sample.name("a0"))?.issuerID)
        #expect(try names(store.schedule.due(at: at(6), online: true, excluding: [closed], limit: 9)) == [])
        #expect(store.connection.memory.nothingDue?.end == store.connection.onSchedule(at(6)))
        #expect(try names(store.schedule.due(at: at(7), online: true, excluding: [closed], limit: 9)) == ["x"])
        #expect(try store.schedule.due(at: at(6), online: true, limit: 9).count == 9)
    }

    @Test func `the next deadline lies after the given time`() throws {
        #expect(try store.schedule.nextDeadline(after: at(0), online: true) == nil)
        _ = try store.add([Sample.scheduled("a", due: 10), Sample.scheduled("b", due: 20)])
        #expect(try store.schedule.nextDeadline(after: at(9), online: true) == at(10))
        #expect(try store.schedule.nextDeadline(after: at(10), online: true) == at(20))
        #expect(try store.schedule.nextDeadline(after: at(20), online: true) == nil)
    }

    @Test func `the previous daemon's leases are found page by page`() throws {
        let lease = Phase.refreshing(Lease(generation: Generation(1), startedAt: Sample.moment(0)))
        let leased = RefreshState(generation: Generation(1), phase: lease, deadline: at(45))
        _ = try store.add([
            Sample.account("a", state: leased), Sample.scheduled("b", due: 1), Sample.account("c", state: leased),
        ])
        try store.close()
        let reopened = try folder.open()
        let first = try #require(try reopened.schedule.leased(limit: 1).first)
        #expect(try reopened.entry(first)?.name == "a")
        let rest = try reopened.schedule.leased(after: first, limit: 9)
        #expect(try rest.map { try reopened.entry($0)?.name } == ["c"])
    }

    @Test func `only waits that a network may end are listed`() throws {
        let waiting = try BackOff.Kind.allCases.map { kind in
            let backOff = BackOff(failedAt: Sample.moment(0), delay: .seconds(9), kind: kind, failure: Sample.failure)
            let state = RefreshState(generation: Generation(1), phase: .backingOff(backOff), deadline: at(9))
            return try Sample.account(kind.rawValue, state: state)
        }
        let refused = try [FailureClass.refusedHere, .userRequired].map { failureClass in
            let failure = RefreshFailure(failureClass, detail: FailureDetail(summary: "a test failure"))
            let interaction = InteractionRequired(reason: .userRequired, since: Sample.start, failure: failure)
            let phase = Phase.interactionRequired(interaction)
            let state = RefreshState(generation: Generation(1), phase: phase, deadline: at(9))
            return try Sample.account(failureClass.rawValue, state: state)
        }
        _ = try store.add(waiting + refused + [Sample.scheduled("fine", due: 1)])
        let all = try names(store.schedule.awaitingConnectivity(limit: 9))
        #expect(all == ["transient", "misconfigured", "refusedHere"])
        let first = try #require(try store.schedule.awaitingConnectivity(limit: 1).last)
        let rest = try names(store.schedule.awaitingConnectivity(after: first, limit: 9))
        #expect(rest == ["misconfigured", "refusedHere"])
    }

    @Test func `a step of the clock moves every deadline, before and after a reopening`() throws {
        let id = try store.add(Sample.scheduled("a", due: 100)).account.id
        let clock = ClockOffset(at: Sample.moment(1))
        try store.schedule.shiftDeadlines(by: .seconds(-3600), clock: clock)
        _ = try store.add(Sample.scheduled("b", due: -3400))
        try expectShifted(store, first: id, clock: clock)
        try store.close()
        try expectShifted(folder.open(), first: id, clock: clock)
    }

    private func expectShifted(_ store: AccountStore, first: AccountID, clock: ClockOffset) throws {
        #expect(try store.record(first)?.state.deadline == at(-3500))
        let due = { seconds in
            try store.schedule.due(at: at(seconds), online: true, limit: 9).compactMap { try store.entry($0)?.name }
        }
        #expect(try due(-3500) == ["a"])
        #expect(try due(-3400) == ["a", "b"])
        #expect(try store.schedule.nextDeadline(after: at(-3500), online: true) == at(-3400))
        #expect(try store.clockOffset() == clock)
    }

    @Test func `an account set aside is neither due nor leased, and gets its deadline back once it can be read`() throws
    {
        let lease = Phase.refreshing(Lease(generation: Generation(1), startedAt: Sample.moment(0)))
        let state = RefreshState(generation: Generation(1), phase: lease, deadline: at(0))
        let id = try store.add(Sample.account("a", state: state)).account.id
        let other = try store.add(Sample.scheduled("b", due: 0)).account.id
        try store.connection.write { db in try db.execute(sql: "UPDATE account SET failures = -1 WHERE name = 'a'") }
        #expect(try store.schedule.setAside([id]) == [id])
        #expect(try store.schedule.setAside([id]) == [])
        #expect(try store.schedule.due(at: at(9), online: true, limit: 9) == [other])
        #expect(try store.schedule.leased(limit: 9) == [])
        #expect(try store.counts().setAside == 1)
        #expect(try store.schedule.takeBack(after: AccountID(0), limit: 9).repaired == [])
        try store.connection.write { db in try db.execute(sql: "UPDATE account SET failures = 0 WHERE name = 'a'") }
        #expect(try store.schedule.takeBack(after: AccountID(0), limit: 9).repaired == [id])
        #expect(try store.schedule.leased(limit: 9) == [id])
        #expect(try store.record(id)?.state == state)
        #expect(try store.counts().setAside == 0)
    }

    @Test func `an account set aside can be removed`() throws {
        let id = try store.add(Sample.scheduled("a", due: 0)).account.id
        _ = try store.schedule.setAside([id])
        try store.remove(id)
        #expect(try store.counts().setAside == 0)
        #expect(try store.schedule.setAside([id]) == [])
    }

    /// An account whose person signed in at `seconds`, for 100 s.
    private func signingOut(_ name: String, _ seconds: Int64, announced: Bool = true) throws -> NewAccount {
        let times = RefreshTokenTimes(
            issuedAt: Sample.moment(seconds),
            lifetime: .seconds(100),
            isExtendedByUse: false,
            isEndAnnounced: announced
        )
        return try Sample.account(name, state: RefreshState(phase: .scheduled, signOut: times))
    }

    @Test func `sign-outs are due by the boot-time clock, whatever the wall clock and the network do`() throws {
        _ = try store.add([signingOut("late", 50), signingOut("first", 0), signingOut("told", 20, announced: false)])
        let due = { (now: Moment) throws -> [String] in
            try names(store.schedule.signOutsDue(at: now, byWall: true, limit: 9))
        }
        var now = Sample.moment(94)
        now.wall = at(86_400)
        #expect(try due(now) == [])
        #expect(try store.schedule.timeToSignOut(at: now, trustingWallIn: .seconds(300)) == .seconds(1))
        // The announcement comes for the last quarter.
        #expect(try due(Sample.moment(95)) == ["told"])
        #expect(try due(Sample.moment(100)) == ["told", "first"])
        now = Sample.moment(150)
        now.wall = at(-86_400)
        #expect(try due(now) == ["told", "first", "late"])
        #expect(try store.schedule.timeToSignOut(at: now, trustingWallIn: .zero) == nil)
    }

    @Test func `after a restart of the machine, sign-outs are due by a wall clock that is trusted`() throws {
        _ = try store.add([signingOut("first", 0), signingOut("late", 50)])
        var now = Sample.moment(120)
        now.boot = BootTime(bootID: 1, microseconds: 5)
        #expect(try names(store.schedule.signOutsDue(at: now, byWall: false, limit: 9)) == [])
        #expect(try names(store.schedule.signOutsDue(at: now, byWall: true, limit: 9)) == ["first"])
        #expect(try store.schedule.timeToSignOut(at: now, trustingWallIn: .seconds(7)) == .seconds(7))
        #expect(try store.schedule.timeToSignOut(at: now, trustingWallIn: .zero) == .seconds(30))
    }

    @Test func `an account that cannot be read is no sign-out that is due for ever`() throws {
        let id = try store.add(signingOut("first", 0)).account.id
        _ = try store.schedule.setAside([id])
        #expect(try store.schedule.signOutsDue(at: Sample.moment(100), byWall: true, limit: 9) == [])
    }
}
