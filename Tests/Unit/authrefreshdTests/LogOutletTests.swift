import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import authrefreshd

struct LogOutletTests {
    @Test func `a blocked journal delays nobody, and later gets the number of missing lines`() async {
        let written = Mutex<[String]>([])
        let journal = DispatchSemaphore(value: 0)
        let room = JournalLogHandler.waitingBytesMax / 10
        let outlet = LogOutlet(bytesMax: room * 10) { dropped in written.withLock { $0.append("\(dropped) dropped") } }
        outlet.send(bytes: room) {
            journal.wait()
            written.withLock { $0.append("first") }
        }
        // Nine tenths of the room are left.
        for number in 0..<20 {
            outlet.send(bytes: room) { written.withLock { $0.append("line \(number)") } }
        }
        #expect(written.withLock(\.self).isEmpty)
        journal.signal()
        await outlet.drain(within: .patience)
        #expect(written.withLock(\.self) == ["first"] + (0..<9).map { "line \($0)" } + ["11 dropped"])
        // There is room again.
        outlet.send(bytes: room * 10) { written.withLock { $0.append("last") } }
        await outlet.drain(within: .patience)
        #expect(written.withLock(\.last) == "last")
    }

    @Test func `the daemon's end does not wait forever for a journal`() async {
        let journal = DispatchSemaphore(value: 0)
        let isWritten = Atomic(false)
        let outlet = LogOutlet(bytesMax: 100) { _ in }
        outlet.send(bytes: 10) {
            journal.wait()
            isWritten.store(true, ordering: .releasing)
        }
        await outlet.drain(within: JournalLogHandler.drainLimit / 20)
        let isWrittenInTime = isWritten.load(ordering: .acquiring)
        #expect(!isWrittenInTime)
        journal.signal()
        await outlet.drain(within: .patience)
        let isWrittenInTheEnd = isWritten.load(ordering: .acquiring)
        #expect(isWrittenInTheEnd)
    }

    @Test func `only the latest news of each kind waits for a service manager that does not read`() async {
        let told = Mutex<[String]>([])
        let manager = DispatchSemaphore(value: 0)
        let news = ManagerNews { item in
            if case .ready = item { manager.wait() }
            told.withLock { $0.append("\(item)") }
        }
        news.add(.ready("start"))
        for number in 0..<1000 {
            news.add(.status("\(number)"))
            news.add(.alive)
        }
        news.add(.stopping)
        manager.signal()
        await news.drain(within: .patience)
        #expect(told.withLock(\.self).suffix(3) == [#"status("999")"#, "alive", "stopping"])
        #expect(told.withLock(\.count) <= 6)
    }
}
