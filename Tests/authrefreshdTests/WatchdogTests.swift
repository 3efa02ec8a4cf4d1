import Synchronization
import Testing

@testable import authrefreshd

struct WatchdogTests {
    /// A loop that answers when the test says so.
    private final class Loop: Sendable {
        private let questions = Mutex<[@Sendable () -> Void]>([])

        var asked: Int { questions.withLock(\.count) }

        func ask(_ answer: @escaping @Sendable () -> Void) {
            questions.withLock { $0.append(answer) }
        }

        func turn() {
            let waiting = questions.withLock { questions in
                defer { questions = [] }
                return questions
            }
            for answer in waiting { answer() }
        }
    }

    @Test func `the service manager gets a watchdog message when every loop has answered`() {
        let fed = Mutex(0)
        let loops = (0..<3).map { _ in Loop() }
        let watchdog = Watchdog([{ loops[0].ask($0) }, { loops[1].ask($0) }]) { fed.withLock { $0 += 1 } }
        watchdog.watch { loops[2].ask($0) }
        for hung in loops {
            let before = fed.withLock(\.self)
            watchdog.ask()
            for loop in loops where loop !== hung { loop.turn() }
            #expect(fed.withLock(\.self) == before)
            // While one loop hangs, no loop is asked again.
            watchdog.ask()
            #expect(loops.map(\.asked).reduce(0, +) == 1)
            hung.turn()
            #expect(fed.withLock(\.self) == before + 1)
        }
    }
    @Test func `a start that takes long asks for more time until it is over, but not for ever`() async throws {
        let asked = Mutex(0)
        let hanging = Mutex(0)
        let ending = Mutex(0)
        var start: LongStart? = LongStart(every: .milliseconds(10), for: .seconds(60), until: { false }) {
            asked.withLock { $0 += 1 }
        }
        let other = LongStart(every: .milliseconds(10), for: .milliseconds(35), until: { false }) {
            hanging.withLock { $0 += 1 }
        }
        let stopped = LongStart(every: .milliseconds(10), for: .seconds(60), until: { true }) {
            ending.withLock { $0 += 1 }
        }
        for _ in 0..<1000 where asked.withLock(\.self) < 10 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(asked.withLock(\.self) >= 10)
        #expect(hanging.withLock(\.self) <= 3)
        #expect(ending.withLock(\.self) == 0)
        withExtendedLifetime((start, other, stopped)) {}
        start = nil
        try await Task.sleep(for: .milliseconds(100))
        let before = asked.withLock(\.self)
        try await Task.sleep(for: .milliseconds(100))
        #expect(asked.withLock(\.self) == before)
    }
}
