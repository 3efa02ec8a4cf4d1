internal import Synchronization

/// How many lines are written on each subject: so many in each stretch of time; the others are counted, and their number is told with the
/// next line, whatever that is on.
///
/// journald drops what a service says too fast (journald.conf(5), `RateLimitBurst=`): without this, a program that is refused again and
/// again would have it drop what the daemon says of its accounts. A subject has a share of its own, so that who uses it up hides nothing
/// of the others.
final class LineBudget<Subject: Hashable & Sendable>: Sendable {
    private struct State {
        var began: ContinuousClock.Instant?
        /// Lines in this stretch; nil is the share of the subjects that came when enough others had one.
        var written: [Subject?: Int] = [:]
        var leftOut = 0
    }

    private let linesMax: Int
    private let subjectsMax: Int
    private let stretch: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - linesMax: how many lines each stretch takes on one subject.
    ///   - subjectsMax: how many subjects have a share of their own in a stretch; those that come later have one together.
    ///   - stretch: how long one is, the same one for all; it begins with its first line.
    init(linesMax: Int, subjectsMax: Int, stretch: Duration) {
        self.linesMax = linesMax
        self.subjectsMax = subjectsMax
        self.stretch = stretch
    }

    /// Takes one line on `subject`, or counts it.
    ///
    /// - Returns: how many lines, on whatever subject, were left out since the last one; nil if this one is left out, too.
    func spend(on subject: Subject, at now: ContinuousClock.Instant = .now) -> Int? {
        state.withLock { state in
            if state.began.map({ now - $0 >= stretch }) ?? true {
                state.began = now
                state.written.removeAll()
            }
            let hasShare = state.written[subject] != nil || state.written.count < subjectsMax
            let share = hasShare ? subject : nil
            guard state.written[share, default: 0] < linesMax else {
                state.leftOut += 1
                return nil
            }
            state.written[share, default: 0] += 1
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
