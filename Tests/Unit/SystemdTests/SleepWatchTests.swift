import Dispatch
import Glibc
import Systemd
import Testing

@Suite(.enabled(if: PrivateBus.isAvailable, "needs dbus-daemon and busctl"))
struct SleepWatchTests {
    private let queue = DispatchQueue(label: "sleep-watch")
    private let events: EventPipe
    private static let resumed: UInt8 = 1
    private static let lost: UInt8 = 2
    private static let sleeping: UInt8 = 3

    init() throws { events = try EventPipe() }

    private func watch(_ address: String) throws -> SleepWatch {
        let onLost: @Sendable (SystemdError) -> Void = { [queue, events] _ in
            dispatchPrecondition(condition: .onQueue(queue))
            events.send(Self.lost)
        }
        let tell: @Sendable (UInt8) -> Void = { [queue, events] event in
            dispatchPrecondition(condition: .onQueue(queue))
            events.send(event)
        }
        return try SleepWatch(
            queue: queue,
            address: address,
            onLost: onLost,
            onSleep: { tell(Self.sleeping) },
            onResume: { tell(Self.resumed) }
        )
    }

    /// Passes twenty events of another descriptor through Dispatch and the queue. Everything that was ready before has
    /// then been handled, too.
    private func turnOver() throws {
        let (ping, pong) = (try EventPipe(), try EventPipe())
        let source = DispatchSource.makeReadSource(fileDescriptor: ping.reading, queue: queue)
        source.setEventHandler { if let event = ping.pending() { pong.send(event) } }
        source.activate()
        for event in 0..<UInt8(20) {
            ping.send(event)
            #expect(try pong.next() == event)
        }
        source.cancel()
        queue.sync {}
    }

    @Test func `the beginning and the end of each sleep are reported`() throws {
        let bus = try PrivateBus()
        let watch = try watch(bus.address)
        try bus.waitForSubscription()
        for _ in 0..<2 {
            bus.emitPrepareForSleep(true)
            bus.emitPrepareForSleep(false)
            #expect(try events.next() == Self.sleeping)
            #expect(try events.next() == Self.resumed)
            queue.sync {}
            #expect(events.pending() == nil)
        }
        watch.cancel()
        watch.cancel()
    }

    @Test func `one lock delays a sleep from the first request to the last`() throws {
        let bus = try PrivateBus()
        let watch = try watch(bus.address)
        try bus.waitForSubscription()
        for _ in 0..<2 {
            queue.sync {
                watch.delaySleep("a token is being refreshed")
                watch.delaySleep("a token is being refreshed")
            }
            let lock = try bus.giveLock()
            #expect(lock.words == ["sleep", "authrefreshd", "a token is being refreshed", "delay"])
            try turnOver()
            #expect(!lock.isGivenBack())
            // While the lock is held, no other one is asked for.
            queue.sync { watch.delaySleep("another one") }
            try turnOver()
            #expect(!lock.isGivenBack())
            queue.sync { watch.allowSleep() }
            try lock.waitUntilGivenBack()
        }
        watch.cancel()
    }

    @Test func `a lock that is no longer wanted is released, also at the end`() throws {
        let bus = try PrivateBus()
        let watch = try watch(bus.address)
        try bus.waitForSubscription()
        queue.sync {
            watch.delaySleep("a token is being refreshed")
            watch.allowSleep()
        }
        let late = try bus.giveLock()
        // The first answer is handled first.
        bus.emitPrepareForSleep(false)
        #expect(try events.next() == Self.resumed)
        queue.sync {}
        try late.waitUntilGivenBack()
        queue.sync { watch.delaySleep("a token is being refreshed") }
        let last = try bus.giveLock()
        bus.emitPrepareForSleep(false)
        #expect(try events.next() == Self.resumed)
        queue.sync { #expect(!last.isGivenBack()) }
        watch.cancel()
        queue.sync {}
        try last.waitUntilGivenBack()
    }

    @Test func `without a lock nobody waits, and the bus stays connected`() throws {
        let bus = try PrivateBus()
        let watch = try watch(bus.address)
        try bus.waitForSubscription()
        queue.sync { watch.delaySleep("a token is being refreshed") }
        try bus.refuseLock("org.freedesktop.DBus.Error.AccessDenied")
        bus.emitPrepareForSleep(false)
        #expect(try events.next() == Self.resumed)
        // The lock is not asked for again: the next call is not for a lock.
        queue.sync {
            watch.allowSleep()
            watch.delaySleep("a token is being refreshed")
        }
        try turnOver()
        #expect(bus.hasNoCall())
        watch.cancel()
    }

    @Test func `a lost bus is reported once and leaves the queue idle`() throws {
        let bus = try PrivateBus()
        let watch = try watch(bus.address)
        try bus.waitForSubscription()
        bus.end()
        #expect(try events.next() == Self.lost)
        // The descriptor has ended for good. If a source were left on it, it would run again and again.
        try turnOver()
        #expect(events.pending() == nil)
        watch.cancel()
    }

    @Test func `no bus is an error at once`() {
        #expect(throws: SystemdError.busUnavailable(errno: ENOENT)) { try watch("unix:path=/nonexistent/bus") }
        #expect(throws: SystemdError.busUnavailable(errno: ECONNREFUSED)) { try watch("carrier-pigeon:") }
    }

    @Test func `a bus that hangs up early is lost, and a silent one delays nobody`() throws {
        let directory = try TemporaryDirectory()
        let server = try UnixSocket(SOCK_STREAM, at: "\(directory.path)/bus")
        listen(server.descriptor, 1)
        let watch = try watch("unix:path=\(directory.path)/bus")
        queue.sync {}
        #expect(events.pending() == nil)
        close(accept(server.descriptor, nil, nil))
        #expect(try events.next() == Self.lost)
        watch.cancel()
    }

    @Test func `a released watch is silent and closes its connection`() throws {
        let bus = try PrivateBus()
        var watch: SleepWatch? = try watch(bus.address)
        try bus.waitForSubscription()
        #expect(watch != nil)
        watch = nil
        queue.sync {}
        bus.emitPrepareForSleep(false)
        try turnOver()
        #expect(events.pending() == nil)
    }
}
