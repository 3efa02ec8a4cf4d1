internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import Synchronization
internal import TestSupport

/// A real daemon and a server in virtual time, which passes as soon as they have done what is due.
final class VirtualDaemon: Sendable {
    private struct Time {
        /// The virtual time that has passed in addition to the machine's.
        var elapsed = Duration.zero
        /// The part of it in which the machine slept.
        var slept = Duration.zero
        /// The error of the daemon's wall clock.
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
    /// The longest duration of an attempt, in µs.
    private static let lease: Int64 = 45_000_000

    private let clock: ShiftedClock
    private let changes: LastChanges
    private let time: VirtualTime

    /// The clock of the server.
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

    /// The virtual time since the start.
    var elapsed: Duration { time.state.withLock { $0.elapsed } }

    /// Lets the machine sleep.
    func sleep(for duration: Duration) async throws {
        try await move { time in
            time.elapsed += duration
            time.slept += duration
        }
    }

    /// Makes the wall clock wrong by `error`.
    func setClock(wrongBy error: Duration) async throws {
        try await move { $0.error = error }
    }

    /// Lets `duration` pass, from deadline to deadline.
    ///
    /// - Throws: `timedOut` if the daemon does not finish what is due.
    func pass(_ duration: Duration) async throws {
        let end = elapsed + duration
        while elapsed < end {
            let rest = end - elapsed
            let wait = try await settled().map { min($0, rest) } ?? rest
            try await move { $0.elapsed += max(wait, .milliseconds(1)) }
        }
        _ = try await settled()
    }

    /// The time until the next deadline, once nothing is in flight and nothing is due; nil if there is none.
    private func settled() async throws -> Duration? {
        let end = ContinuousClock.now + .patience
        var statuses: [AccountStatus] = []
        while ContinuousClock.now < end {
            statuses = try await stage.statuses()
            let now = time.now
            let next = statuses.compactMap(\.nextAttemptAtUSec).min()
            let isIdle = statuses.allSatisfy(isIdle)
            guard isIdle, next.map({ $0 > now }) ?? true else {
                // The states are needed here. A subscriber would learn of the refresh, but not of the next deadline.
                try await Task.sleep(for: .milliseconds(1))
                continue
            }
            return next.map { .microseconds($0 - now) }
        }
        let left = statuses.map { "\($0.account) \($0.state) \($0.nextAttemptAtUSec ?? 0)" }
        throw TestFault.timedOut(waitingFor: "what is due at \(time.now): \(left.joined(separator: ", "))")
    }

    /// Whether no request for the account is in flight. An account that tries again is shown as retrying, as between
    /// attempts. But its next time is then the end of its lease, and its last change is the beginning of the attempt.
    private func isIdle(_ status: AccountStatus) -> Bool {
        guard status.state == "retrying" else { return status.state != "refreshing" }
        guard let told = changes[status.account], let next = status.nextAttemptAtUSec else { return false }
        if told.nextAttemptAt == next { return told.event != "refresh-started" }
        // A step of the clock has moved it, which subscribers are not told; or the change comes in a moment.
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
