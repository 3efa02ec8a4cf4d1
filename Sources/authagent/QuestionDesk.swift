internal import AuthRefreshInterface

/// The questions on the screen: may a program have an account's secrets?
struct QuestionDesk {
    /// The questions, by the number of the notification.
    private var shown: [UInt32: String] = [:]

    static let actions = [
        (key: ConfirmationAnswer.allowOnce.rawValue, label: NotificationWords.allowOnce),
        (key: ConfirmationAnswer.allowForAnHour.rawValue, label: NotificationWords.allowForAnHour),
        (key: ConfirmationAnswer.deny.rawValue, label: NotificationWords.deny),
    ]

    /// The text of the notification. The body uses the markup of the desktop notifications specification.
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

    /// Records that the question was answered, or that nobody waits for it any more.
    ///
    /// - Returns: the notification to remove; nil if there is none.
    mutating func noteWithdrawn(_ question: String) -> UInt32? {
        guard let id = shown.first(where: { $0.value == question })?.key else { return nil }
        shown[id] = nil
        return id
    }

    /// The answer that a person gave by a button, or by closing the notification, which means no; nil if the
    /// notification is not a question.
    mutating func takeAnswer(id: UInt32, action: String?) -> (question: String, answer: ConfirmationAnswer)? {
        guard let question = shown[id] else { return nil }
        let answer = action.map(ConfirmationAnswer.init(rawValue:)) ?? .deny
        guard let answer else { return nil }
        shown[id] = nil
        return (question, answer)
    }

    /// Forgets all questions, because none is on the screen any more.
    mutating func forgetAll() {
        shown = [:]
    }
}
