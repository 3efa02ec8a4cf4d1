internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport
internal import VarlinkClient

/// Many callers who all find the same token ended.
enum ExpiredTokenTrial {
    struct Outcome {
        var requests = 0
        var tokens: Set<String> = []
        var errors: Set<String> = []
    }

    /// - Parameter callers: each with a connection of its own.
    static func run(callers: Int) async throws -> Outcome {
        var outcome = Outcome()
        try await withIssuer(policy: GrantPolicy(accessTokenLifetime: .seconds(2))) { issuer, url in
            let stage = try DaemonStage()
            // One in sixteen places is for other users.
            try stage.configure("max_connections: \(callers + callers / 8 + 16)\n")
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let old = try await stage.acquire("work")
            // The daemon stands still until the token has ended, and finds the deadline and all callers together.
            try await daemon.freeze()
            await issuer.setPolicy(GrantPolicy(accessTokenLifetime: .seconds(3600)))
            let before = await issuer.lastSequence
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<callers { group.addTask { try await ask(stage.socket) } }
                try await Task.sleep(until: .ending(old.expiresAtUSec))
                daemon.thaw()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            outcome.requests = await issuer.entries(after: before).count { $0.path == "/token" }
            outcome.errors = Set(answers.filter { $0.hasPrefix("error") })
            outcome.tokens = Set(answers).subtracting(outcome.errors)
            if outcome.tokens.contains(old.accessToken) { outcome.errors.insert("the old token was given out") }
            try await daemon.terminate()
        }
        return outcome
    }

    private static func ask(_ socket: String) async throws -> String {
        try await onOwnThread {
            var connection = try VarlinkConnection(path: socket)
            let reply = try connection.call(
                Method.acquireToken.rawValue,
                parameters: #"{"account":"work","minimumValiditySec":1}"#,
                timeoutMilliseconds: 60_000
            )
            return reply.parameters["accessToken"]?.string ?? "error: \(reply.error ?? "")"
        }
    }
}
