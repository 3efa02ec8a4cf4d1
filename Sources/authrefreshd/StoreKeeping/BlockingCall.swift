internal import Dispatch
internal import RefreshCore
internal import Synchronization

/// Runs a blocking call on a thread that nobody else waits for, one at a time.
enum BlockingCall {
    /// This is not a global queue, because once a global queue has been used, libdispatch wakes an idle daemon every
    /// second.
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

extension BlockingCall {
    /// Runs a blocking call and gives up after `limit`, with nil. The call itself continues, and its result is dropped.
    ///
    /// - Parameter queue: by default a new queue for each call, so that a call that hangs delays nobody.
    static func result<Value: Sendable>(
        within limit: Duration,
        on queue: DispatchQueue = DispatchQueue(label: "authrefreshd.blocking-limited"),
        of body: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            // The first one to take it resumes.
            let waiting = Disconnected(continuation)
            queue.async {
                let value = body()
                waiting.take()?.resume(returning: value)
            }
            let deadline = DispatchTime.now() + .microseconds(Int(limit.microseconds))
            DispatchQueue(label: "authrefreshd.blocking-limit").asyncAfter(deadline: deadline) {
                waiting.take()?.resume(returning: nil)
            }
        }
    }
}

/// A value of one context on its way to another. The first one to take it gets it.
final class Disconnected<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value) {
        self.value = Mutex(value)
    }

    /// Takes the value; nil if it was taken before.
    func take() -> sending Value? {
        value.withLock { $0.take() }
    }
}
