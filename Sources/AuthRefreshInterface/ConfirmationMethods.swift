/// The wire types of `ServeConfirmations`.
package enum ServeConfirmations {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var event: String
        package var question: String?
        package var account: String?
        package var executable: String?
        package var unit: String?
        package var untilUSec: Int64?

        package init(
            event: String,
            question: String? = nil,
            account: String? = nil,
            executable: String? = nil,
            unit: String? = nil,
            untilUSec: Int64? = nil
        ) {
            self.event = event
            self.question = question
            self.account = account
            self.executable = executable
            self.unit = unit
            self.untilUSec = untilUSec
        }
    }
}

/// The wire types of `AnswerConfirmation`.
package enum AnswerConfirmation {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var question: String
        package var answer: String

        package init(question: String, answer: ConfirmationAnswer) {
            self.question = question
            self.answer = answer.rawValue
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var taken: Bool

        package init(taken: Bool) {
            self.taken = taken
        }
    }
}

/// The user's answer to the question whether a program may have an account's secrets.
package enum ConfirmationAnswer: String, CaseIterable, Sendable {
    case allowOnce = "allow-once"
    case allowForAnHour = "allow-for-an-hour"
    case deny
}
