internal import AuthRefreshInterface

/// The questions on the screen: may a program have what it wants of an account?
struct QuestionDesk {
    /// The questions, by the number of the notification.
    private var shown: [UInt32: String] = [:]

    private static let hourLabel = "Allow for an hour"

    /// The buttons. Only tokens can be allowed for an hour.
    static func actions(for question: ServeConfirmations.Reply) -> [(key: String, label: String)] {
        let isForToken = question.request == ConfirmationRequest.token.rawValue
        let hour = [(key: ConfirmationAnswer.allowForAnHour.rawValue, label: hourLabel)]
        return [(key: ConfirmationAnswer.allowOnce.rawValue, label: "Allow once")]
            + (isForToken ? hour : [])
            + [(key: ConfirmationAnswer.deny.rawValue, label: "Deny")]
    }

    /// The text of the notification. The body uses the markup of the desktop notifications specification.
    ///
    /// - Returns: nil if this version does not know what is asked. Nobody should agree to something unknown.
    static func text(of question: ServeConfirmations.Reply) -> (summary: String, body: String)? {
        guard let request = question.request.flatMap(ConfirmationRequest.init(rawValue:)) else { return nil }
        let account = NotificationText.line(question.account ?? "")
        let summary: String
        let body: String
        switch request {
        case .token:
            let host = question.host.map(NotificationText.line)
            let (place, others) =
                host.map { (" on \($0)", "all programs there") } ?? ("", "all programs of your session")
            summary = "Give a program\(place) a token of \(account)?"
            body =
                "A program\(place) asks for this account's token. \"\(hourLabel)\" opens the account's tokens to "
                + "\(others) for an hour."
        case .export:
            summary = "Give a program the grant of \(account)?"
            body =
                "A program asks for this account's refresh token and secrets. With them, it gets tokens without the "
                + "daemon."
        case .change:
            let fields = (question.settings ?? []).map { NotificationText.line(Setting.phrase(forField: $0)) }
            summary = "Change the account \(account)?"
            body = "A program asks to change: \(fields.joined(separator: ", "))."
        case .remove:
            summary = "Remove the account \(account)?"
            body = "A program asks to remove this account and its tokens."
        case .derive:
            let derived = NotificationText.line(question.derivedAccount ?? "")
            summary = "Derive \(derived) from \(account)?"
            body =
                "A program asks to set up the account \(derived). It gets its tokens with those of \(account), and "
                + "nobody asks you again."
        }
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
