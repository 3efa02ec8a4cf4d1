import AuthRefreshInterface
import Testing

@testable import authagent

/// What a question says, and what the end of its notification means.
@Suite struct QuestionDeskTests {
    private var desk = QuestionDesk()

    @Test func `a question says what is asked, and only tokens can be allowed for an hour`() throws {
        func asked(
            _ request: ConfirmationRequest,
            _ others: (inout ServeConfirmations.Reply) -> Void = { _ in }
        ) -> ServeConfirmations.Reply {
            var reply = ServeConfirmations.Reply(event: "asked", question: "1", account: "work")
            reply.request = request.rawValue
            others(&reply)
            return reply
        }
        let questions = [
            (asked(.token), "Give a program a token of work?", "all programs of your session for an hour"),
            (
                asked(.token) { $0.host = "build\u{1B}" }, "Give a program on build a token of work?",
                "all programs there for an hour"
            ),
            (asked(.export), "Give a program the grant of work?", "refresh token"),
            (
                asked(.change) { $0.settings = ["confirm", "clientSecret"] }, "Change the account work?",
                "to change: the question before a token is given, the client secret."
            ),
            (asked(.remove), "Remove the account work?", "remove"),
            (asked(.derive) { $0.derivedAccount = "wiki" }, "Derive wiki from work?", "nobody asks you again"),
        ]
        #expect(Set(questions.map(\.0.request)).count == ConfirmationRequest.allCases.count)
        for (question, summary, part) in questions {
            let text = try #require(QuestionDesk.text(of: question))
            #expect(text.summary == summary)
            #expect(text.body.contains(part), "\(text.body)")
            let hour = QuestionDesk.actions(for: question).contains { $0.key == "allow-for-an-hour" }
            #expect(hour == (question.request == "token"))
        }
        var unknown = asked(.export)
        unknown.request = "something new"
        #expect(QuestionDesk.text(of: unknown) == nil)
    }

    @Test mutating func `a notification that a person dismisses is a no`() {
        desk.noteShown("1", id: 7)
        #expect(desk.noteClosed(id: 7, byPerson: true) == "1")
        #expect(desk.noteClosed(id: 7, byPerson: true) == nil)
    }

    @Test mutating func `a notification that the desktop removes is no answer, and takes none afterwards`() {
        desk.noteShown("1", id: 7)
        #expect(desk.noteClosed(id: 7, byPerson: false) == nil)
        #expect(desk.takeAnswer(id: 7, action: "allow-once") == nil)
        #expect(desk.noteWithdrawn("1") == nil)
    }

    @Test mutating func `questions that outlive the daemon are removed from the screen, and take no answer`() {
        desk.noteShown("1", id: 7)
        desk.noteShown("2", id: 3)
        #expect(desk.forgetAll() == [3, 7])
        #expect(desk.takeAnswer(id: 7, action: "allow-once") == nil)
        #expect(desk.forgetAll() == [])
    }

    @Test mutating func `a button answers its own question, and an unknown one none`() {
        desk.noteShown("1", id: 7)
        #expect(desk.takeAnswer(id: 7, action: "default") == nil)
        #expect(desk.takeAnswer(id: 8, action: "deny") == nil)
        let said = desk.takeAnswer(id: 7, action: "allow-once")
        #expect(said?.question == "1" && said?.answer == .allowOnce)
    }
}
