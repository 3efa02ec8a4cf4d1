internal import Dispatch
internal import RefreshCore
internal import Synchronization

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

extension BlockingCall {
    /// The same, given up after `limit`: nil. The call goes on by itself, and its result is dropped.
    ///
    /// - Parameter queue: by default each has a queue of its own, which ends with it: one that hangs holds up nobody.
    static func result<Value: Sendable>(
        within limit: Duration,
        on queue: DispatchQueue = DispatchQueue(label: "authrefreshd.blocking-limited"),
        of body: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let first = FirstResult(continuation)
            queue.async { first.resume(body()) }
            let deadline = DispatchTime.now() + .microseconds(Int(limit.microseconds))
            DispatchQueue(label: "authrefreshd.blocking-limit").asyncAfter(deadline: deadline) { first.resume(nil) }
        }
    }

    /// Resumes once, with what comes first.
    private final class FirstResult<Value: Sendable>: Sendable {
        private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

        init(_ continuation: CheckedContinuation<Value?, Never>) {
            self.continuation = Mutex(continuation)
        }

        func resume(_ value: Value?) {
            continuation.withLock { $0.take() }?.resume(returning: value)
        }
    }
}

/// Something that belongs to one context, on its way to another: whoever takes it first has it.
final class Disconnected<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value) {
        self.value = Mutex(value)
    }

    /// Nil if it was taken before.
    func take() -> sending Value? {
        value.withLock { $0.take() }
    }
}
