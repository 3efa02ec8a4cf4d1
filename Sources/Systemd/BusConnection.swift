internal import CSystemd
package import Dispatch
internal import Glibc

/// A bus connection that a Dispatch queue drives: its descriptor and its time-outs are Dispatch sources (sd_bus_get_fd(3)).
///
/// Everything after `init` happens on the queue.
package final class BusConnection {
    private let handle: BusHandle
    private let queue: DispatchQueue
    private let readable: any DispatchSourceRead
    private let timer: any DispatchSourceTimer
    /// There only while the connection has something to send that the socket would not take.
    private var writable: (any DispatchSourceWrite)?
    private let onLost: @Sendable (SystemdError) -> Void
    private var isOver = false

    /// Drives `handle` until `cancel()`, or until the bus is lost: then `onLost` is called, once.
    package init(_ handle: BusHandle, queue: DispatchQueue, onLost: @escaping @Sendable (SystemdError) -> Void) {
        self.handle = handle
        self.queue = queue
        self.onLost = onLost
        readable = DispatchSource.makeReadSource(fileDescriptor: handle.descriptor, queue: queue)
        timer = DispatchSource.makeTimerSource(queue: queue)
        readable.setEventHandler { [weak self] in self?.process() }
        timer.setEventHandler { [weak self] in self?.process() }
        // Dispatch may look at the descriptor until the source is through with its cancellation.
        readable.setCancelHandler { [handle] in withExtendedLifetime(handle) {} }
        timer.schedule(deadline: .now())
        readable.activate()
        timer.activate()
    }

    deinit { cancel() }

    /// Ends it; may be called twice, also from within a callback of the bus.
    package func cancel() {
        isOver = true
        readable.cancel()
        timer.cancel()
        writable?.cancel()
        writable = nil
    }

    /// Lets libsystemd do all it can do now, then waits for what it waits for. To be called after something was sent.
    package func process() {
        guard !isOver else { return }
        var result: Int32 = 1
        while result > 0 && !isOver {
            result = unsafe sd_bus_process(handle.bus, nil)
        }
        guard !isOver else { return }
        // A lost connection shows in different places: while it is being set up as an error, later as a closed bus.
        guard result >= 0 else { return lose(errno: -result) }
        guard unsafe sd_bus_is_open(handle.bus) > 0 else { return lose(errno: ECONNRESET) }
        wait()
    }

    private func wait() {
        let events = unsafe sd_bus_get_events(handle.bus)
        guard events >= 0 else { return lose(errno: -events) }
        waitUntilWritable(events & POLLOUT != 0)

        var deadline = UInt64.max
        let result = unsafe sd_bus_get_timeout(handle.bus, &deadline)
        guard result >= 0 else { return lose(errno: -result) }
        // Dispatch's uptime is libsystemd's clock: CLOCK_MONOTONIC. UInt64.max means no time-out.
        let (nanoseconds, isNever) = deadline.multipliedReportingOverflow(by: 1_000)
        timer.schedule(deadline: isNever ? .distantFuture : DispatchTime(uptimeNanoseconds: nanoseconds))
    }

    private func waitUntilWritable(_ isWanted: Bool) {
        guard isWanted != (writable != nil) else { return }
        guard isWanted else {
            writable?.cancel()
            writable = nil
            return
        }
        let source = DispatchSource.makeWriteSource(fileDescriptor: handle.descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.process() }
        source.setCancelHandler { [handle] in withExtendedLifetime(handle) {} }
        source.activate()
        writable = source
    }

    private func lose(errno: Int32) {
        cancel()
        onLost(.busUnavailable(errno: errno))
    }
}
