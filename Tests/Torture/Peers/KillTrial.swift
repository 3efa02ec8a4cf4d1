internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// Kills daemons just after the server has rotated their refresh token. The server accepts no second use of a token.
struct KillTrial {
    /// As the peers were killed.
    private static let delays: [Duration] = [0, 5, 20, 50, 100, 300].map { .milliseconds($0) }

    let kills: Int

    struct Result {
        /// Kills and losses for each delay, in its order.
        var lost: [(delay: Duration, kills: Int, lost: Int)] = []
        /// Accounts that were lost although the caller had the new token. There must be none.
        var lostAfterAnswer = 0

        var text: String {
            lost.map { "\($0.delay.components.attoseconds / 1_000_000_000_000_000) ms: lost \($0.lost) of \($0.kills)" }
                .joined(separator: ", ")
        }
    }

    func run() async throws -> Result {
        var result = Result(lost: Self.delays.map { ($0, 0, 0) })
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            for number in 0..<kills {
                let place = number % Self.delays.count
                let (isLost, wasAnswered) = try await kill(
                    "account\(number)",
                    after: Self.delays[place],
                    stage,
                    issuer,
                    url
                )
                result.lost[place].kills += 1
                guard isLost else { continue }
                result.lost[place].lost += 1
                if wasAnswered { result.lostAfterAnswer += 1 }
            }
        }
        return result
    }

    /// - Returns: whether the grant is lost, and whether a caller had been answered before the kill.
    private func kill(
        _ name: String,
        after delay: Duration,
        _ stage: DaemonStage,
        _ issuer: DemoIssuer,
        _ url: String
    ) async throws -> (isLost: Bool, wasAnswered: Bool) {
        let grant = try await issuer.issueGrant(clientID: "app")
        let daemon = try await stage.start()
        try await stage.add(name, issuer: url, grant: grant)
        try await stage.acquire(name)
        let sequence = await issuer.lastSequence
        let answered = Task { (try? await stage.acquire(name, force: true)) != nil }
        // The server records an exchange before it sends the answer. So 0 ms is an earlier moment than for the other
        // programs.
        _ = try await issuer.waitForRequest(after: sequence) { $0.family == grant.family && $0.outcome == .rotated }
        try await Task.sleep(for: delay)
        try await daemon.kill()
        let wasAnswered = await answered.value
        let successor = try await stage.start()
        let isLost = try await isLost(name, stage)
        try await successor.terminate()
        return (isLost, wasAnswered)
    }

    /// Whether the server finally refuses the next refresh, which spends the token in the store.
    private func isLost(_ name: String, _ stage: DaemonStage) async throws -> Bool {
        let feed = try await ChangeFeed(stage)
        // Asks as a person does. While the access token is valid, callers cannot make the daemon send a refresh token
        // that may have been spent.
        _ = try await stage.authctl("refresh", name)
        // A refusal after a lost answer is confirmed before it is believed. A token would have come at once.
        let settled = ["fresh", "interaction-required"]
        var state = try await stage.status(name).state
        if !settled.contains(state) {
            let end = try await feed.changes.first("the rest of \(name)", within: .seconds(300)) {
                $0.account == name && ["token-refreshed", "interaction-required"].contains($0.event)
            }
            state = end.accounts.first?.state ?? state
        }
        return state == "interaction-required"
    }
}
