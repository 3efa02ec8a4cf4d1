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
}
