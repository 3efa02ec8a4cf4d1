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
        package var request: String?
        package var settings: [String]?
        package var derivedAccount: String?
        package var host: String?
        package var untilUSec: Int64?

        package init(
            event: String,
            question: String? = nil,
            account: String? = nil,
            request: ConfirmationRequest? = nil,
            settings: [String]? = nil,
            derivedAccount: String? = nil,
            host: String? = nil,
            untilUSec: Int64? = nil
        ) {
            self.event = event
            self.question = question
            self.account = account
            self.request = request?.rawValue
            self.settings = settings
            self.derivedAccount = derivedAccount
            self.host = host
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

/// What a program wants when the user is asked: `request` of `ServeConfirmations`.
package enum ConfirmationRequest: String, CaseIterable, Sendable {
    case token, export, change, remove, derive
}

/// The user's answer to the question whether a program may have what it wants.
package enum ConfirmationAnswer: String, CaseIterable, Sendable {
    case allowOnce = "allow-once"
    case allowForAnHour = "allow-for-an-hour"
    case deny
}
