internal import Dispatch

/// Runs an actor on a serial Dispatch queue, so that Dispatch handlers on that queue may enter it without a hop.
///
/// `DispatchSerialQueue`, which is an executor by itself elsewhere, does not exist on Linux.
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
    /// Returns when this serial queue has done what it was given until now, or when `limit` is over.
    func drain(within limit: Duration) async {
        _ = await BlockingCall.result(within: limit, on: self) {}
    }
}
