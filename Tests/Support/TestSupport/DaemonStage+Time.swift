package import AuthRefreshInterface
import Foundation

/// Time that passes for the daemons of a stage with clocks of its own, and for nothing else.
///
/// Whatever a daemon does in the machine's time, a test that only lets time pass in this way finds the same states on
/// every machine.
extension DaemonStage {
    /// The daemons' wall clock, in µs since 1970.
    package var nowUSec: Int64 { Int64(Date.now.timeIntervalSince1970 * 1e6) + elapsed.microseconds }

    /// The daemons' wall clock for an issuer, as the time since 1970.
    package var now: @Sendable () -> Duration {
        { [self] in .microseconds(nowUSec) }
    }

    /// Moves all clocks of the running daemon ahead. When it returns, the timers that are due have fired.
    package func pass(_ time: Duration) async throws {
        try await clock.move(to: ShiftedClock.Shift() + advance(by: time))
    }

    /// Lets time pass while no daemon runs. The next one starts that much later.
    package func passWithoutDaemon(_ time: Duration) {
        _ = advance(by: time)
    }

    /// Lets time pass until a moment just after `microseconds` since 1970.
    package func pass(until microseconds: Int64?) async throws {
        try await pass(.microseconds(max(0, (microseconds ?? 0) - nowUSec) + 1_000))
    }

    /// Lets time pass until the account's next attempt is due. Call it when no attempt is under way.
    package func passToNextAttempt(of account: String) async throws {
        let status = try await status(account)
        guard let due = status.nextAttemptAtUSec else { throw TestFault.unreadable("no attempt is due: \(status)") }
        try await pass(until: due)
    }

    /// Lets time pass from attempt to attempt of the account until one ends with `event`.
    ///
    /// - Parameter index: the number of changes before the first of these attempts.
    @discardableResult package func passAttempts(
        of account: String,
        until event: String,
        _ feed: ChangeFeed,
        from index: Int
    ) async throws -> Subscribe.Reply {
        let ends: Set = ["refresh-failed", "token-refreshed", "interaction-required", "misconfigured"]
        var index = index
        while true {
            try await passToNextAttempt(of: account)
            let isEnd: @Sendable (Subscribe.Reply) -> Bool = { $0.account == account && ends.contains($0.event) }
            let change = try await feed.changes.first("an attempt of \(account)", from: index, where: isEnd)
            if change.event == event { return change }
            index = (feed.changes.all.dropFirst(index).firstIndex(where: isEnd) ?? index) + 1
        }
    }
}

extension Duration {
    /// Whole microseconds.
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
