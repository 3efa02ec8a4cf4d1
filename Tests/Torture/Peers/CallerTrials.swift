internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// How much one caller or server delays the others.
enum CallerTrials {
    /// How often a server is asked, within 10 s, for tokens of 30 s.
    static func requestsForShortToken() async throws -> Int {
        var requests = 0
        try await withIssuer(policy: GrantPolicy(accessTokenLifetime: .seconds(30))) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            // The check counts the requests in this time.
            try await Task.sleep(for: .seconds(10))
            requests = await issuer.counters.tokenRequests
            try await daemon.terminate()
        }
        return requests
    }

    /// Whether callers are served while another caller has sent half a request and then nothing.
    static func isServedBesideHalfRequest() async throws -> Bool {
        var isServed = false
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            let stalled = try RawConnection(stage.socket)
            try stalled.send(#"{"method":"io.authrefresh.Acqui"#)
            isServed = try await stage.authctl("token", "work").end == .exited(0)
            withExtendedLifetime(stalled) {}
            try await daemon.terminate()
        }
        return isServed
    }

    /// Whether an account's cached token is given out while another account's server has accepted a request and does
    /// not answer.
    static func isServedBesideSilentServer() async throws -> Bool {
        var isServed = false
        try await withIssuer { silent, silentURL in
            try await withIssuer { issuer, url in
                let stage = try DaemonStage()
                try stage.configure("request_timeout: 30s\n")
                let daemon = try await stage.start()
                try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
                try await stage.acquire("work")
                try await silent.script(.delayBefore(.seconds(3600)), times: nil)
                try await stage.add("stuck", issuer: silentURL, grant: silent.issueGrant(clientID: "app"))
                _ = try await silent.waitForRequest { $0.outcome == .held }
                isServed = try await stage.authctl("token", "work").end == .exited(0)
                // The request is still held, so the measurement was made during it.
                let isStillHeld = await silent.entries().allSatisfy { $0.outcome != .notServed }
                isServed = isServed && isStillHeld
                try await daemon.kill()
            }
        }
        return isServed
    }
}
