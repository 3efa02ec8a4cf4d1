internal import Dispatch

/// Runs an actor on a serial Dispatch queue, so that Dispatch handlers on that queue can enter the actor without a
/// switch.
///
/// On other platforms, `DispatchSerialQueue` is itself an executor. It does not exist on Linux.
final class DispatchQueueExecutor: SerialExecutor {
    let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            unsafe job.runSynchronously(on: self.asUnownedSerialExecutor())
        }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}

extension DispatchQueue {
    /// Returns when this serial queue has done its earlier work, or after `limit`.
    func drain(within limit: Duration) async {
        _ = await BlockingCall.result(within: limit, on: self) {}
    }
}
