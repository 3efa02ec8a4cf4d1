import AuthRefreshInterface
import RefreshCore
import Synchronization
import TestSupport
import Testing

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

    private func question(_ account: String = "work", unit: String? = "mail.service") throws -> ConfirmationQuestion {
        ConfirmationQuestion(
            account: try #require(AccountName(account)),
            program: SeenProgram(unit: unit, executable: unit == nil ? nil : "/usr/bin/authctl")
        )
    }

    @Test func `without an agent the answer is at once that nobody can be asked`() throws {
        let room = Confirmations()
        #expect(room.known(try question(), at: start) == .noAgent)
    }

    @Test func `programs that ask the same thing share a question and its answer`() throws {
        var room = Confirmations()
        let (agent, asker) = (Heard<Confirmations.Notice>(), Heard<ConfirmationOutcome>())
        _ = room.addAgent(agent.note)
        let asked = try question()
        #expect(room.known(asked, at: start) == nil)
        let first = room.ask(asked, at: start, asker.note)
        let second = room.ask(asked, at: start, asker.note)
        #expect(first.isNew && !second.isNew && first.question == second.question)
        let until = start.wall + CallerLimits.confirmationTime
        #expect(agent.words == [.asked(first.question, asked, until: until)])
        let wasTaken = room.answer(first.question, .allowOnce, at: start)
        #expect(wasTaken)
        #expect(asker.words == [.allowed, .allowed])
        #expect(agent.words.last == .withdrawn(first.question))
        #expect(room.known(asked, at: start) == nil)
        let isTakenTwice = room.answer(first.question, .deny, at: start)
        #expect(!isTakenTwice)
    }

    @Test(arguments: [
        (ConfirmationAnswer.allowForAnHour, Int64(3600), ConfirmationOutcome.allowed), (.deny, 60, .denied),
    ])
    func `an answer applies for its time to this program and this account`(
        answer: ConfirmationAnswer,
        seconds: Int64,
        outcome: ConfirmationOutcome
    ) throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        let asked = try question()
        let number = room.ask(asked, at: start) { _ in }.question
        _ = room.answer(number, answer, at: start)
        #expect(room.known(asked, at: later(seconds - 1)) == outcome)
        #expect(room.known(asked, at: later(seconds)) == nil)
        #expect(room.known(try question("home"), at: start) == nil)
        #expect(room.known(try question(unit: "other.service"), at: start) == nil)
        room.forgetAnswers(of: asked.account)
        #expect(room.known(asked, at: start) == nil)
    }

    @Test func `no answer is kept for a program that cannot be identified`() throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        let asked = try question(unit: nil)
        let number = room.ask(asked, at: start) { _ in }.question
        _ = room.answer(number, .allowForAnHour, at: start)
        #expect(room.known(asked, at: start) == nil)
    }

    @Test func `an unanswered question ends`() async throws {
        var room = Confirmations()
        let (agent, asker) = (Heard<Confirmations.Notice>(), Heard<ConfirmationOutcome>())
        let number = room.addAgent(agent.note)
        let asked = room.ask(try question(), at: start, asker.note)
        let until = start.wall + CallerLimits.confirmationTime
        #expect(agent.words == [.asked(asked.question, try question(), until: until)])
        room.expire(asked.question)
        #expect(asker.words == [.unanswered])
        let left = room.ask(try question(), at: start, asker.note)
        room.forget(left.asker, of: left.question)
        #expect(agent.words.suffix(1) == [.withdrawn(left.question)])
        _ = room.ask(try question(), at: start, asker.note)
        room.removeAgent(number)
        #expect(asker.words.last == .noAgent)

        // In the daemon, it ends after `confirmationTime`, which is shorter here.
        let rig = try CoordinatorRig()
        try await rig.start()
        let (outcomes, open) = (EventLog<ConfirmationOutcome>(), try question())
        await rig.inside { coordinator in
            _ = coordinator.confirmations.addAgent { _ in }
            let calls = ConfirmationCalls(coordinator: rig.coordinator)
            _ = calls.ask(open, for: .milliseconds(50), on: coordinator) { outcomes.append($0) }
        }
        #expect(try await outcomes.first("the end of the question") { _ in true } == .unanswered)
        await rig.stop()
    }

    @Test func `a later agent gets the open questions`() throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        let asked = room.ask(try question(), at: start) { _ in }
        let second = Heard<Confirmations.Notice>()
        _ = room.addAgent(second.note)
        let until = start.wall + CallerLimits.confirmationTime
        #expect(second.words == [.asked(asked.question, try question(), until: until)])
    }

    @Test func `one question too many is refused at once`() throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        for number in 0..<CallerLimits.confirmationsMax {
            _ = room.ask(try question(unit: "\(number).service"), at: start) { _ in }
        }
        #expect(room.known(try question(unit: "more.service"), at: start) == .tooMany(.ofAll))
        #expect(room.known(try question(unit: "0.service"), at: start) == nil)
    }

    @Test func `one program's questions leave room for the others'`() throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        let own = CallerLimits.confirmationsOfProgramMax
        #expect(own < CallerLimits.confirmationsMax)
        for number in 0..<own { _ = room.ask(try question("a\(number)"), at: start) { _ in } }
        #expect(room.known(try question("more"), at: start) == .tooMany(.ofProgram))
        #expect(room.known(try question("a0"), at: start) == nil)
        #expect(room.known(try question("more", unit: "other.service"), at: start) == nil)
    }

    @Test func `the number of standing answers is limited`() throws {
        var room = Confirmations()
        _ = room.addAgent { _ in }
        for number in 0...CallerLimits.standingAnswersMax {
            let asked = room.ask(try question(unit: "\(number).service"), at: start) { _ in }
            _ = room.answer(asked.question, .allowForAnHour, at: start)
        }
        #expect(room.known(try question(unit: "0.service"), at: start) == nil)
        let last = "\(CallerLimits.standingAnswersMax).service"
        #expect(room.known(try question(unit: last), at: start) == .allowed)
    }
}
