import Basics
import Dispatch
import Synchronization
import Testing

@testable import authrefreshd

struct BlockingWorkTests {
    @Test func `work that hangs affects only those who need it`() async {
        let work = BlockingWork<String, Int>(
            "test",
            timeLimit: CallerLimits.lookUpTime / 50,
            piecesMax: CallerLimits.lookUpsMax
        )
        let mount = DispatchSemaphore(value: 0)
        let begun = Mutex(0)
        let hang: @Sendable () -> Int = {
            begun.withLock { $0 += 1 }
            mount.wait()
            return 0
        }
        async let first = work.value("hung", hang)
        // On a busy machine the first try may take longer than the time limit.
        while await work.value("well", { 7 }) != 7 { await Task.yield() }
        #expect(await first == nil)
        // Further callers get the result at once, and use no thread.
        for _ in 0..<100 { #expect(await work.value("hung", hang) == nil) }
        #expect(begun.withLock(\.self) == 1)
        while await work.value("well", { 8 }) != 8 { await Task.yield() }
        // Not more threads than allowed.
        for number in 1..<CallerLimits.lookUpsMax { work.run("hung \(number)", hang) { _ in } }
        #expect(await work.value("well") { 9 } == nil)
        #expect(begun.withLock(\.self) == CallerLimits.lookUpsMax)
        for _ in 0..<CallerLimits.lookUpsMax { mount.signal() }
        // Work that no longer hangs is done again.
        while await work.value("hung", { 1 }) != 1 { await Task.yield() }
        while await work.value("well", { 10 }) != 10 { await Task.yield() }
    }
}
