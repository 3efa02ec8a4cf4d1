import NIOCore

/// Runs tasks on one event loop: a task that waits for what happens there goes on without a change of threads.
///
/// What runs on it must not block, and holds up the loop's connections for as long as it computes.
package final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

extension OAuthClient {
    /// The loops that connections live on: each has `body` called on its thread, behind what it does.
    package var loops: [@Sendable (_ body: @escaping @Sendable () -> Void) -> Void] {
        configuration.eventLoopGroup.makeIterator().map { loop in { loop.execute($0) } }
    }
}
