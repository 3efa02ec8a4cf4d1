internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// Daemons killed just after the server has rotated their refresh token, at a server that forgives no second use.
struct KillTrial {
    /// As the peers were killed.
    private static let delays: [Duration] = [0, 5, 20, 50, 100, 300].map { .milliseconds($0) }

    let kills: Int

    struct Result {
        /// Kills and losses for each delay, in its order.
        var lost: [(delay: Duration, kills: Int, lost: Int)] = []
        /// Accounts lost although the caller had been given the new token: there must be none.
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
        // The server writes an exchange down before its answer leaves: 0 ms is earlier than the peers were killed.
        _ = try await issuer.waitForRequest(after: sequence) { $0.family == grant.family && $0.outcome == .rotated }
        try await Task.sleep(for: delay)
        try await daemon.kill()
        let wasAnswered = await answered.value
        let successor = try await stage.start()
        let isLost = try await isLost(name, stage)
        try await successor.terminate()
        return (isLost, wasAnswered)
    }

    /// Whether the next refresh, which spends the token that the store has, is refused for good.
    private func isLost(_ name: String, _ stage: DaemonStage) async throws -> Bool {
        let feed = try await ChangeFeed(stage)
        // As a person asks: a refresh token that may have been spent is kept back from callers while the access token is good.
        _ = try await stage.authctl("refresh", name)
        // A refusal after a lost answer is confirmed before it is believed; a token has come at once.
        let settled = ["fresh", "interaction-required"]
        var state = try await stage.status(name).state
        if !settled.contains(state) {
            let end = try await feed.changes.first("the rest of \(name)", within: .seconds(240)) {
                $0.account == name && ["token-refreshed", "interaction-required"].contains($0.event)
            }
            state = end.accounts.first?.state ?? state
        }
        return state == "interaction-required"
    }
}
