internal import OAuthClient
internal import RefreshCore

/// What a sign-out is to do beside erasing the tokens.
struct SignOutRequest: Sendable {
    var revokes = false
    var endsSession = false
    /// Whether its client is deregistered, and the account removed, afterwards.
    var forgets = false
}

/// What became of a sign-out.
struct SignOutReport: Sendable {
    /// In the order in which they are done; the raw values are the wire's.
    enum Step: String, Sendable {
        case revoke
        case endSession = "end-session"
        case erase, deregister, remove
    }

    enum Outcome: Sendable {
        case done
        /// There was nothing to do it to.
        case notNeeded
        case failed(FailureDetail)
    }

    struct Result: Sendable {
        let step: Step
        let outcome: Outcome
    }

    private(set) var steps: [Result] = []
    /// Where a browser ends the session; nil if it was not asked for, or there is no such place.
    var sessionEnd: EndSessionURL?

    mutating func note(_ step: Step, _ outcome: Outcome) {
        steps.append(Result(step: step, outcome: outcome))
    }
}
