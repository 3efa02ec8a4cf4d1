import Synchronization
import TestSupport
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
        let watchdog = Watchdog([Watchdog.Loop(ask: loops[0].ask), Watchdog.Loop(ask: loops[1].ask)]) {
            fed.withLock { $0 += 1 }
        }
        watchdog.watch(Watchdog.Loop(ask: loops[2].ask))
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

    @Test func `while a loop waits for the store the others feed the watchdog, unless one of them hangs`() {
        let fed = Mutex(0)
        let isInStore = Mutex(true)
        let (keeper, other) = (Loop(), Loop())
        let watchdog = Watchdog([
            Watchdog.Loop(ask: keeper.ask, isWaiting: { isInStore.withLock(\.self) }), Watchdog.Loop(ask: other.ask),
        ]) {
            fed.withLock { $0 += 1 }
        }
        for turn in 1...3 {
            watchdog.ask()
            #expect(fed.withLock(\.self) == turn - 1)
            other.turn()
            #expect(fed.withLock(\.self) == turn)
        }
        // The keeper has been asked once, and the other one hangs now.
        #expect(keeper.asked == 1)
        watchdog.ask()
        watchdog.ask()
        #expect(other.asked == 1 && fed.withLock(\.self) == 3)
        other.turn()
        #expect(fed.withLock(\.self) == 4)
    }

    @Test func `a loop that hangs outside of the store starves the watchdog`() {
        let fed = Mutex(0)
        let isInStore = Mutex(true)
        let (keeper, other) = (Loop(), Loop())
        let watchdog = Watchdog([
            Watchdog.Loop(ask: keeper.ask, isWaiting: { isInStore.withLock(\.self) }), Watchdog.Loop(ask: other.ask),
        ]) {
            fed.withLock { $0 += 1 }
        }
        watchdog.ask()
        other.turn()
        isInStore.withLock { $0 = false }
        for _ in 1...3 {
            watchdog.ask()
            other.turn()
        }
        #expect(fed.withLock(\.self) == 1)
        keeper.turn()
        #expect(fed.withLock(\.self) == 2)
    }

    private enum StartEvent {
        case asked
        /// Dispatch has freed the question, so the timer is over and cannot ask again.
        case freed
    }

    /// Asks for more time, and tells when it is freed.
    private final class Question: Sendable {
        let events: EventLog<StartEvent>

        init(_ events: EventLog<StartEvent>) { self.events = events }

        func ask() { events.append(.asked) }

        deinit { events.append(.freed) }
    }

    private func longStart(
        for longest: Duration,
        until isOver: @escaping @Sendable () -> Bool = { false },
        _ events: EventLog<StartEvent>
    ) -> LongStart {
        let question = Question(events)
        return LongStart(every: .milliseconds(10), for: longest, until: isOver) { question.ask() }
    }

    @Test func `a start that takes long asks for more time until it is over`() async throws {
        let events = EventLog<StartEvent>()
        var start: LongStart? = longStart(for: .seconds(3600), events)
        try await events.first("ten questions", from: 9) { $0 == .asked }
        #expect(start != nil && !events.all.contains(.freed))
        start = nil
        try await events.first("the end") { $0 == .freed }
    }

    @Test func `a start that hangs, or is to end, asks for no more time`() async throws {
        let (hanging, ending) = (EventLog<StartEvent>(), EventLog<StartEvent>())
        let starts = [
            longStart(for: .milliseconds(35), hanging), longStart(for: .seconds(3600), until: { true }, ending),
        ]
        try await hanging.first("the end") { $0 == .freed }
        #expect(hanging.all.count { $0 == .asked } <= 3)
        try await ending.first("the end") { $0 == .freed }
        #expect(!ending.all.contains(.asked))
        withExtendedLifetime(starts) {}
    }
}
