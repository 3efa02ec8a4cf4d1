internal import Dispatch
internal import Synchronization

/// Work that may block for ever, such as reading a file on a network mount whose server is gone.
///
/// Each piece runs on a thread of its own. Nobody waits for it longer than the time limit. Nothing can end a piece that hangs: it keeps
/// its thread until the kernel lets go of it. Until then everybody who asks for the same piece is told at once that it hangs. Only so many
/// pieces run at the same time; the others wait for their turn, which counts as part of their time. So what hangs costs those who need
/// it, and nobody else.
package final class BlockingWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Called with the value; nil if the piece hangs, or so many others do that it had no turn.
    package typealias Answer = @Sendable (Value?) -> Void

    private enum Piece {
        case awaited(number: Int, [Answer])
        /// It did not end in time, and everybody was told so.
        case hanging
    }

    private struct State {
        var pieces: [Key: Piece] = [:]
        var lastNumber = 0
        var running = 0
        /// Those that wait for their turn, the next one first.
        var turns: [(key: Key, number: Int, body: @Sendable () -> Value)] = []
    }

    private let label: String
    private let timeLimit: Duration
    private let piecesMax: Int
    private let state = Mutex(State())
    /// Where time limits are kept.
    private let clock: DispatchQueue

    /// - Parameters:
    ///   - label: names the threads' queues.
    ///   - timeLimit: how long a piece is waited for.
    ///   - piecesMax: how many run at the same time. Dispatch has 255 threads for the queues of the whole process.
    package init(_ label: String, timeLimit: Duration, piecesMax: Int) {
        self.label = label
        self.timeLimit = timeLimit
        self.piecesMax = piecesMax
        clock = DispatchQueue(label: label + ".limit")
    }

    /// Has `body` done on a thread of its own, unless the same is under way: then both get its value.
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

    /// Begins the next piece, if there is one and it may run.
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

    /// The same for tasks.
    package func value(_ key: Key, _ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            run(key, body) { continuation.resume(returning: $0) }
        }
    }

    /// The piece has taken too long.
    ///
    /// - Returns: who waited for it.
    private func overdue(_ key: Key, _ number: Int) -> [Answer] {
        state.withLock { state in
            // The piece may have ended just now, and another one have begun.
            guard case .awaited(number, let answers) = state.pieces[key] else { return [] }
            if let turn = state.turns.firstIndex(where: { $0.number == number }) {
                // Its own body does not hang, as far as is known.
                state.turns.remove(at: turn)
                state.pieces[key] = nil
            } else {
                state.pieces[key] = .hanging
            }
            return answers
        }
    }

    /// - Returns: who still waited for the piece.
    private func ended(_ key: Key) -> [Answer] {
        state.withLock { state in
            state.running -= 1
            guard case .awaited(_, let answers) = state.pieces.removeValue(forKey: key) else { return [] }
            return answers
        }
    }
}

extension Duration {
    /// Rounded down to whole microseconds.
    fileprivate var dispatchInterval: DispatchTimeInterval {
        .microseconds(Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000))
    }
}
