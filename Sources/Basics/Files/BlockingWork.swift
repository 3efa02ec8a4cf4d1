internal import Dispatch
internal import Synchronization

/// Runs work that may block forever, such as reading a file on a network mount whose server is gone.
///
/// Each piece of work runs on its own thread, and callers wait for it no longer than the time limit. Nothing can stop a
/// piece that hangs: it keeps its thread until the kernel lets it continue. Until then, everybody who asks for the same
/// piece is told at once that it hangs. Only a limited number of pieces run at the same time. The others wait for their
/// turn, which counts as part of their time. So work that hangs affects only those who need it.
package final class BlockingWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Called with the value; nil if the piece hangs, or if it had no turn because too many others hang.
    package typealias Answer = @Sendable (Value?) -> Void

    private enum Piece {
        case awaited(number: Int, [Answer])
        /// It did not end in time, and all callers were told so.
        case hanging
    }

    private struct State {
        var pieces: [Key: Piece] = [:]
        var lastNumber = 0
        var running = 0
        /// The pieces that wait for their turn; the next one is first.
        var turns: [(key: Key, number: Int, body: @Sendable () -> Value)] = []
    }

    private let label: String
    private let timeLimit: Duration
    private let piecesMax: Int
    private let state = Mutex(State())
    /// The queue of the timers.
    private let clock: DispatchQueue

    /// Creates the threads' limits.
    ///
    /// - Parameters:
    ///   - label: the name of the threads' queues.
    ///   - timeLimit: how long callers wait for a piece.
    ///   - piecesMax: how many pieces run at the same time. Dispatch has 255 threads for the queues of the whole
    ///     process.
    package init(_ label: String, timeLimit: Duration, piecesMax: Int) {
        self.label = label
        self.timeLimit = timeLimit
        self.piecesMax = piecesMax
        clock = DispatchQueue(label: label + ".limit")
    }

    /// Runs `body` on its own thread. If a piece with the same key is under way, both callers get its value.
    ///
    /// - Parameter answer: called once, on any thread.
    package func run(_ key: Key, _ body: @escaping @Sendable () -> Value, then answer: @escaping Answer) {
        let (number, isHanging) = state.withLock { state -> (Int?, Bool) in
            switch state.pieces[key] {
            case .hanging: return (nil, true)
            case .awaited(let number, let others):
                state.pieces[key] = .awaited(number: number, others + [answer])
                return (nil, false)
            case nil:
                state.lastNumber += 1
                state.pieces[key] = .awaited(number: state.lastNumber, [answer])
                state.turns.append((key, state.lastNumber, body))
                return (state.lastNumber, false)
            }
        }
        if isHanging { return answer(nil) }
        guard let number else { return }
        clock.asyncAfter(deadline: .now() + timeLimit.dispatchInterval) { [self] in
            for answer in overdue(key, number) { answer(nil) }
        }
        runNext()
    }

    /// Starts the next waiting piece, if it may run.
    private func runNext() {
        let next = state.withLock { state -> (key: Key, number: Int, body: @Sendable () -> Value)? in
            guard state.running < piecesMax, !state.turns.isEmpty else { return nil }
            state.running += 1
            return state.turns.removeFirst()
        }
        guard let next else { return }
        DispatchQueue(label: label).async { [self] in
            let value = next.body()
            for answer in ended(next.key) { answer(value) }
            runNext()
        }
    }

    /// Like `run`, for tasks.
    package func value(_ key: Key, _ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            run(key, body) { continuation.resume(returning: $0) }
        }
    }

    /// Handles a piece that has taken too long.
    ///
    /// - Returns: its waiting callers.
    private func overdue(_ key: Key, _ number: Int) -> [Answer] {
        state.withLock { state in
            // The piece may have ended just now, and a new one may have begun.
            guard case .awaited(number, let answers) = state.pieces[key] else { return [] }
            if let turn = state.turns.firstIndex(where: { $0.number == number }) {
                // It had no turn yet, so its own body does not hang as far as we know.
                state.turns.remove(at: turn)
                state.pieces[key] = nil
            } else {
                state.pieces[key] = .hanging
            }
            return answers
        }
    }

    /// Handles a piece that has ended.
    ///
    /// - Returns: its waiting callers.
    private func ended(_ key: Key) -> [Answer] {
        state.withLock { state in
            state.running -= 1
            guard case .awaited(_, let answers) = state.pieces.removeValue(forKey: key) else { return [] }
            return answers
        }
    }
}

extension Duration {
    /// The duration, rounded down to whole microseconds.
    fileprivate var dispatchInterval: DispatchTimeInterval {
        .microseconds(Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000))
    }
}
