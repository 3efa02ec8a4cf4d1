internal import AccountStorage
internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import RefreshCore
internal import Systemd
internal import TestSupport
internal import TextEncodings

/// Measures refreshes per second with 64 under way at any time, alternating with libcurl alone against the same
/// server.
extension Workshop {
    private static let concurrency = 64
    /// Few slices, because each needs a second for the daemon to start.
    private static let slices = 3
    /// How long after storing the accounts are due, so that there is time to start the daemon and to subscribe.
    private static let notice = Duration.seconds(3)

    nonisolated func refreshRate() async throws -> [Figure] {
        let issuer = try await LocalIssuer(in: self.folder, tokenLifetime: .seconds(86_400))
        var (ours, floor): ([Double], [Double]) = ([], [])
        for _ in 0..<min(Self.slices, effort.slices) {
            floor.append(try await bareSlice(issuer))
            ours.append(try await daemonSlice(issuer))
        }
        await issuer.shutdown()
        return [
            Figure(
                name: "refresh-rate/throughput",
                value: ours.median,
                unit: .perSecond,
                floor: floor.median,
                limit: .partOfFloor(atLeast: 0.5)
            )
        ]
    }

    private nonisolated func bareSlice(_ issuer: LocalIssuer) async throws -> Double {
        let grants = try await grants(issuer)
        let client = BareClient(for: issuer)
        let from = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<Self.concurrency {
                group.addTask {
                    for index in stride(from: first, to: grants.count, by: Self.concurrency) {
                        try await client.refresh(grants[index].refreshToken)
                    }
                }
            }
            try await group.waitForAll()
        }
        let took = ContinuousClock.now - from
        return Double(grants.count) / (took / .seconds(1))
    }

    private nonisolated func daemonSlice(_ issuer: LocalIssuer) async throws -> Double {
        let grants = try await grants(issuer)
        let stage = try DaemonStage()
        try stage.configure(issuer.configuration(concurrency: Self.concurrency))
        let due = try fill(stage, with: grants, of: issuer)
        // The log gets a line for each refresh. A service writes to journald, which is not measured here.
        let daemon = try stage.spawn(logFile: stage.folder.path + "/log")
        try await daemon.ready()
        try await Self.follow(stage.socket, until: grants.count)
        let took = Timestamp(microseconds: WallClock.now()) - due
        try await daemon.terminate()
        return Double(grants.count) / (took / .seconds(1))
    }

    /// Subscribes, and returns after this many published refreshes.
    private static func follow(_ socket: String, until count: Int) async throws {
        let published = try await onOwnThread {
            var published = 0
            var connection = try VarlinkConnection(path: socket)
            try connection.callMore(Method.subscribe.rawValue, timeoutMilliseconds: 60_000) { reply in
                if reply.parameters["event"]?.string == AccountNews.tokenRefreshed.rawValue { published += 1 }
                return reply.error == nil && published < count
            }
            return published
        }
        guard published == count else {
            throw BenchError.failedToServe("\(published) of \(count) accounts were refreshed")
        }
    }

    private nonisolated func grants(_ issuer: LocalIssuer) async throws -> [IssuedGrant] {
        try await issuer.issuer.issueGrants(count: effort.refreshes, clientID: LocalIssuer.clientID)
    }

    /// Stores an account for each grant.
    ///
    /// - Returns: when all of them are due.
    private nonisolated func fill(
        _ stage: DaemonStage,
        with grants: [IssuedGrant],
        of issuer: LocalIssuer
    ) throws -> Timestamp {
        let bootID = try BootClock.bootID()
        let due = Moment(
            wall: Timestamp(microseconds: WallClock.now()) + Self.notice,
            boot: BootTime(bootID: bootID, microseconds: BootClock.now() + 3_000_000)
        )
        var machine = RefreshMachine(state: .unused, policy: .open)
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: nil)), at: due, jitter: 0.5)
        let identifier = try Issuer(url: issuer.url)
        try FilledStore.fill(stage.stateDirectory, count: grants.count) { number in
            NewAccount(
                Account(
                    name: try FilledStore.accountName(number),
                    issuer: identifier,
                    registration: ClientRegistration(clientID: LocalIssuer.clientID)
                ),
                createdAt: due.wall,
                state: machine.state,
                tokens: StoredTokens(refreshToken: RefreshToken(Secret(grants[number].refreshToken)))
            )
        }
        return due.wall
    }
}
