/// Limits how many tasks run at a time, so that the daemon is observed and not a machine that is too busy.
actor Turnstile {
    private var free: Int
    private var queue: [CheckedContinuation<Void, Never>] = []

    /// - Parameter width: how many tasks may run at a time.
    init(width: Int) {
        free = width
    }

    /// Runs `body` when its turn has come, in the order of arrival.
    nonisolated func pass<Result: Sendable>(_ body: () async throws -> Result) async rethrows -> Result {
        await enter()
        do {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { queue.append($0) }
        }
    }

    private func leave() {
        if queue.isEmpty {
            free += 1
        } else {
            queue.removeFirst().resume()
        }
    }
}
