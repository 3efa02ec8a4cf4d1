import AccountStorage
import Foundation
import Glibc
import OAuthClient
@testable import OAuthMessages
@testable import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// The start after a crash: the scheduler alone, with a real store.
struct CrashSuspectsTests {
    private let folder: TemporaryFolder
    private let store: AccountStore
    private let now = Moment(
        wall: Timestamp(microseconds: 1_800_000_000_000_000),
        boot: BootTime(bootID: 1, microseconds: 1_000_000_000)
    )

    init() throws {
        folder = try TemporaryFolder()
        store = try StoreKeyring.onFiles(in: folder.path).openStore(at: folder.path + "/accounts.sqlite")
    }

    /// A daemon's scheduler, and what it does.
    private struct Run {
        let scheduler: Scheduler
        let store: AccountStore

        init(_ store: AccountStore, at now: Moment) {
            self.store = store
            let timebase = Timebase(now: { now }, jitter: { 0.5 })
            scheduler = Scheduler(store: store, records: AccountRecords(store: store), timebase: timebase)
        }

        /// Decides on all that is due, and stores it. Returns the accounts whose requests begin.
        func turn(_ arrivals: [QueuedEvent] = [], at now: Moment) throws -> [AccountID] {
            var (turn, callers, settings) = (scheduler.takeArrivals(), Callers(), RefreshConfiguration())
            let conditions = Scheduler.Conditions()
            turn.arrivals += arrivals
            try scheduler.takeDue(into: &turn, for: &callers, conditions, at: now)
            let plan = try scheduler.plan(turn.arrivals, for: &callers, &settings, conditions, at: now)
            let sending = try scheduler.commit(plan, afterTrouble: false).committed.filter(\.sends)
            for decision in sending {
                guard case .refreshing(let lease) = decision.record.state.phase else { continue }
                scheduler.begin(PendingRequest(lease: lease, correlationID: "c"), of: decision.record.account.id)
            }
            return sending.map(\.record.account.id)
        }

        /// A request of `account` ends.
        func end(_ account: AccountID, _ outcome: RefreshOutcome, at now: Moment) throws -> Lease {
            let record = try #require(try store.record(account))
            guard case .refreshing(let lease) = record.state.phase else { throw TestFault.unreadable("a lease") }
            let place = scheduler.enter(record, nil, limits: IssuerGate.Limits(), at: now)
            _ = scheduler.end(lease, of: record, outcome, at: place, "c", now: now)
            return lease
        }

        /// The server answers a request of `account`.
        func answer(_ account: AccountID, at now: Moment) throws {
            let tokens = TokenResponse(
                accessToken: AccessToken(Secret("access"), type: "Bearer"),
                issuance: Issuance(lifetime: .seconds(3600))
            )
            let lease = try end(account, RefreshOutcome(result: .success(tokens)), at: now)
            scheduler.put(
                QueuedEvent(
                    account: account,
                    event: .answer(.tokensIssued(lease.generation, tokens.issuance)),
                    tokens: StoredTokens(tokens)
                )
            )
        }
    }

    /// Adds an account whose grant is due at once.
    private func add(_ name: String) throws -> AccountID {
        var machine = RefreshMachine(state: RefreshState(), policy: RefreshPolicy())
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: nil)), at: now, jitter: 0.5)
        var new = NewAccount(
            Account(
                name: try #require(AccountName(name)),
                issuer: try Issuer(url: "https://login.example.com"),
                registration: ClientRegistration(clientID: "app")
            ),
            createdAt: now.wall
        )
        new.state = machine.state
        new.tokens = StoredTokens(refreshToken: RefreshToken(Secret("\(name)-refresh")))
        return try store.add(new).account.id
    }

    @Test func `suspects rest, and are then tried one at a time, while other accounts are served at once`() throws {
        let suspects = [try add("a"), try add("b")]
        #expect(try Run(store, at: now).turn(at: now) == suspects)

        let next = Run(store, at: now)
        let abandoned = try next.scheduler.abandoned(byCrash: true, at: now)
        #expect(abandoned.map(\.event) == [.host(.requestAbandoned(crashes: 1)), .host(.requestAbandoned(crashes: 1))])
        let other = try add("c")
        #expect(try next.turn(abandoned, at: now) == [other])
        let rest = CrashSuspects.rest
        #expect(try next.turn(at: now.later(rest - .seconds(1))) == [])
        let conditions = Scheduler.Conditions()
        // The timer comes back for them.
        #expect(
            try next.scheduler.nextDeadline(for: Callers(), conditions, at: now.later(rest - .seconds(1)))
                == now.wall + rest
        )
        let later = now.later(rest)
        let first = try next.turn(at: later)
        #expect(first.count == 1 && suspects.contains(first[0]))
        #expect(try next.turn(at: later.later(.seconds(1))) == [])
        try next.answer(first[0], at: later)
        let second = try next.turn(at: later.later(.seconds(1)))
        #expect(Set(first + second) == Set(suspects))
        #expect(try store.crashes() == [second[0]: 1])
        try next.answer(second[0], at: later)
        #expect(try store.crashes() == [:])
    }

    @Test func `a suspect whose server is silent holds up the others only for its time limit`() throws {
        let suspects = [try add("a"), try add("b")]
        _ = try Run(store, at: now).turn(at: now)
        let next = Run(store, at: now)
        let suspected = try next.scheduler.abandoned(byCrash: true, at: now)
        _ = try next.turn(suspected, at: now)
        let later = now.later(CrashSuspects.rest)
        let silent = try #require(try next.turn(at: later).first)
        #expect(try next.turn(at: later.later(.seconds(1))) == [])
        let record = try #require(try store.record(silent))
        let place = next.scheduler.enter(record, nil, limits: IssuerGate.Limits(), at: later)
        let lease = Lease(generation: record.state.generation, startedAt: later)
        #expect(next.scheduler.passLimit("c", at: place, of: record.issuerID, lease))
        #expect(try next.turn(at: later.later(.seconds(2))) == suspects.filter { $0 != silent })
    }

    @Test func `a request that fails ends the suspicion, too`() throws {
        let account = try add("a")
        _ = try Run(store, at: now).turn(at: now)
        let next = Run(store, at: now)
        _ = try next.turn(try next.scheduler.abandoned(byCrash: true, at: now), at: now)
        #expect(try store.crashes() == [account: 1])
        let later = now.later(CrashSuspects.rest)
        #expect(try next.turn(at: later) == [account])
        let failure = RefreshFailure(.unreachable, detail: FailureDetail(summary: "no route"))
        _ = try next.end(account, RefreshOutcome(result: .failure(failure)), at: later)
        #expect(try store.crashes() == [:])
    }

    @Test func `the greatest number of crashes that a store may name does not end the daemon`() throws {
        let account = try add("a")
        _ = try Run(store, at: now).turn(at: now)
        try store.recordCrashes([account: .max])
        let abandoned = try Run(store, at: now).scheduler.abandoned(byCrash: true, at: now)
        #expect(abandoned.map(\.event) == [.host(.requestAbandoned(crashes: CrashSuspects.countMax))])
    }

    @Test func `the suspect that ends the next daemon waits, and the other one does not`() throws {
        let suspects = [try add("a"), try add("b")]
        _ = try Run(store, at: now).turn(at: now)
        let second = Run(store, at: now)
        let suspected = try second.scheduler.abandoned(byCrash: true, at: now)
        _ = try second.turn(suspected, at: now)
        let later = now.later(CrashSuspects.rest)
        let culprit = try #require(try second.turn(at: later).first)

        let third = Run(store, at: later)
        let abandoned = try third.scheduler.abandoned(byCrash: true, at: later)
        #expect(abandoned.map(\.account) == [culprit])
        #expect(abandoned.map(\.event) == [.host(.requestAbandoned(crashes: 2))])
        _ = try third.turn(abandoned, at: later)
        #expect(try third.turn(at: later.later(CrashSuspects.rest)) == suspects.filter { $0 != culprit })
        let state = try #require(try store.record(culprit)).state
        #expect(state.shown(at: later) == .retrying)
        #expect(try #require(state.deadline) - later.wall > .seconds(100))
    }

    @Test func `a daemon that did not crash makes nobody a suspect`() throws {
        _ = try add("a")
        _ = try Run(store, at: now).turn(at: now)
        let next = Run(store, at: now)
        let abandoned = try next.scheduler.abandoned(byCrash: false, at: now)
        #expect(abandoned.map(\.event) == [.host(.requestAbandoned(crashes: 0))])
        #expect(try store.crashes() == [:])
    }
}

struct CrashMarkTests {
    @Test(arguments: [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT])
    func `a signal that tells of an error is recorded, and ends the process`(_ signal: Int32) async throws {
        let folder = try TemporaryFolder()
        #expect(try #require(CrashMark(in: folder.path)).signal == nil)
        await #expect(processExitsWith: .signal(signal)) { [path = folder.path as String, signal = signal as Int32] in
            let mark = try #require(CrashMark(in: path))
            mark.begin()
            die(by: signal)
        }
        let mark = try #require(CrashMark(in: folder.path))
        #expect(mark.signal == signal)
    }

    @Test(arguments: [SIGKILL, SIGTERM, SIGHUP])
    func `other ends are not recorded, and the next start forgets the crash`(_ signal: Int32) async throws {
        let folder = try TemporaryFolder()
        try folder.write("\u{4}", to: CrashMark.fileName)
        #expect(try #require(CrashMark(in: folder.path)).signal == SIGILL)
        await #expect(processExitsWith: .signal(signal)) { [path = folder.path as String, signal = signal as Int32] in
            let mark = try #require(CrashMark(in: path))
            mark.begin()
            Glibc.signal(signal, SIG_DFL)
            die(by: signal)
        }
        #expect(try #require(CrashMark(in: folder.path)).signal == nil)
    }

    @Test func `a trap of Swift is recorded`() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            let mark = try #require(CrashMark(in: path))
            mark.begin()
            fatalError("as a precondition of a library")
        }
        #expect(try #require(CrashMark(in: folder.path)).signal != nil)
    }
}

/// Sends the signal to this process. Dispatch's threads block some signals, so another thread may take it.
private func die(by signal: Int32) -> Never {
    kill(getpid(), signal)
    while true { pause() }
}
