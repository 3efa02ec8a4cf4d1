/// The wire types of `SignOut`.
package enum SignOut {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var revoke: Bool?
        package var endSession: Bool?
        package var forget: Bool?

        package init(account: String, revoke: Bool? = nil, endSession: Bool? = nil, forget: Bool? = nil) {
            self.account = account
            self.revoke = revoke
            self.endSession = endSession
            self.forget = forget
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var steps: [SignOutStep]
        package var endSessionUrl: String?
        package var endSessionHost: String?

        package init(steps: [SignOutStep], endSessionUrl: String? = nil, endSessionHost: String? = nil) {
            self.steps = steps
            self.endSessionUrl = endSessionUrl
            self.endSessionHost = endSessionHost
        }
    }
}

/// One step of a sign-out. The fields are described in `io.authrefresh.varlink`.
package struct SignOutStep: Codable, Hashable, Sendable {
    package var step: String
    package var outcome: String
    package var failure: Failure?

    package init(step: String, outcome: String, failure: Failure? = nil) {
        self.step = step
        self.outcome = outcome
        self.failure = failure
    }
}
