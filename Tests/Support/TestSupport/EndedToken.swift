package import AuthRefreshInterface
package import DemoIssuer

/// The account `work` of a daemon, whose token has expired when several callers ask for it.
package struct EndedToken: Sendable {
    /// The token that expires.
    package let old: AcquireToken.Reply
    private let stage: DaemonStage
    private let issuer: DemoIssuer

    /// - Parameter stage: a stage with a clock of its own, on which a daemon runs.
    package init(on stage: DaemonStage, _ issuer: DemoIssuer, _ url: String) async throws {
        self.stage = stage
        self.issuer = issuer
        try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
        old = try await stage.acquire("work")
    }

    /// Lets the token expire, and makes several calls while the server delays its answer to the refresh that was due.
    ///
    /// - Parameter call: makes one call on a connection of its own.
    /// - Returns: the answers to the calls, and the requests to the token endpoint in that time.
    package func answers<Answer: Sendable>(
        to count: Int,
        call: @escaping @Sendable () async throws -> Answer
    ) async throws -> (answers: [Answer], requests: [LogEntry]) {
        let before = await issuer.lastSequence
        try await issuer.script(.delayAfter(.seconds(3600)))
        try await stage.pass(until: old.expiresAtUSec)
        _ = try await issuer.waitForRequest(after: before) { $0.path == "/token" }
        let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<count { group.addTask { try await call() } }
            try await stage.connected(count)
            // The answer to a later call shows that those before it wait.
            _ = try await stage.info()
            await issuer.endDelays()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return (answers, await issuer.entries(after: before).filter { $0.path == "/token" })
    }
}
