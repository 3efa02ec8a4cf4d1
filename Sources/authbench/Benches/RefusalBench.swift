internal import AuthRefreshInterface
internal import TextEncodings
internal import TestSupport

/// Measures how long a program outside of an account's list waits for its refusal, if the account has a token and if it
/// has none. Work on a token, such as reading the disk or asking a server, would show in the difference.
extension Workshop {
    nonisolated func refusal() async throws -> [Figure] {
        let issuer = try await LocalIssuer(in: self.folder, tokenLifetime: .seconds(3600))
        let stage = try DaemonStage()
        try stage.configure(issuer.configuration(concurrency: 8))
        let daemon = try await stage.start()
        try await stage.add("full", issuer: issuer.url, refreshToken: try await issuer.grant())
        try await stage.acquire("full")
        try await stage.add("empty", issuer: issuer.url)
        let accounts = ["full", "empty"]
        for account in accounts {
            let change = ["account", "edit", account, "--allow-unit", "no-such-unit.service", "--yes"]
            let edit = try await stage.authctl(change)
            guard edit.end == .exited(0) else { throw TestFault.failed(program: "authctl", errors: edit.errors) }
        }
        var times = [[Double]](repeating: [], count: accounts.count)
        for _ in 0..<effort.processRuns {
            // In random order, so that none always follows the other.
            for (number, account) in Array(accounts.enumerated()).shuffled() {
                times[number].append(try await Self.refusal(of: account, stage.socket) / .microseconds(1))
            }
        }
        try await daemon.terminate()
        await issuer.shutdown()
        let medians = times.map(\.median).sorted()
        return [
            Figure(
                name: "refusal/with-and-without-token",
                value: medians[1],
                unit: .microseconds,
                floor: medians[0],
                limit: .timesFloor(atMost: 1.5)
            )
        ]
    }

    /// The time from connecting to the refusal.
    private static func refusal(of account: String, _ socket: String) async throws -> Duration {
        try await onOwnThread {
            let start = ContinuousClock.now
            var connection = try VarlinkConnection(path: socket)
            let parameters = "{\"account\":\(JSONText.quote(account))}"
            let reply = try connection.call(Method.acquireToken.rawValue, parameters: parameters)
            guard let error = reply.error, error.contains("PermissionDenied") else {
                throw TestFault.unreadable("a token of \(account)")
            }
            return ContinuousClock.now - start
        }
    }
}
