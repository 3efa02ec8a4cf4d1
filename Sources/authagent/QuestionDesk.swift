internal import AuthRefreshInterface

/// The questions whether a program may have an account's secrets, as they stand on the screen.
struct QuestionDesk {
    /// The questions, by the numbers of their notifications.
    private var shown: [UInt32: String] = [:]

    static let actions = [
        (key: ConfirmationAnswer.allowOnce.rawValue, label: NotificationWords.allowOnce),
        (key: ConfirmationAnswer.allowForAnHour.rawValue, label: NotificationWords.allowForAnHour),
        (key: ConfirmationAnswer.deny.rawValue, label: NotificationWords.deny),
    ]

    /// What the notification says; the body in the markup of the desktop notifications specification.
    static func text(of question: ServeConfirmations.Reply) -> (summary: String, body: String) {
        let body = NotificationWords.questionBody(
            program: question.executable.map(NotificationText.line),
            unit: question.unit.map(NotificationText.line)
        )
        let summary = NotificationWords.questionSummary(NotificationText.line(question.account ?? ""))
        return (summary, NotificationText.escaped(body))
    }

    mutating func noteShown(_ question: String, id: UInt32) {
        shown[id] = question
    }

    /// The question is answered, or nobody waits for it any more.
    ///
    /// - Returns: the notification that goes; nil if there is none.
    mutating func noteWithdrawn(_ question: String) -> UInt32? {
        guard let id = shown.first(where: { $0.value == question })?.key else { return nil }
        shown[id] = nil
        return id
    }

    /// What a person has said by a button, or by closing the notification, which is a no; nil if it is no question's.
    mutating func takeAnswer(id: UInt32, action: String?) -> (question: String, answer: ConfirmationAnswer)? {
        guard let question = shown[id] else { return nil }
        let answer = action.map(ConfirmationAnswer.init(rawValue:)) ?? .deny
        guard let answer else { return nil }
        shown[id] = nil
        return (question, answer)
    }

    /// None of what was shown is on the screen any more.
    mutating func forgetAll() {
        shown = [:]
    }
}
