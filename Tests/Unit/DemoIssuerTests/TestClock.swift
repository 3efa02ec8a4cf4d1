import Synchronization

/// A clock that a test moves.
final class TestClock: Sendable {
    private let time = Mutex(Duration.seconds(1_000_000))

    var now: Duration { time.withLock { $0 } }

    func pass(_ duration: Duration) {
        time.withLock { $0 += duration }
    }
}
