import AccountStorage
import DemoIssuer
import Foundation
import Logging
import OAuthClient
@testable import RefreshCore
import Synchronization
import Systemd
import TestSupport

@testable import authrefreshd

/// A coordinator with a real store and a real client, and a clock that the test moves.
final class CoordinatorRig: Sendable {
    let coordinator: RefreshCoordinator
    /// The log: message and fields, one line each.
    let log = EventLog<String>()
    private let folder: TemporaryFolder
    private let client: OAuthClient
    let clock = CoordinatorClock()

    init(limits: IssuerGate.Limits = IssuerGate.Limits(), requestTimeout: Duration = .seconds(30)) throws {
        folder = try TemporaryFolder()
        var configuration = OAuthClientConfiguration()
        configuration.totalTimeout = requestTimeout
        client = OAuthClient(configuration: configuration)
        var settings = RefreshConfiguration()
        let keyring = StoreKeyring.onFiles(in: folder.path)
        settings.issuerLimits = limits
        coordinator = RefreshCoordinator(
            executor: DispatchQueueExecutor(label: "test"),
            store: try keyring.openStore(at: folder.path + "/accounts.sqlite"),
            keyring: keyring,
            client: client,
            settings: settings,
            timebase: try clock.timebase(),
            changeLog: ChangeLog(logger: Logger(label: "test") { [log] _ in CollectingLogHandler(log: log) }),
            tokenFolder: folder.path + "/run/tokens"
        )
    }

    deinit {
        // The test failed before `stop`. If a client is released without a shutdown, the process ends, and the test's
        // error is lost.
        Task { [client] in await client.shutdown() }
    }

    func start() async throws {
        try await coordinator.start(watchesMachine: false) {}
    }

    /// Adds an account of the public client `app`.
    func add(_ name: String, _ url: String, _ grant: IssuedGrant) async throws -> AccountID {
        let account = NewAccount(
            Account(
                name: try Self.name(name),
                issuer: try Issuer(url: url),
                registration: ClientRegistration(clientID: "app")
            ),
            createdAt: Timestamp(microseconds: 0)
        )
        return try await coordinator.add(account, grant: RefreshToken(Secret(grant.refreshToken)))
            .account.id
    }

    /// Checks `grant` for `account`, and changes the account with `change`.
    func prove(
        _ grant: RefreshToken,
        for account: Account,
        by change: SettingsChange?
    ) async -> GrantProof.Outcome {
        await coordinator.prove(GrantProof(grant: grant, account: account, change: change))
    }

    func state(of name: String) async throws -> AccountSnapshot? {
        guard case .whole(let snapshot)? = try await coordinator.shownAccount(named: name) else {
            return nil
        }
        return snapshot
    }

    /// Asks as `AcquireToken` does: waits only if the account has no token that lives long enough.
    func waitForToken(of account: AccountID) async -> WaitOutcome {
        let outcomes = EventLog<WaitOutcome>()
        await inside { coordinator in
            if let record = try? coordinator.records.entry(of: account)?.record() {
                let snapshot = coordinator.snapshot(of: record, at: coordinator.timebase.now())
                if snapshot.holdsAccessToken(for: nil) { return outcomes.append(.settled(snapshot)) }
            }
            let purpose = Waiter.Purpose.token(minimumValidity: nil, isForced: false)
            _ = coordinator.wait(for: purpose, of: account, after: .demand(.tokenNeeded)) { outcomes.append($0) }
        }
        return (try? await outcomes.first("the outcome") { _ in true }) ?? .timedOut
    }

    /// Moves both clocks. The coordinator learns of it only from deadlines that are due.
    func pass(_ time: Duration) async {
        clock.pass(time)
        await coordinator.wake()
    }

    /// Sets the wall clock without telling the coordinator.
    func stepClock(by time: Duration) async {
        clock.step(by: time)
        await coordinator.wake()
    }

    /// Simulates a reboot under the coordinator, after which the wall clock is behind by `time`.
    func reboot(losing time: Duration) async {
        clock.reboot()
        clock.step(by: .zero - time)
        await coordinator.wake()
    }

    /// Moves the store's file away from the coordinator, or puts it back.
    func setStoreIsThere(_ isThere: Bool) throws {
        let (path, aside) = (folder.path + "/accounts.sqlite", folder.path + "/aside")
        try FileManager.default.moveItem(atPath: isThere ? aside : path, toPath: isThere ? path : aside)
    }

    /// Runs `body` on the coordinator's queue, in one turn.
    func inside<Result: Sendable>(
        _ body: @Sendable (isolated RefreshCoordinator) throws -> Result
    ) async rethrows -> Result {
        try await body(coordinator)
    }

    func stop() async {
        await coordinator.shutDown()
        await client.shutdown()
    }

    private static func name(_ text: String) throws -> AccountName {
        guard let name = AccountName(text) else { throw TestFault.unreadable(text) }
        return name
    }
}

/// Runs `body` with a running rig and the account `work`, whose token lives an hour and is due after forty minutes.
func withFreshAccount(
    isClockStopped: Bool = false,
    _ body: (_ rig: CoordinatorRig, _ issuer: DemoIssuer, _ account: AccountID) async throws -> Void
) async throws {
    try await withIssuer { issuer, url in
        let rig = try CoordinatorRig()
        if isClockStopped { try rig.clock.stop() }
        try await rig.start()
        let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
        _ = await rig.waitForToken(of: id)
        try await body(rig, issuer, id)
        await rig.stop()
    }
}

extension StoreKeyring {
    /// A keyring without a Secret Service.
    static func onFiles(in folder: String) -> StoreKeyring {
        StoreKeyring(
            source: StoreKeySource(credentialsDirectory: nil, stateDirectory: folder),
            secretService: SecretServiceKeys(load: { [] }, add: { _, _ in }, removeOthers: { _ in }),
            usesSecretService: false
        )
    }
}

/// Both clocks of the machine, moved ahead by a test.
final class CoordinatorClock: Sendable {
    private struct Ahead {
        var wall = Duration.zero
        var boot = Duration.zero
        var boots: Int64 = 0
        /// The stopped time of the machine's clocks; nil if they run.
        var machine: Moment?
    }

    private let ahead = Mutex(Ahead())

    func pass(_ time: Duration) {
        ahead.withLock { ahead in
            ahead.wall += time
            ahead.boot += time
        }
    }

    /// Stops the clocks. From now on only `pass` and `step` move them.
    func stop() throws {
        let now = try Timebase.system().now()
        ahead.withLock { $0.machine = now }
    }

    func step(by time: Duration) {
        ahead.withLock { $0.wall += time }
    }

    /// Begins another boot. The time stays the same.
    func reboot() {
        ahead.withLock { $0.boots += 1 }
    }

    func timebase() throws -> Timebase {
        let system = try Timebase.system()
        return Timebase(
            now: { [self] in
                let ahead = ahead.withLock { $0 }
                let now = ahead.machine ?? system.now()
                let boot = BootTime(
                    bootID: now.boot.bootID &+ ahead.boots,
                    microseconds: now.boot.microseconds + ahead.boot.microseconds
                )
                return Moment(wall: now.wall + ahead.wall, boot: boot)
            },
            jitter: { 0.5 }
        )
    }
}

/// Collects the log.
struct CollectingLogHandler: LogHandler {
    let log: EventLog<String>
    var logLevel = Logger.Level.debug
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        log.append(([event.message.description] + fields).joined(separator: " "))
    }
}

extension SettingsChange {
    /// An account as its owner would make it.
    init(setting change: @escaping @Sendable (inout Account) -> Void) {
        self.init(byOwner: { account in
            var account = account
            change(&account)
            return account
        })
    }
}
