package import AuthRefreshInterface
package import DemoIssuer

/// The account `work` of a daemon, whose token expires before anybody can refresh it.
package struct EndedToken: Sendable {
    /// The server's first rules: tokens expire soon, and are not due for a refresh before the next request.
    package static let policy = GrantPolicy(accessTokenLifetime: .seconds(2))
    private static let policyAfterwards = GrantPolicy(accessTokenLifetime: .seconds(3600))

    /// The token that expires.
    package let old: AcquireToken.Reply
    private let daemon: DaemonProcess
    private let issuer: DemoIssuer

    /// - Parameter issuer: an issuer with `policy`.
    package init(of daemon: DaemonProcess, on stage: DaemonStage, _ issuer: DemoIssuer, _ url: String) async throws {
        self.daemon = daemon
        self.issuer = issuer
        try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
        old = try await stage.acquire("work")
    }

    /// Makes several calls while the daemon is stopped. When it continues, the token has expired, and all callers and
    /// the deadline are there at once.
    ///
    /// - Returns: the answers to the calls, and the requests to the token endpoint in that time.
    package func answers<Answer: Sendable>(
        to count: Int,
        call: @escaping @Sendable () async throws -> Answer
    ) async throws -> (answers: [Answer], requests: [LogEntry]) {
        try await daemon.freeze()
        await issuer.setPolicy(Self.policyAfterwards)
        let before = await issuer.lastSequence
        let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<count { group.addTask { try await call() } }
            try await Task.sleep(until: .ending(old.expiresAtUSec))
            daemon.thaw()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return (answers, await issuer.entries(after: before).filter { $0.path == "/token" })
    }
}
