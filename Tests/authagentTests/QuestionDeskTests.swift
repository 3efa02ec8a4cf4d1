import AuthRefreshInterface
import Testing

@testable import authagent

/// What the end of a question's notification means.
@Suite struct QuestionDeskTests {
    private var desk = QuestionDesk()

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
