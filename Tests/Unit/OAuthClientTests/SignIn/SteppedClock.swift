import Synchronization

/// A monotonic clock that a test moves.
final class SteppedClock: Sendable {
    private let offset = Mutex(Duration.zero)

    var now: ContinuousClock.Instant { ContinuousClock.now + offset.withLock { $0 } }
    var isStepped: Bool { offset.withLock { $0 > .zero } }

    func step(by duration: Duration) { offset.withLock { $0 += duration } }
}
