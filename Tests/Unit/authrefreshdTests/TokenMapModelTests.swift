import AccountStorage
import Foundation
import OAuthClient
@testable import RefreshCore
import Synchronization
import TestSupport
import Testing

@testable import authrefreshd

/// The map of tokens against the coordinator's records, under random commands, kills and clock steps.
struct TokenMapModelTests {
    @Test(arguments: 1...6)
    func `the map never has what the coordinator would refuse`(seed: UInt64) throws {
        let world = try TokenWorld(seed: seed)
        for _ in 0..<200 { try world.step() }
        #expect(world.violations == [])
        // A map that were always empty would violate nothing.
        #expect(world.hits > 50, "\(world.hits)")
    }

    /// Whoever wrote accounts elsewhere would leave entries in the map that are no longer right.
    @Test func `only the records write accounts into the store`() throws {
        let write = /store\.(?:commit|add|update|rename|remove|schedule\.setAside)\(/
        let sources = try PageSources.daemonSources()
        #expect(sources.filter { $0.text.contains(write) }.map(\.name) == ["AccountRecords.swift"])
    }

    @Test func `the same seed gives the same trace`() throws {
        let traces = try (0..<2).map { _ in
            let world = try TokenWorld(seed: 7)
            for _ in 0..<100 { try world.step() }
            return world.trace
        }
        #expect(traces[0] == traces[1])
    }
}

private final class WorldClock: Sendable {
    let moment = Mutex(
        Moment(wall: Timestamp(microseconds: 1_800_000_000_000_000), boot: BootTime(bootID: 1, microseconds: 0))
    )

    var now: Moment { moment.withLock(\.self) }
}

/// The scheduler with its records and a real store. The world decides what servers and people do.
private final class TokenWorld {
    private static let names = ["a", "b", "c", "d"]

    private(set) var violations: [String] = []
    private(set) var hits = 0
    private(set) var trace: [String] = []

    private let folder: TemporaryFolder
    private var random: SplitMix64
    private let clock = WorldClock()
    private var daemon: Daemon?
    private var isDiskAway = false
    private var tokens = 0
    /// What the commit under way ends or restricts.
    private var ending: Set<AccountID> = []

    /// What a kill ends.
    private struct Daemon {
        let store: AccountStore
        let records: AccountRecords
        let scheduler: Scheduler
    }

    init(seed: UInt64) throws {
        folder = try TemporaryFolder()
        random = SplitMix64(seed: seed)
        daemon = try open()
    }

    private var now: Moment { clock.now }
    private var path: String { folder.path + "/accounts.sqlite" }

    private func open() throws -> Daemon {
        let store = try StoreKeyring.onFiles(in: folder.path).openStore(at: path)
        let records = AccountRecords(store: store)
        let timebase = Timebase(now: { [clock] in clock.now }, jitter: { 0.5 })
        store.onLogRenewed = { [unowned self] in checkCommit() }
        return Daemon(
            store: store,
            records: records,
            scheduler: Scheduler(store: store, records: records, timebase: timebase)
        )
    }

    // MARK: Commands

    func step() throws {
        guard let daemon else { return }
        let name = random.pick(Self.names)
        let entry = try daemon.store.entry(named: name)
        let command = random.pick(Command.allCases)
        trace.append("\(command) \(name)")
        if let id = entry?.id {
            try run(command, on: id, of: daemon)
        } else {
            try add(name, to: daemon)
        }
        try check()
        // The disk comes back soon, and programs ask all the time.
        if isDiskAway, random.chance(0.3) { try moveDisk() }
        if random.chance(0.5), let id = try self.daemon?.store.entry(named: random.pick(Self.names))?.id,
            let daemon = self.daemon
        {
            try ask(id, of: daemon)
            try check()
        }
    }

    private enum Command: CaseIterable {
        case ask, askAgain, answer, answerLate, due, fail, reject, rejectAndAnswer, answerAndSignOut
        case signOut, importGrant, signIn, remove, rename, restrict, release, forgetAfter, park, unpark
        case setAside, pass, passLong, stepWall, stepBack, reboot, kill, disk
    }

    private func run(_ command: Command, on id: AccountID, of daemon: Daemon) throws {
        switch command {
        case .ask, .askAgain: try ask(id, of: daemon)
        case .answer, .answerLate: try decide([answer(for: id, of: daemon)], of: daemon)
        case .due: try decide([QueuedEvent(account: id, event: .host(.deadlineReached))], of: daemon)
        case .fail:
            let failure = RefreshFailure(.unavailable, detail: FailureDetail(summary: "x"))
            let generation = try daemon.records.record(of: id)?.state.generation
            try decide(
                [QueuedEvent(account: id, event: .answer(.refreshFailed(try #require(generation), failure)))],
                of: daemon
            )
        case .reject: try decide([rejection(of: id, of: daemon)], of: daemon)
        case .rejectAndAnswer:
            try decide([rejection(of: id, of: daemon), answer(for: id, of: daemon)], of: daemon)
        case .answerAndSignOut:
            try decide([answer(for: id, of: daemon), QueuedEvent(account: id, event: .owner(.signedOut))], of: daemon)
        case .signOut: try decide([QueuedEvent(account: id, event: .owner(.signedOut))], of: daemon)
        case .importGrant:
            let tokens = StoredTokens(refreshToken: RefreshToken(Secret("imported")))
            let event = Event.grant(.imported(refreshTokenLifetime: nil))
            try decide([QueuedEvent(account: id, event: event, tokens: tokens)], of: daemon)
        case .signIn: try decide([signIn(to: id)], of: daemon)
        case .remove: try whileTheDiskIsThere { try daemon.records.remove(id) }
        case .rename:
            let other = random.pick(Self.names)
            guard try daemon.store.entry(named: other) == nil, let name = AccountName(other) else { return }
            try whileTheDiskIsThere { try daemon.records.rename(id, to: name) }
        case .restrict, .release:
            let asks = random.chance(0.5)
            let list =
                command == .release ? nil : AllowedCallers(units: asks ? [] : ["x"], executables: [], asksFirst: asks)
            try decide([settings(of: id) { $0.allowedCallers = list }], of: daemon)
        case .forgetAfter:
            let time = random.pick([nil, Duration.seconds(1), .seconds(300), .seconds(5_000)])
            try decide([settings(of: id) { $0.policy.forgetAfter = time }], of: daemon)
        case .park:
            var callers = Callers()
            _ = callers.add(.parking, of: id, after: .owner(.parked), holding: nil, at: now) { _ in }
            try decide([QueuedEvent(account: id, event: .owner(.parked))], for: callers, of: daemon)
        case .unpark: try decide([QueuedEvent(account: id, event: .owner(.unparked))], of: daemon)
        case .setAside:
            try whileTheDiskIsThere {
                _ = try daemon.records.setAside([id])
                if try daemon.records.tokens.find(name(of: id, in: daemon), at: now) != nil {
                    note("an account is set aside")
                }
                _ = try daemon.store.schedule.takeBack(after: AccountID(0), limit: 10)
            }
        case .pass, .passLong, .stepWall, .stepBack, .reboot: move(command)
        case .kill: try kill()
        case .disk: try moveDisk()
        }
    }

    private func add(_ name: String, to daemon: Daemon) throws {
        var new = NewAccount(
            Account(
                name: try #require(AccountName(name)),
                issuer: try Issuer(url: "https://login.example.com"),
                registration: ClientRegistration(clientID: "app")
            ),
            createdAt: now.wall
        )
        new.policy.forgetAfter = random.chance(0.3) ? .seconds(600) : nil
        let (policy, added) = (new.policy, new)
        try whileTheDiskIsThere {
            _ = try daemon.scheduler.add(added, having: signIn(to: AccountID(0)), policy: policy, at: now)
        }
    }

    /// Asks as a caller of `AcquireToken` whom the map does not serve.
    private func ask(_ id: AccountID, of daemon: Daemon) throws {
        guard let (snapshot, token) = try truth(about: id, in: daemon) else { return }
        daemon.records.noteGiven(token, of: snapshot)
    }

    private func decide(_ arrivals: [QueuedEvent], for callers: Callers = Callers(), of daemon: Daemon) throws {
        var (callers, settings) = (callers, RefreshConfiguration())
        let conditions = Scheduler.Conditions()
        let plan = try daemon.scheduler.plan(arrivals, for: &callers, &settings, conditions, at: now)
        ending = Set(plan.decisions.filter { !$0.carriesAnswer && isOver($0.record) }.map(\.record.account.id))
        // SQLite's log is missed, so the commit is interrupted before it begins: `checkCommit`.
        if !isDiskAway, random.chance(0.5) { try? FileManager.default.removeItem(atPath: path + "-wal") }
        do throws(StoreError) {
            _ = try daemon.scheduler.commit(plan, afterTrouble: false)
        } catch {
            daemon.scheduler.keepAnswers(of: plan)
        }
        ending = []
    }

    private func name(of id: AccountID, in daemon: Daemon) throws -> String {
        try daemon.store.entry(id)?.name ?? ""
    }

    private func isOver(_ record: Record) -> Bool {
        record.state.accessToken == nil || record.account.allowedCallers != nil || record.state.phase.isParked
            || record.state.isSignOutDue(at: now)
    }

    // MARK: Arrivals

    private func answer(for id: AccountID, of daemon: Daemon) throws -> QueuedEvent {
        let generation = try #require(try daemon.records.record(of: id)).state.generation
        let lifetime = random.pick([Duration.zero, .seconds(5), .seconds(100), .seconds(3600)])
        let event = Event.answer(.tokensIssued(generation, Issuance(lifetime: lifetime, isRotated: random.chance(0.5))))
        return QueuedEvent(account: id, event: event, tokens: newTokens())
    }

    private func signIn(to id: AccountID) -> QueuedEvent {
        let issuance = Issuance(lifetime: .seconds(3600))
        return QueuedEvent(
            account: id,
            event: .grant(.obtained(issuance, hasRefreshToken: true, sentAt: now)),
            tokens: newTokens()
        )
    }

    private func rejection(of id: AccountID, of daemon: Daemon) throws -> QueuedEvent {
        let held = try daemon.records.record(of: id)?.state.accessToken
        return QueuedEvent(account: id, event: .demand(.accessTokenRejected(issuedAt: held?.issuedAt)))
    }

    private func settings(of id: AccountID, _ change: @escaping @Sendable (inout Account) -> Void) -> QueuedEvent {
        QueuedEvent(
            account: id,
            event: .owner(.accountUpdated(asksAnew: false)),
            settings: SettingsChange(setting: change)
        )
    }

    private func newTokens() -> StoredTokens {
        tokens += 1
        return StoredTokens(
            accessToken: AccessToken(Secret("access-\(tokens)")),
            refreshToken: RefreshToken(Secret("refresh-\(tokens)"))
        )
    }

    // MARK: The machine

    private func move(_ command: Command) {
        let short = Duration.microseconds(random.microseconds(0.1, 30))
        let long = Duration.microseconds(random.microseconds(30, 4_000))
        clock.moment.withLock { clock in
            switch command {
            case .pass: clock = clock.later(short)
            case .passLong: clock = clock.later(long)
            case .stepWall: clock.wall = clock.wall + (random.chance(0.5) ? short : long)
            case .stepBack: clock.wall = clock.wall - long
            default:
                clock = Moment(wall: clock.wall + short, boot: BootTime(bootID: clock.boot.bootID + 1, microseconds: 0))
            }
        }
    }

    private func kill() throws {
        guard !isDiskAway else { return }
        // The lock is released when the file is closed. The new daemon needs it.
        try daemon?.store.close()
        daemon = try open()
    }

    private func moveDisk() throws {
        let aside = folder.path + "/aside"
        try FileManager.default.moveItem(atPath: isDiskAway ? aside : path, toPath: isDiskAway ? path : aside)
        isDiskAway.toggle()
    }

    private func whileTheDiskIsThere(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StoreError {
            if !isDiskAway { throw error }
        }
    }

    // MARK: Promises

    /// The account as the coordinator would answer for it, and the token that it would give out to everybody; nil if
    /// it would refuse, or would have to look at the caller.
    private func truth(about id: AccountID, in daemon: Daemon) throws -> (AccountSnapshot, AccessToken)? {
        guard let record = try daemon.store.record(id).map(daemon.records.current),
            try daemon.store.allowedCallers(named: record.account.name.text) == nil
        else { return nil }
        let snapshot = AccountSnapshot(account: record.account, state: record.state, at: now)
        guard snapshot.holdsAccessToken(for: .zero), let token = try daemon.records.accessToken(of: id) else {
            return nil
        }
        return (snapshot, token)
    }

    private func check() throws {
        guard let daemon else { return }
        for name in Self.names {
            guard let found = daemon.records.tokens.find(name, at: now)?.entry else { continue }
            let id = try daemon.store.entry(named: name)?.id
            guard let id, let (snapshot, token) = try truth(about: id, in: daemon) else {
                note("\(name) is refused")
                continue
            }
            trace.append("\(name): \(found.token.secret.reveal())")
            hits += 1
            let ends = [found.terms.times.expiresAt(at: now), snapshot.state.accessToken?.expiresAt(at: now)]
            if token != found.token { note("\(name) has another token") }
            if ends[0] != ends[1] { note("\(name) has another end") }
            if snapshot.state.phase.isParked { note("\(name) is parked") }
        }
    }

    /// Checks the map while a commit waits.
    private func checkCommit() {
        guard let daemon else { return }
        for name in Self.names {
            guard let found = daemon.records.tokens.find(name, at: now)?.entry else { continue }
            if ending.contains(found.account) { note("\(name) is about to end") }
        }
    }

    private func note(_ text: String) {
        violations.append(text + ", after: " + trace.suffix(6).joined(separator: ", "))
    }
}
