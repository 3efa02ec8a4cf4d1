internal import Synchronization

/// Asks every loop of the daemon a question, and says so when all have answered: then each of them turns.
///
/// The question waits in each loop behind whatever the loop does. A loop that hangs never answers, and is not asked again.
final class Watchdog: Sendable {
    /// Has `answer` called on the loop, behind everything that it was asked for before.
    typealias Loop = @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void

    private struct State {
        var loops: [Loop]
        /// How many have not answered the last question.
        var unanswered = 0
    }

    private let state: Mutex<State>
    private let allTurn: @Sendable () -> Void

    /// - Parameter allTurn: called on the loop that answers last.
    init(_ loops: [Loop], allTurn: @escaping @Sendable () -> Void) {
        state = Mutex(State(loops: loops))
        self.allTurn = allTurn
    }

    /// Asks this loop, too, from the next question on.
    func watch(_ loop: @escaping Loop) {
        state.withLock { $0.loops.append(loop) }
    }

    /// Asks all loops, unless one of them still owes an answer.
    func ask() {
        let loops = state.withLock { state -> [Loop] in
            guard state.unanswered == 0 else { return [] }
            state.unanswered = state.loops.count
            return state.loops
        }
        for loop in loops { loop { self.answered() } }
    }

    private func answered() {
        let isLast = state.withLock { state in
            state.unanswered -= 1
            return state.unanswered == 0
        }
        if isLast { allTurn() }
    }
}
