internal import AuthRefreshInterface

/// How fast each process may make calls that write a line or a row, or that ask a server of the caller's choice.
///
/// Reading, and tokens, cost nothing. A process that is too fast waits; nobody else does. Without this, a program that
/// renames an account in a loop would write 2,000 lines a second, and journald drops all lines of a service that writes
/// 10,000 in 30 s.
struct CallPace {
    /// How many calls a process may make at once. That is more accounts than people set up with one command.
    static let burst = 500
    /// How many more it may make each second. One program writes at most a third of the lines that journald takes.
    static let perSecond = 100
    /// How many calls of one process may wait for their turn. That is more than it may have connections, so only a
    /// program that leaves without waiting for its replies reaches this.
    static let waitingMax = 500
    /// What a question to a server costs. With it, a caller can make the daemon look at any host: 10 at once, and then
    /// two a second.
    static let costOfQuestion = 50

    /// When each process has its whole burst again. One without an entry has it.
    private var restored: [Int32: ContinuousClock.Instant] = [:]

    /// How many processes are remembered.
    var count: Int { restored.count }

    /// Counts a call of `process`.
    ///
    /// - Returns: how long the call has to wait; nil if too many of its calls wait already, and this one is not counted.
    mutating func wait(for cost: Int, by process: Int32, at now: ContinuousClock.Instant = .now) -> Duration? {
        guard cost > 0 else { return .zero }
        if restored.count > 1000 { restored = restored.filter { $0.value > now } }
        let restored = max(restored[process] ?? now, now) + Self.time(for: cost)
        let wait = now.duration(to: restored) - Self.time(for: Self.burst)
        guard wait <= Self.time(for: Self.waitingMax) else { return nil }
        self.restored[process] = restored
        return max(wait, .zero)
    }

    private static func time(for calls: Int) -> Duration {
        Duration.seconds(1) * calls / perSecond
    }
}

extension Method {
    /// What a call costs its process.
    var cost: Int {
        switch rules.cost {
        case .nothing: 0
        case .change: 1
        case .changes: CallPace.burst
        case .question: CallPace.costOfQuestion
        }
    }
}
