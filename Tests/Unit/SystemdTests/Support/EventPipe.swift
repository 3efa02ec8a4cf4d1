import Glibc

/// Passes events from a queue to the test's own thread, which waits without leaving that thread: a namespace belongs to
/// a thread.
final class EventPipe: Sendable {
    /// Readable while an event waits.
    let reading: Int32
    private let writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw TestFault.system("pipe", errno: errno) }
        (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(reading)
        close(writing)
    }

    func send(_ event: UInt8) {
        var event = event
        _ = unsafe write(writing, &event, 1)
    }

    /// The next event. Waits at most two minutes.
    func next() throws -> UInt8 {
        var ready = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&ready, 1, 120_000) == 1, let event = pending() else { throw TestFault.timedOut("event") }
        return event
    }

    /// The next event if it is there already; else nil.
    func pending() -> UInt8? {
        var event: UInt8 = 0
        return unsafe read(reading, &event, 1) == 1 ? event : nil
    }
}
