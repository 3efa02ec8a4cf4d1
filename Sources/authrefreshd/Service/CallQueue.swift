internal import Synchronization

/// Calls that wait for the coordinator. Processes take turns: one that has hundreds of calls waiting holds up the others by one of them.
final class CallQueue<Call: Sendable>: Sendable {
    private struct State {
        /// By the process that connected, in the order of arrival; no entry is empty.
        var calls: [Int32: [Call]] = [:]
        /// The processes that have calls waiting, the next one first.
        var turns: [Int32] = []
        var isServed = false
    }

    private let state = Mutex(State())

    /// - Returns: whether nobody serves the queue: whoever adds the call has to begin then.
    func add(_ call: Call, of process: Int32) -> Bool {
        state.withLock { state in
            if state.calls[process] == nil { state.turns.append(process) }
            state.calls[process, default: []].append(call)
            defer { state.isServed = true }
            return !state.isServed
        }
    }

    /// The call that is to be answered now; nil if there is none left, and nobody needs to serve the queue until the next comes.
    func next() -> Call? {
        state.withLock { state in
            guard let process = state.turns.first, var calls = state.calls.removeValue(forKey: process) else {
                state.isServed = false
                return nil
            }
            state.turns.removeFirst()
            let call = calls.removeFirst()
            guard !calls.isEmpty else { return call }
            state.calls[process] = calls
            state.turns.append(process)
            return call
        }
    }
}
