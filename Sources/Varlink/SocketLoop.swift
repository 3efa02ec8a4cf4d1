internal import Glibc
internal import Synchronization

internal import CLinux

/// A thread that waits for sockets and also runs jobs from other threads. The server's actor runs on it.
///
/// It is our own loop because each switch of threads adds to a caller's wait. Here, the thread that the kernel wakes
/// also makes the answer (`Decisions/The-socket-has-a-thread-of-its-own` has the figures).
final class SocketLoop: SerialExecutor {
    /// What a descriptor is watched for. A hang-up is always reported.
    struct Interest: OptionSet {
        let rawValue: UInt32
        static let input = Interest(rawValue: EPOLLIN.rawValue)
        static let output = Interest(rawValue: EPOLLOUT.rawValue)
    }

    /// What a descriptor is ready for.
    struct Readiness {
        /// The key under which the descriptor is watched.
        let key: UInt64
        fileprivate let events: UInt32

        var isReadable: Bool { events & EPOLLIN.rawValue != 0 }
        var isWritable: Bool { events & EPOLLOUT.rawValue != 0 }
        /// Whether both directions are closed. The peer is gone, but its last data may still be readable.
        var isHungUp: Bool { events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }
    }

    /// The owner's work in each turn: it handles the ready descriptors, and returns when it wants the next turn at the
    /// latest.
    typealias Turn = @Sendable (_ ready: [Readiness]) -> SuspendingClock.Instant?

    private struct Mailbox {
        var jobs: [@Sendable () -> Void] = []
        /// Whether the thread sleeps and must be woken for a new job.
        var isAsleep = false
        var isEnding = false
    }

    /// How many descriptors are handled in one turn. The rest follow in the next.
    private static let batch = 64
    /// The key of the bell. The owner's keys are greater.
    private static let bellKey: UInt64 = 0

    private let mailbox = Mutex(Mailbox())
    /// The thread, as pthread_self(3) returns it; 0 before it runs.
    private let thread = Atomic<UInt>(0)
    private let epoll: Int32
    /// An eventfd(2) that ends the sleep.
    private let bell: Int32

    /// Creates the loop's descriptors.
    ///
    /// - Throws: `cannotListen` if the kernel has no descriptor left.
    init() throws(VarlinkServerError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard epoll >= 0, bell >= 0 else {
            throw .cannotListen(errno: errno)
        }
        let number = add(bell, key: Self.bellKey, for: .input)
        guard number == 0 else { throw .cannotListen(errno: number) }
    }

    deinit {
        close(epoll)
        close(bell)
    }

    // MARK: From any thread

    /// Whether the caller is on the loop's thread.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Runs `work` on the thread after all earlier jobs. It is dropped if the loop has ended.
    func execute(_ work: @escaping @Sendable () -> Void) {
        let isAsleep = mailbox.withLock { mailbox in
            mailbox.jobs.append(work)
            defer { mailbox.isAsleep = false }
            return mailbox.isAsleep
        }
        if isAsleep { eventfd_write(bell, 1) }
    }

    /// Like `execute`, but does not wake the thread: `work` runs when the thread is awake anyway.
    func executeEventually(_ work: @escaping @Sendable () -> Void) {
        mailbox.withLock { $0.jobs.append(work) }
    }

    /// Ends the loop after the jobs that were requested before.
    func end() {
        mailbox.withLock { $0.isEnding = true }
        eventfd_write(bell, 1)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        execute { [unowned self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        precondition(isCurrent, "not on the socket's thread")
    }

    // MARK: Descriptors

    /// Watches `descriptor` until it is closed.
    ///
    /// - Parameter key: identifies the descriptor; 1 or more.
    /// - Throws: `cannotAccept` if the kernel has no memory for the watch, or no watch left for this user
    ///   (`fs.epoll.max_user_watches`).
    func watch(_ descriptor: Int32, key: UInt64, for interest: Interest) throws(VarlinkServerError) {
        let number = add(descriptor, key: key, for: interest)
        guard number == 0 else { throw .cannotAccept(errno: number) }
    }

    func change(_ descriptor: Int32, key: UInt64, to interest: Interest) {
        let number = control(EPOLL_CTL_MOD, descriptor, key, interest)
        precondition(number == 0, "what is watched can be watched for something else")
    }

    /// Reports no more events of `descriptor`, not even a hang-up.
    func forget(_ descriptor: Int32) {
        let number = control(EPOLL_CTL_DEL, descriptor, Self.bellKey, [])
        precondition(number == 0, "what is watched can be forgotten")
    }

    private func add(_ descriptor: Int32, key: UInt64, for interest: Interest) -> Int32 {
        control(EPOLL_CTL_ADD, descriptor, key, interest)
    }

    /// Calls epoll_ctl(2).
    ///
    /// - Returns: 0, or the error number.
    private func control(_ operation: Int32, _ descriptor: Int32, _ key: UInt64, _ interest: Interest) -> Int32 {
        var event = unsafe epoll_event(events: interest.rawValue, data: epoll_data(u64: key))
        return unsafe epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : errno
    }

    // MARK: The thread

    /// Starts the thread, which calls `turn` until the loop ends.
    ///
    /// - Throws: `cannotListen` if the kernel creates no thread.
    func begin(_ turn: @escaping Turn) throws(VarlinkServerError) {
        let start = ThreadStart { [self] in run(turn) }
        let context = unsafe Unmanaged.passRetained(start)
        var identifier = pthread_t()
        let status = unsafe pthread_create(
            &identifier,
            nil,
            { context in unsafe ThreadStart.run(context) },
            context.toOpaque()
        )
        guard status == 0 else {
            unsafe context.release()
            throw .cannotListen(errno: status)
        }
        pthread_detach(identifier)
    }

    private func run(_ turn: Turn) {
        thread.store(pthread_self(), ordering: .relaxed)
        var events = unsafe [epoll_event](repeating: epoll_event(), count: Self.batch)
        var ready: [Readiness] = []
        var alarm = turn([])
        while true {
            let (jobs, isEnding) = takeJobs()
            for job in jobs { job() }
            if isEnding, jobs.isEmpty { return }
            // The last turn may have moved the alarm forward or added jobs. In that case, check the descriptors without
            // sleeping.
            let timeout = jobs.isEmpty ? Self.milliseconds(until: alarm) : 0
            let count = unsafe epoll_wait(epoll, &events, Int32(Self.batch), timeout)
            ready.removeAll(keepingCapacity: true)
            for index in 0..<Int(max(count, 0)) {
                let readiness = unsafe Readiness(key: events[index].data.u64, events: events[index].events)
                if readiness.key == Self.bellKey { silenceBell() } else { ready.append(readiness) }
            }
            alarm = turn(ready)
        }
    }

    /// Takes the waiting jobs. If there are none, marks the thread as asleep.
    private func takeJobs() -> (jobs: [@Sendable () -> Void], isEnding: Bool) {
        mailbox.withLock { mailbox in
            let jobs = mailbox.jobs
            mailbox.jobs = []
            mailbox.isAsleep = jobs.isEmpty
            return (jobs, mailbox.isEnding)
        }
    }

    private func silenceBell() {
        var rings = eventfd_t()
        unsafe eventfd_read(bell, &rings)
    }

    /// The timeout for epoll_wait(2). It is rounded up, so that the alarm is due when the thread wakes; -1 means no
    /// alarm.
    private static func milliseconds(until alarm: SuspendingClock.Instant?) -> Int32 {
        guard let alarm else { return -1 }
        let wait = SuspendingClock.now.duration(to: alarm) + .microseconds(999)
        return Int32(clamping: max(0, Int64(wait / .milliseconds(1))))
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

/// The server's system calls. None of them blocks, and each is repeated if a signal interrupts it.
enum SocketSystem {
    /// The result of a read or a write.
    enum Outcome: Equatable {
        /// This many bytes were moved; 0 bytes read is the end of the stream.
        case moved(Int)
        /// There is nothing to read, or no room to write.
        case wouldBlock
        case failed(errno: Int32)
    }

    /// Accepts the next connection of a listening socket. Programs that we start do not inherit the descriptor.
    ///
    /// - Returns: the descriptor; nil if no peer waits.
    /// - Throws: `cannotAccept` if a peer waits and there is no descriptor or memory for it.
    static func accept(_ listener: Int32) throws(VarlinkServerError) -> Int32? {
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        while true {
            let descriptor = accept4(listener, nil, nil, flags)
            if descriptor >= 0 { return descriptor }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return nil
            default: throw .cannotAccept(errno: errno)
            }
        }
    }

    /// Reads at most `limit` bytes.
    static func read(_ descriptor: Int32, limit: Int) -> (bytes: [UInt8], outcome: Outcome) {
        var outcome = Outcome.wouldBlock
        let bytes = unsafe withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer -> [UInt8] in
            outcome = retried { unsafe recv(descriptor, buffer.baseAddress, limit, 0) }
            guard case .moved(let count) = outcome else { return [] }
            return unsafe [UInt8](buffer.prefix(count))
        }
        return (bytes, outcome)
    }

    /// Whether bytes wait to be read. The end of the stream does not count.
    static func hasInput(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    /// Writes as many of `bytes` as the socket takes.
    static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Outcome {
        retried {
            unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
    }

    private static func retried(_ call: () -> Int) -> Outcome {
        while true {
            let count = call()
            guard count < 0 else { return .moved(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: return .failed(errno: errno)
            }
        }
    }
}

extension PeerCredentials {
    /// Asks the kernel which process is at the other end of a connected socket; nil if the kernel does not say.
    init?(of descriptor: Int32) {
        // struct ucred of unix(7), which Glibc's module map hides: pid, uid and gid, 32 bits each.
        var words: (UInt32, UInt32, UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: words))
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &words, &length) == 0 else { return nil }
        self.init(pid: Int32(bitPattern: words.0), uid: words.1, gid: words.2)
    }
}
