internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// How much one caller or server delays the others.
enum CallerTrials {
    /// How often a server is asked, within 10 s of the daemon's time, for tokens of 30 s.
    static func requestsForShortToken() async throws -> Int {
        var requests = 0
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(policy: GrantPolicy(accessTokenLifetime: .seconds(30)), now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            // Half a second at a time, in which whatever is due gets its turn.
            for _ in 0..<20 {
                try await stage.pass(.milliseconds(500))
                _ = try await stage.status("work")
            }
            // On a busy machine more time has passed. What came later does not count.
            let times = await issuer.entries().filter { $0.path == "/token" }.map(\.timeUSec)
            requests = times.count { $0 < (times.first ?? 0) + 10_000_000 }
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
                try stage.configure("request_timeout: 40s\n")
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
