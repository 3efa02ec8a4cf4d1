internal import AuthRefreshInterface

/// The questions on the screen: may a program have what it wants of an account?
struct QuestionDesk {
    /// The questions, by the number of the notification.
    private var shown: [UInt32: String] = [:]

    /// The buttons. Only tokens can be allowed for an hour.
    static func actions(for question: ServeConfirmations.Reply) -> [(key: String, label: String)] {
        let isForToken = question.request == ConfirmationRequest.token.rawValue
        let hour = [(key: ConfirmationAnswer.allowForAnHour.rawValue, label: NotificationWords.allowForAnHour)]
        return [(key: ConfirmationAnswer.allowOnce.rawValue, label: NotificationWords.allowOnce)]
            + (isForToken ? hour : [])
            + [(key: ConfirmationAnswer.deny.rawValue, label: NotificationWords.deny)]
    }

    /// The text of the notification. The body uses the markup of the desktop notifications specification.
    ///
    /// - Returns: nil if this version does not know what is asked. Nobody should agree to something unknown.
    static func text(of question: ServeConfirmations.Reply) -> (summary: String, body: String)? {
        guard let request = question.request.flatMap(ConfirmationRequest.init(rawValue:)) else { return nil }
        let account = NotificationText.line(question.account ?? "")
        let text: (summary: String, body: String) =
            switch request {
            case .token: NotificationWords.tokenQuestion(account, host: question.host.map(NotificationText.line))
            case .export: NotificationWords.exportQuestion(account)
            case .change:
                NotificationWords.changeQuestion(
                    account,
                    (question.settings ?? []).map { NotificationText.line(Setting.words(forField: $0)) }
                )
            case .remove: NotificationWords.removalQuestion(account)
            case .derive:
                NotificationWords.derivationQuestion(account, of: NotificationText.line(question.derivedAccount ?? ""))
            }
        return (text.summary, NotificationText.escaped(text.body))
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

    /// The answer that a person gave by a button; nil if the notification is not a question, or does not have the
    /// button.
    mutating func takeAnswer(id: UInt32, action: String) -> (question: String, answer: ConfirmationAnswer)? {
        guard let question = shown[id], let answer = ConfirmationAnswer(rawValue: action) else { return nil }
        shown[id] = nil
        return (question, answer)
    }

    /// Records that a notification is no longer on the screen.
    ///
    /// - Returns: the question to which the person said no by dismissing it; nil if the desktop removed it. That is no
    ///   answer, so the question then ends with its time.
    mutating func noteClosed(id: UInt32, byPerson: Bool) -> String? {
        let question = shown.removeValue(forKey: id)
        return byPerson ? question : nil
    }

    /// Forgets all questions, because nobody takes their answers any more.
    ///
    /// - Returns: the notifications that are still on the screen.
    mutating func forgetAll() -> [UInt32] {
        defer { shown = [:] }
        return shown.keys.sorted()
    }
}
