internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport
internal import TextEncodings

/// Many callers who all find the same token expired.
enum ExpiredTokenTrial {
    struct Outcome {
        var requests = 0
        var tokens: Set<String> = []
        var errors: Set<String> = []
    }

    /// - Parameter callers: the number of callers, each with a connection of its own.
    static func run(callers: Int) async throws -> Outcome {
        var outcome = Outcome()
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            // This process may have half of them.
            try stage.configure("max_connections: \(2 * callers + 16)\n")
            let daemon = try await stage.start()
            let token = try await EndedToken(on: stage, issuer, url)
            let (answers, requests) = try await token.answers(to: callers) { try await ask(stage.socket) }
            outcome.requests = requests.count
            outcome.errors = Set(answers.filter { $0.hasPrefix("error") })
            outcome.tokens = Set(answers).subtracting(outcome.errors)
            if outcome.tokens.contains(token.old.accessToken) { outcome.errors.insert("the old token was given out") }
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
                timeoutMilliseconds: 120_000
            )
            return reply.parameters["accessToken"]?.string ?? "error: \(reply.error ?? "")"
        }
    }
}
