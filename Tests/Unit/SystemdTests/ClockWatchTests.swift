import CSystemd
import Dispatch
import Glibc
import Testing

@testable import Systemd

// We cannot step the machine's clock. Instead, a seccomp filter produces the kernel's report of a step, ECANCELED, and
// an expired timer tests the way from a ready timer through Dispatch to the closure.
@Suite struct ClockWatchTests {
    private let queue = DispatchQueue(label: "clock-watch")

    @Test func `the timer is set later than every deadline`() throws {
        let watch = try ClockWatch(queue: queue) {}
        #expect(remainingSeconds(watch.descriptor) > 50 * 365 * 86_400)
        watch.cancel()
    }

    @Test func `a ready timer calls the closure on the queue and is armed again`() throws {
        let events = try EventPipe()
        let watch = try ClockWatch(queue: queue) { [queue] in
            dispatchPrecondition(condition: .onQueue(queue))
            events.send(1)
        }
        for _ in 0..<3 {
            expireNow(watch.descriptor)
            #expect(try events.next() == 1)
            #expect(remainingSeconds(watch.descriptor) > 50 * 365 * 86_400)
        }
        queue.sync {}
        #expect(events.pending() == nil)
        watch.cancel()
        watch.cancel()
    }

    @Test func `a cancelled read means a step, and the timer is armed again`() async {
        await #expect(processExitsWith: .success) {
            let timer = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
            #expect(remainingSeconds(timer) == 0)
            try LinuxCalls.failReads(of: timer, with: ECANCELED)
            #expect(ClockWatch.consumeStep(timer))
            #expect(remainingSeconds(timer) > 50 * 365 * 86_400)
        }
    }

    @Test func `a timer without a report means no step`() throws {
        let timer = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        defer { close(timer) }
        #expect(!ClockWatch.consumeStep(timer))
        #expect(remainingSeconds(timer) == 0)
    }

    @Test func `a cancelled watch is silent`() throws {
        let events = try EventPipe()
        let watch = try ClockWatch(queue: queue) { events.send(1) }
        // The queue is blocked while the timer becomes ready, so that the report is due but not yet delivered.
        queue.sync {
            expireNow(watch.descriptor)
            watch.cancel()
        }
        queue.sync {}
        #expect(events.pending() == nil)
    }
}

private func remainingSeconds(_ descriptor: Int32) -> Int {
    var value = itimerspec()
    unsafe timerfd_gettime(descriptor, &value)
    return value.it_value.tv_sec
}

private func expireNow(_ descriptor: Int32) {
    var value = itimerspec(it_interval: timespec(), it_value: timespec(tv_sec: 1, tv_nsec: 0))
    unsafe timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &value, nil)
}
