import Foundation

/// Runs `body`, which blocks, on a thread of its own: the pool that runs tests has but one thread for each core.
package func onOwnThread<Success: Sendable>(
    _ body: @escaping @Sendable () throws -> Success
) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Result(catching: body)) }
    }
}

/// Starts a thread that nobody waits for.
package func startThread(_ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    // The default of 8 MiB would be address space only, but a thousand callers are a thousand threads.
    thread.stackSize = 512 << 10
    thread.start()
}
