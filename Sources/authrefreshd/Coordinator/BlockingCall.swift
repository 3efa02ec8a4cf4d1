internal import Dispatch

/// Runs a call that blocks on a thread that nobody else waits for.
enum BlockingCall {
    static func result<Value: Sendable, Failure: Error>(
        of body: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                continuation.resume(returning: Result(catching: body))
            }
        }
    }
}
