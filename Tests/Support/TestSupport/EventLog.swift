import Synchronization

/// Events in their order. Threads write them, and tests wait for them.
package final class EventLog<Element: Sendable>: Sendable {
    private struct Waiter {
        let number: Int
        let predicate: @Sendable (Element) -> Bool
        let continuation: CheckedContinuation<Result<Element, TestFault>, Never>
        let what: String
    }

    private struct State {
        var elements: [Element] = []
        var waiters: [Waiter] = []
        var lastWaiter = 0
        /// Waiters that were cancelled before they had begun.
        var calledOff: Set<Int> = []
        var isEnded = false
    }

    private let state = Mutex(State())

    package init() {}

    /// All events so far.
    package var all: [Element] { state.withLock { $0.elements } }
    package var count: Int { state.withLock { $0.elements.count } }

    package func append(_ element: Element) {
        let satisfied = state.withLock { state in
            state.elements.append(element)
            let satisfied = state.waiters.filter { $0.predicate(element) }
            state.waiters.removeAll { $0.predicate(element) }
            return satisfied
        }
        for waiter in satisfied { waiter.continuation.resume(returning: .success(element)) }
    }

    /// Says that no more events will come, and ends all waits.
    package func end() {
        let left = state.withLock { state in
            defer { state.waiters = [] }
            state.isEnded = true
            return state.waiters
        }
        for waiter in left { waiter.continuation.resume(returning: .failure(.ended(waitingFor: waiter.what))) }
    }

    /// The first element from `index` on that satisfies `predicate`, whether it is there already or comes later.
    ///
    /// - Parameter what: what is awaited, for the error.
    /// - Throws: `timedOut` if none came within `limit`, or the task was cancelled; `ended` if none can come.
    @discardableResult package func first(
        _ what: String,
        from index: Int = 0,
        within limit: Duration = .patience,
        where predicate: @escaping @Sendable (Element) -> Bool
    ) async throws(TestFault) -> Element {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let alarm = Task {
            // This task only enforces the limit. It is cancelled as soon as the event comes.
            try await Task.sleep(for: limit)
            expire(number)
        }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(number: number, predicate: predicate, continuation: continuation, what: what)
                let known = enter(waiter, from: index)
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            expire(number)
        }.get()
    }

    /// Registers a waiter, unless its result is known already.
    private func enter(_ waiter: Waiter, from index: Int) -> Result<Element, TestFault>? {
        state.withLock { state in
            if let past = state.elements.dropFirst(index).first(where: waiter.predicate) { return .success(past) }
            if state.calledOff.remove(waiter.number) != nil { return .failure(.timedOut(waitingFor: waiter.what)) }
            if state.isEnded { return .failure(.ended(waitingFor: waiter.what)) }
            state.waiters.append(waiter)
            return nil
        }
    }

    private func expire(_ number: Int) {
        let late = state.withLock { state in
            let late = state.waiters.first { $0.number == number }
            state.waiters.removeAll { $0.number == number }
            if late == nil { state.calledOff.insert(number) }
            return late
        }
        late?.continuation.resume(returning: .failure(.timedOut(waitingFor: late?.what ?? "")))
    }
}
