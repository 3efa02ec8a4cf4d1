import AuthRefreshInterface
import DemoIssuer
import Glibc
import TestSupport
import Testing

/// A daemon that dies by an error of its own, whenever the server answers one of its accounts.
struct CrashLoopTests {
    private func lastRequest(at issuer: DemoIssuer) async -> Int {
        await issuer.entries().map(\.sequence).max() ?? 0
    }

    @Test func `an account that ends the daemon twice waits with its reason, and the others are served`() async throws {
        try await withIssuer(policy: GrantPolicy(gracePeriod: .seconds(600))) { issuer, url in
            let stage = try DaemonStage()
            var daemon = try await stage.start()
            try await stage.add("good", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("good")
            try await issuer.script(.delayAfter(.seconds(600)))
            var seen = await lastRequest(at: issuer)
            try await stage.add("bad", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            _ = try await issuer.waitForRequest(after: seen) { $0.path == "/token" }
            daemon.signal(SIGILL)
            #expect(try await daemon.ended() == .signalled(SIGILL))

            daemon = try await stage.start()
            try await daemon.says("the previous daemon crashed")
            #expect(try await stage.status("bad").state == "retrying")
            try await stage.acquire("good", force: true)
            try await issuer.script(.delayAfter(.seconds(600)))
            seen = await lastRequest(at: issuer)
            // It comes after the rest that the daemon gives its suspects.
            _ = try await issuer.waitForRequest(after: seen, within: .seconds(60)) { $0.path == "/token" }
            daemon.signal(SIGILL)
            #expect(try await daemon.ended() == .signalled(SIGILL))

            daemon = try await stage.start()
            let status = try await stage.status("bad")
            #expect(status.state == "retrying")
            #expect(status.failure?.summary == "the daemon crashed while it waited for the server's answer")
            try await stage.acquire("good", force: true)
            let count = await issuer.counters.tokenRequests
            #expect(try await stage.authctl("refresh", "bad").end == .exited(75))
            #expect(await issuer.counters.tokenRequests == count)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a daemon that is killed with SIGKILL leaves no suspects`() async throws {
        try await withIssuer(policy: GrantPolicy(gracePeriod: .seconds(600))) { issuer, url in
            let stage = try DaemonStage()
            var daemon = try await stage.start()
            let seen = await lastRequest(at: issuer)
            try await issuer.script(.delayAfter(.seconds(600)))
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            _ = try await issuer.waitForRequest(after: seen) { $0.path == "/token" }
            try await daemon.kill()
            daemon = try await stage.start()
            #expect(try await daemon.terminate() == .exited(0))
            #expect(!daemon.logText.contains("crashed"))
        }
    }
}
