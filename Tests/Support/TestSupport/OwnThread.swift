import Foundation

/// Runs `body`, which blocks, on a thread of its own. The pool that runs the tests has only one thread for each core.
package func onOwnThread<Success: Sendable>(
    _ body: @escaping @Sendable () throws -> Success
) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Result(catching: body)) }
    }
}

/// Starts a thread without waiting for it.
package func startThread(_ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    // A thousand callers are a thousand threads. The default of 8 MiB would cost only address space, but 512 KiB are
    // enough.
    thread.stackSize = 512 << 10
    thread.start()
}
