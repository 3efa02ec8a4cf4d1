internal import Dispatch

/// Runs a call that blocks on a thread that nobody else waits for; one at a time.
enum BlockingCall {
    /// Not a global queue: using one once has libdispatch wake an idle daemon every second for the rest of its life.
    private static let queue = DispatchQueue(label: "authrefreshd.blocking")

    static func result<Value: Sendable, Failure: Error>(
        of body: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result(catching: body))
            }
        }
    }
}
