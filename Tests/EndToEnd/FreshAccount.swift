import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// A store with one account, `work`, that was fresh when its daemon ended. No test may make it lose the grant.
struct FreshAccount {
    let stage: DaemonStage
    let token: AcquireToken.Reply

    static func with(_ body: (FreshAccount) async throws -> Void) async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let account = FreshAccount(stage: stage, token: try await stage.acquire("work"))
            #expect(try await daemon.terminate() == .exited(0))
            try await body(account)
            try await account.expectFresh()
            let counters = await issuer.counters
            #expect(counters.tokenRequests == counters.refreshes)
        }
    }

    /// Starts a daemon that must refuse to start.
    func expectRefusal(
        _ arguments: [String] = [],
        status: Int32,
        says text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let daemon = try stage.spawn(arguments)
        let end = try await daemon.ended()
        #expect(end == .exited(status), "\(daemon.logText)", sourceLocation: sourceLocation)
        #expect(daemon.logText.contains("authrefreshd: error: "), sourceLocation: sourceLocation)
        #expect(daemon.logText.contains(text), "\(daemon.logText)", sourceLocation: sourceLocation)
        #expect(daemon.logText.contains("authrefreshd: hint: "), sourceLocation: sourceLocation)
    }

    private func expectFresh() async throws {
        let daemon = try await stage.start()
        #expect(try await stage.status("work").state == "fresh")
        #expect(try await stage.acquire("work") == token)
        // The stored refresh token is still the one that the server accepts.
        try await stage.acquire("work", force: true)
        #expect(try await daemon.terminate() == .exited(0))
    }
}
