internal import AuthRefreshInterface
internal import DemoIssuer

/// The building blocks of the story.
extension Show {
    /// The last announced generation; 0 before the account exists.
    var generation: Int64 {
        status?.generation ?? 0
    }

    private var status: AccountStatus? {
        scene.accounts.first { $0.account == Self.account }
    }

    /// Begins a part of the story.
    mutating func enter(_ chapter: String) {
        scene.chapter = chapter
        tell(Report(.chapter, chapter))
    }

    /// Signs the person in, as far as this server requires it.
    func issueGrant() async throws(DemoError) -> IssuedGrant {
        try await issuer.issueGrant(clientID: Self.clientID)
    }

    /// Waits until the account has the wanted state.
    ///
    /// - Parameter step: what is waited for, in lower case, for an error.
    @discardableResult
    mutating func reach(
        _ step: String,
        within limit: Duration,
        where isReached: (AccountStatus) -> Bool
    ) async throws(DemoError) -> AccountStatus {
        // Check at every event, including ticks, so that the wait ends even if the change came before it.
        let deadline = ContinuousClock.now + limit
        while true {
            if let status, isReached(status) { return status }
            guard ContinuousClock.now < deadline else { throw .tookTooLong(step, limit) }
            _ = try await wait { _ in true }
        }
    }

    /// Waits for the next automatic refresh.
    mutating func awaitRefresh(_ step: String) async throws(DemoError) {
        let before = generation
        try await reach(step, within: plan.refreshLimit) { $0.state == "fresh" && $0.generation > before }
    }

    /// Keeps the picture for a moment.
    mutating func pause() async throws(DemoError) {
        let end = ContinuousClock.now + plan.pause
        _ = try await wait { _ in ContinuousClock.now >= end ? true : nil }
    }

    /// Runs `authctl` and shows its output.
    ///
    /// - Parameters:
    ///   - expected: the exit status that the step expects.
    ///   - isSecret: whether its output is shown only as "a token".
    ///   - isQuiet: whether its output is not shown.
    /// - Throws: for any other exit status.
    @discardableResult
    mutating func authctl(
        _ arguments: [String],
        input: String = "",
        expecting expected: Int32 = 0,
        isSecret: Bool = false,
        isQuiet: Bool = false
    ) async throws(DemoError) -> AuthctlProcess.Outcome {
        let command = "authctl \(arguments.joined(separator: " "))"
        tell(Report(.command, command))
        try AuthctlProcess.start(executable: programs.authctl, arguments: arguments, input: input, stage: stage) {
            [announce] in announce(.commandEnded($0))
        }
        let outcome = try await wait(for: (step: "running '\(command)'", limit: plan.stepLimit)) { occurrence in
            if case .commandEnded(let outcome) = occurrence { return outcome }
            return nil
        }
        guard outcome.end == .status(expected) else {
            let errors = outcome.errors.isEmpty ? "" : ":\n\(outcome.errors)"
            throw DemoError("'\(command)' ended with \(outcome.end), expected status \(expected)\(errors)", .daemon)
        }
        if isSecret {
            tell(Report(.answer, "(an access token of \(outcome.output.utf8.count - 1) characters)"))
        } else if !isQuiet {
            for line in outcome.output.split(separator: "\n") { tell(Report(.answer, String(line))) }
        }
        return outcome
    }
}

extension DemoError {
    static func tookTooLong(_ step: String, _ limit: Duration) -> DemoError {
        DemoError("\(step): not done within \(limit.components.seconds) s", .daemon)
    }

    /// The exit status: 1, or the shell's number for a signal.
    var exitStatus: Int32 {
        if case .signal(let number) = cause { return 128 + number }
        return 1
    }
}
