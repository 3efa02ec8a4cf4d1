internal import Synchronization

/// How many lines of one kind are written: so many in each stretch of time; the others are counted, and told of with the next.
///
/// journald drops what a service says too fast (journald.conf(5), `RateLimitBurst=`): without this, a program that is refused again and
/// again would have it drop what the daemon says of its accounts.
final class LineBudget: Sendable {
    private struct State {
        var began: ContinuousClock.Instant?
        var written = 0
        var leftOut = 0
    }

    private let linesMax: Int
    private let stretch: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - linesMax: how many lines each stretch takes.
    ///   - stretch: how long one is; it begins with its first line.
    init(linesMax: Int, stretch: Duration) {
        self.linesMax = linesMax
        self.stretch = stretch
    }

    /// Takes one line, or counts it.
    ///
    /// - Returns: how many lines were left out before this one; nil if this one is left out, too.
    func spend(at now: ContinuousClock.Instant = .now) -> Int? {
        state.withLock { state in
            if state.began.map({ now - $0 >= stretch }) ?? true {
                state.began = now
                state.written = 0
            }
            guard state.written < linesMax else {
                state.leftOut += 1
                return nil
            }
            state.written += 1
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
