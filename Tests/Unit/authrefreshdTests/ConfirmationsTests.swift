import AuthRefreshInterface
import RefreshCore
import Synchronization
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

struct ConfirmationsTests {
    /// The messages that somebody received, in order.
    private final class Heard<Word: Sendable>: Sendable {
        private let list = Mutex<[Word]>([])
        var words: [Word] { list.withLock(\.self) }
        func note(_ word: Word) { list.withLock { $0.append(word) } }
    }

    private let start = Moment(
        wall: Timestamp(microseconds: 1_800_000_000_000_000),
        boot: BootTime(bootID: 7, microseconds: 1_000_000_000)
    )

    private func later(_ seconds: Int64) -> Moment {
        Moment(
            wall: start.wall + .seconds(seconds),
            boot: BootTime(bootID: 7, microseconds: start.boot.microseconds + seconds * 1_000_000)
        )
    }

    private typealias Request = ConfirmationQuestion.Request

    private func question(_ account: String = "work", _ request: Request = .tokens(host: nil)) throws
        -> ConfirmationQuestion
    {
        ConfirmationQuestion(account: try #require(AccountName(account)), request: request)
    }

    /// A request of each kind, and one for tokens from each host.
    private func requests() throws -> [Request] {
        [
            .tokens(host: nil), .tokens(host: "build"), .tokens(host: "other"), .export,
            .change(settings: ["confirm"]), .change(settings: ["scopes"]), .removal,
            .derivation(of: try #require(AccountName("wiki"))),
        ]
    }

    @Test func `without an agent the answer is at once that nobody can be asked`() throws {
        let room = Confirmations()
        #expect(room.known(try question(), for: 1, at: start) == .noAgent)
    }

    @Test func `one "once" is for one call, and the next call that waits is shown then`() throws {
        var room = Confirmations()
        let (agent, callers) = (Heard<ServeConfirmations.Reply>(), [Heard<ConfirmationOutcome>(), .init(), .init()])
        _ = room.addAgent(agent.note)
        let (asked, grant) = (try question(), try question("work", .export))
        let numbers = [(asked, 0), (asked, 1), (grant, 2)].map { question, caller in
            room.ask(question, of: 1, at: start, callers[caller].note)
        }
        #expect(agent.words == [.asked(numbers[0], asked, since: start), .asked(numbers[2], grant, since: start)])
        let wasTaken = room.answer(numbers[0], .allowOnce, at: start)
        #expect(wasTaken)
        #expect(callers.map(\.words) == [[.allowed], [], []])
        #expect(agent.words.suffix(2) == [.withdrawn(numbers[0]), .asked(numbers[1], asked, since: start)])
        #expect(room.known(asked, for: 1, at: start) == nil)
        let isTakenTwice = room.answer(numbers[0], .deny, at: start)
        #expect(!isTakenTwice)
        room.withdraw(numbers[1])
        #expect(agent.words.last == .withdrawn(numbers[1]))
        #expect(callers[1].words == [])
    }

    @Test(arguments: [ConfirmationAnswer.allowForAnHour, .deny])
    func `an answer for later calls is also for those that wait with the same question`(answer: ConfirmationAnswer)
        throws
    {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        let callers = [Heard<ConfirmationOutcome>(), .init(), .init()]
        let first = room.ask(try question(), of: 1, at: start, callers[0].note)
        _ = room.ask(try question(), of: 1, at: start, callers[1].note)
        _ = room.ask(try question("work", .tokens(host: "build")), of: 1, at: start, callers[2].note)
        _ = room.answer(first, answer, at: start)
        let outcome = answer == .deny ? ConfirmationOutcome.denied : .allowed
        #expect(callers.map(\.words) == [[outcome], [outcome], []])
    }

    @Test func `an hour is for the tokens of one account on one machine, and for nothing else`() throws {
        for allowed in try requests() {
            var room = Confirmations()
            _ = room.addAgent { _ in }
            let number = room.ask(try question("work", allowed), of: 1, at: start) { _ in }
            _ = room.answer(number, .allowForAnHour, at: start)
            for request in try requests() {
                let isTokens = if case .tokens = request { true } else { false }
                let isAllowed = request == allowed && isTokens
                let known = room.known(try question("work", request), for: 1, at: later(3599))
                #expect(known == (isAllowed ? .allowed : nil), "\(allowed) \(request)")
                #expect(room.known(try question("work", request), for: 1, at: later(3600)) == nil)
                #expect(room.known(try question("home", request), for: 1, at: start) == nil)
            }
        }
    }

    @Test func `a no is for a minute, and for the same question only`() throws {
        for denied in try requests() {
            var room = Confirmations()
            _ = room.addAgent { _ in }
            let number = room.ask(try question("work", denied), of: 1, at: start) { _ in }
            _ = room.answer(number, .deny, at: start)
            for request in try requests() {
                let known = room.known(try question("work", request), for: 1, at: later(59))
                #expect(known == (request == denied ? .denied : nil), "\(denied) \(request)")
                #expect(room.known(try question("work", request), for: 1, at: later(60)) == nil)
            }
        }
    }

    @Test func `an account that is renamed or removed leaves no answer and no question to the next of its name`() throws
    {
        var room = Confirmations()
        let (agent, asker) = (Heard<ServeConfirmations.Reply>(), Heard<ConfirmationOutcome>())
        _ = room.addAgent(agent.note)
        let number = room.ask(try question(), of: 1, at: start) { _ in }
        _ = room.answer(number, .allowForAnHour, at: start)
        let waiting = [
            room.ask(try question("work", .export), of: 1, at: start, asker.note),
            room.ask(try question("work", .export), of: 1, at: start, asker.note),
        ]
        let other = room.ask(try question("home", .export), of: 1, at: start) { _ in }
        room.forget(try question().account)
        #expect(room.known(try question(), for: 1, at: start) == nil)
        #expect(asker.words == [.unanswered, .unanswered])
        #expect(agent.words.last == .withdrawn(waiting[0]))
        let isAsked = room.answer(other, .allowOnce, at: start)
        #expect(isAsked)
    }

    @Test func `an unanswered question ends`() async throws {
        var room = Confirmations()
        let (agent, asker) = (Heard<ServeConfirmations.Reply>(), Heard<ConfirmationOutcome>())
        let number = room.addAgent(agent.note)
        let asked = room.ask(try question(), of: 1, at: start, asker.note)
        #expect(agent.words == [.asked(asked, try question(), since: start)])
        let limit = CallerLimits.confirmationTime.components.seconds
        #expect(room.remaining(at: later(limit - 1)) == .seconds(1))
        room.advance(at: later(limit - 1))
        #expect(asker.words == [])
        room.advance(at: later(limit))
        #expect(asker.words == [.unanswered])
        _ = room.ask(try question(), of: 1, at: start, asker.note)
        room.removeAgent(number)
        #expect(asker.words.last == .noAgent)

        // In the daemon, its timer ends it.
        let rig = try CoordinatorRig()
        try await rig.start()
        let (outcomes, open) = (EventLog<ConfirmationOutcome>(), try question())
        await rig.inside { coordinator in
            _ = coordinator.confirmations.addAgent { _ in }
            // Most of its time is over.
            let (now, ago) = (coordinator.timebase.now(), CallerLimits.confirmationTime - .milliseconds(50))
            let boot = BootTime(bootID: now.boot.bootID, microseconds: now.boot.microseconds - ago.microseconds)
            let begun = Moment(wall: now.wall + (.zero - ago), boot: boot)
            _ = coordinator.confirmations.ask(open, of: 1, at: begun) { outcomes.append($0) }
            coordinator.wake()
        }
        #expect(try await outcomes.first("the end of the question") { _ in true } == .unanswered)
        await rig.stop()
    }

    @Test func `a later agent gets the open questions`() throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        let asked = room.ask(try question(), of: 1, at: start) { _ in }
        _ = room.ask(try question(), of: 1, at: start) { _ in }
        let second = Heard<ServeConfirmations.Reply>()
        _ = room.addAgent(second.note)
        #expect(second.words == [.asked(asked, try question(), since: start)])
    }

    @Test func `one question too many of a process is refused at once, and another may still ask`() throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        let half = CallerLimits.confirmationsMax / 2
        for number in 0..<half {
            _ = room.ask(try question("a\(number)"), of: 1, at: start) { _ in }
        }
        let crowding = Shares.Crowding(capacity: CallerLimits.confirmationsMax, process: 1, amount: half)
        #expect(room.known(try question("more"), for: 1, at: start) == .tooMany(crowding))
        #expect(room.known(try question("a0"), for: 1, at: start) == .tooMany(crowding))
        #expect(room.known(try question("a0"), for: 2, at: start) == nil)
    }

    @Test func `the number of standing answers is limited`() throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        for number in 0...CallerLimits.standingAnswersMax {
            let asked = room.ask(try question("a\(number)"), of: 1, at: start) { _ in }
            _ = room.answer(asked, .allowForAnHour, at: start)
        }
        #expect(room.known(try question("a0"), for: 1, at: start) == nil)
        #expect(room.known(try question("a\(CallerLimits.standingAnswersMax)"), for: 1, at: start) == .allowed)
    }
}
