import CLinux
import Dispatch
import Glibc
import Synchronization

/// The one thread on which exchanges with servers run, and everything that waits for them.
///
/// An answer is read, judged and passed on where it arrives, without a change of threads. Code on it must not block.
package final class ExchangeThread: SerialExecutor, TaskExecutor {
    /// The owner's work in each turn. It sleeps until something happens on a connection, the bell rings, or its next
    /// time limit is over.
    typealias Turn = @Sendable (_ maySleep: Bool) -> Void

    private struct Mailbox {
        var jobs: [@Sendable () -> Void] = []
        /// Whether the thread sleeps and must be woken for a new job.
        var isAsleep = false
        var isEnding = false
        /// Whether the thread runs no job any more.
        var hasEnded = false
    }

    /// Runs what is left to do for tasks after the thread has ended.
    private static let afterwards = DispatchQueue(label: "authrefreshd.exchanges-ended")

    private let mailbox = Mutex(Mailbox())
    /// The thread that runs the jobs, as pthread_self(3) returns it; 0 before it runs.
    private let thread = Atomic<UInt>(0)
    /// An eventfd(2) that ends the sleep.
    let bell: Int32

    init() {
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    deinit {
        close(bell)
    }

    /// Runs `work` on the thread after all earlier jobs.
    package func execute(_ work: @escaping @Sendable () -> Void) {
        let (isAsleep, hasEnded) = mailbox.withLock { mailbox in
            if !mailbox.hasEnded { mailbox.jobs.append(work) }
            defer { mailbox.isAsleep = false }
            return (mailbox.isAsleep, mailbox.hasEnded)
        }
        if hasEnded {
            Self.afterwards.async { [self] in
                thread.store(pthread_self(), ordering: .relaxed)
                work()
            }
        }
        if isAsleep { eventfd_write(bell, 1) }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        execute { [unowned self] in
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(),
                taskExecutor: asUnownedTaskExecutor()
            )
        }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        precondition(thread.load(ordering: .relaxed) == pthread_self(), "not on the thread of the exchanges")
    }

    /// Ends the thread after the jobs that were requested before.
    func end() {
        mailbox.withLock { $0.isEnding = true }
        eventfd_write(bell, 1)
    }

    /// Starts the thread, which calls `turn` until it ends.
    ///
    /// A process that cannot have one thread more cannot run the daemon.
    func begin(_ turn: @escaping Turn) {
        let start = ThreadStart { [self] in run(turn) }
        let context = unsafe Unmanaged.passRetained(start)
        var identifier = pthread_t()
        let status = unsafe pthread_create(
            &identifier,
            nil,
            { context in unsafe ThreadStart.run(context) },
            context.toOpaque()
        )
        precondition(status == 0, "there is a thread for the exchanges")
        pthread_detach(identifier)
    }

    private func run(_ turn: Turn) {
        thread.store(pthread_self(), ordering: .relaxed)
        while true {
            let (jobs, hasEnded) = takeJobs()
            for job in jobs { job() }
            if hasEnded { return }
            turn(jobs.isEmpty)
            var rings = eventfd_t()
            unsafe eventfd_read(bell, &rings)
        }
    }

    /// Takes the waiting jobs. If there are none, marks the thread as asleep.
    private func takeJobs() -> (jobs: [@Sendable () -> Void], hasEnded: Bool) {
        mailbox.withLock { mailbox in
            let jobs = mailbox.jobs
            mailbox.jobs = []
            mailbox.hasEnded = mailbox.isEnding && jobs.isEmpty
            mailbox.isAsleep = jobs.isEmpty && !mailbox.hasEnded
            return (jobs, mailbox.hasEnded)
        }
    }
}

/// The work of a new thread, to pass through pthread_create(3).
private final class ThreadStart: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue().body()
        return nil
    }
}
