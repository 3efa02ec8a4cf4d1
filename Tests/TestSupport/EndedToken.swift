package import AuthRefreshInterface
package import DemoIssuer

/// The account `work` of a daemon, whose token ends before anybody can refresh it.
package struct EndedToken: Sendable {
    /// The rules of the server at its beginning: a token that ends soon, and is not due before it is asked for again.
    package static let policy = GrantPolicy(accessTokenLifetime: .seconds(2))
    private static let policyAfterwards = GrantPolicy(accessTokenLifetime: .seconds(3600))

    /// The token that ends.
    package let old: AcquireToken.Reply
    private let daemon: DaemonProcess
    private let issuer: DemoIssuer

    /// - Parameter issuer: has `policy`.
    package init(of daemon: DaemonProcess, on stage: DaemonStage, _ issuer: DemoIssuer, _ url: String) async throws {
        self.daemon = daemon
        self.issuer = issuer
        try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
        old = try await stage.acquire("work")
    }

    /// Makes so many calls while the daemon stands still, which finds the deadline and all callers together when the token has ended.
    ///
    /// - Returns: what came of the calls, and what the token endpoint was asked meanwhile.
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
