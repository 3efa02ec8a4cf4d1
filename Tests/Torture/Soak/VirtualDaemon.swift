internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import Synchronization
internal import TestSupport

/// A real daemon, and a server, for whom time passes as fast as they have done what is to be done in it.
final class VirtualDaemon: Sendable {
    private struct Time {
        /// Beyond the machine's own.
        var elapsed = Duration.zero
        /// Of it, asleep.
        var slept = Duration.zero
        /// How wrong the daemon's wall clock is.
        var error = Duration.zero

        var shift: ShiftedClock.Shift {
            ShiftedClock.Shift(wall: elapsed + error, boot: elapsed, monotonic: elapsed - slept)
        }
    }

    let stage: DaemonStage
    let issuer: DemoIssuer
    let url: String
    let daemon: DaemonProcess
    let logFile: String
    /// How long an attempt may take, µs.
    private static let lease: Int64 = 45_000_000

    private let clock: ShiftedClock
    private let changes: LastChanges
    private let time: VirtualTime

    /// What the server tells the time by.
    private final class VirtualTime: Sendable {
        let state = Mutex(Time())

        /// The daemon's wall clock, in µs since 1970.
        var now: Int64 { Duration.nowUSec + state.withLock { ($0.elapsed + $0.error).wholeMicroseconds } }
    }

    init(tokenLifetime: Duration) async throws {
        stage = try DaemonStage()
        clock = ShiftedClock(in: stage.folder)
        let time = VirtualTime()
        self.time = time
        var configuration = IssuerConfiguration(
            clients: [DemoClient(id: "app")],
            policy: GrantPolicy(accessTokenLifetime: tokenLifetime)
        )
        configuration.now = { .microseconds(Duration.nowUSec) + time.state.withLock { $0.elapsed } }
        issuer = DemoIssuer(configuration: configuration)
        url = try await issuer.start()
        logFile = stage.folder.path + "/log"
        daemon = try stage.spawn(environment: clock.environment(), logFile: logFile)
        try await daemon.ready()
        changes = LastChanges(stage)
    }

    func stop() async throws {
        try await daemon.terminate()
        await issuer.shutdown()
    }

    /// Since the start, of virtual time.
    var elapsed: Duration { time.state.withLock { $0.elapsed } }

    /// Lets the machine sleep.
    func sleep(for duration: Duration) async throws {
        try await move { time in
            time.elapsed += duration
            time.slept += duration
        }
    }

    /// Makes the wall clock wrong by this much.
    func setClock(wrongBy error: Duration) async throws {
        try await move { $0.error = error }
    }

    /// Lets `duration` pass, from deadline to deadline.
    ///
    /// - Throws: `timedOut` if the daemon does not do within a minute what is due.
    func pass(_ duration: Duration) async throws {
        let end = elapsed + duration
        while elapsed < end {
            let rest = end - elapsed
            let wait = try await settled().map { min($0, rest) } ?? rest
            try await move { $0.elapsed += max(wait, .milliseconds(1)) }
        }
        _ = try await settled()
    }

    /// How long it is to the next deadline, once nothing is under way and nothing is due; nil if there is none.
    private func settled() async throws -> Duration? {
        let end = ContinuousClock.now + .seconds(60)
        var statuses: [AccountStatus] = []
        while ContinuousClock.now < end {
            statuses = try await stage.statuses()
            let now = time.now
            let next = statuses.compactMap(\.nextAttemptAtUSec).min()
            let isIdle = statuses.allSatisfy(isIdle)
            guard isIdle, next.map({ $0 > now }) ?? true else {
                // The states are what tells: a subscriber would hear of the refresh, and not of what is due next.
                try await Task.sleep(for: .milliseconds(1))
                continue
            }
            return next.map { .microseconds($0 - now) }
        }
        let left = statuses.map { "\($0.account) \($0.state) \($0.nextAttemptAtUSec ?? 0)" }
        throw TestFault.timedOut(waitingFor: "what is due at \(time.now): \(left.joined(separator: ", "))")
    }

    /// Whether no request for it is under way. One that tries again is shown as retrying, as between its attempts: what it waits for is
    /// then the end of its lease, and the last that was told of it is the attempt's beginning.
    private func isIdle(_ status: AccountStatus) -> Bool {
        guard status.state == "retrying" else { return status.state != "refreshing" }
        guard let told = changes[status.account], let next = status.nextAttemptAtUSec else { return false }
        if told.nextAttemptAt == next { return told.event != "refresh-started" }
        // Moved by a step of the clock, of which subscribers are not told; or told in a moment.
        return next - time.now > Self.lease
    }

    private func move(_ change: (inout Time) -> Void) async throws {
        let shift = time.state.withLock { time in
            change(&time)
            return time.shift
        }
        try await clock.move(to: shift)
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
