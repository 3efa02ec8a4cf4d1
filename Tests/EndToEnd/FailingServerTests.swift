import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// What callers get while the authorization server fails, and which requests it gets in that time.
struct FailingServerTests {
    @Test(arguments: [
        Fault.answer(.unavailable()), .answer(.html()), .answer(.junk), .answer(.html(status: 502)), .cutBefore,
        .answer(.oauthError("temporarily_unavailable")), .answer(.unavailable(status: 429)), .huge(byteCount: 4 << 20),
        // The answer of a firewall, and that of a server that ends grants in this way: neither is believed for ten
        // minutes.
        .answer(.html(status: 403)), .answer(CannedAnswer(status: 403)), .expiresIn("0"),
    ])
    func `a valid token is served during failures, then refused with a time, until it recovers`(
        fault: Fault
    ) async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        // Short enough that the refusals without a reason last less than ten minutes.
        try await withIssuer(policy: GrantPolicy(accessTokenLifetime: .seconds(300)), now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let token = try await stage.acquire("work")

            try await issuer.script(fault, times: nil)
            try await stage.passToNextAttempt(of: "work")
            try await feed.next("refresh-failed", of: "work")
            // The reason is still shown during the next attempt.
            let known = feed.changes.count
            let retried = try await feed.next("refresh-started", of: "work", from: known)
            #expect(retried.accounts.first?.failure != nil)
            #expect(try await stage.acquire("work") == token)
            #expect(try await stage.status("work").state == "retrying")

            // A clock that jumps during a request would make it overdue.
            try await feed.next("refresh-failed", of: "work", from: known)
            try await stage.pass(until: token.expiresAtUSec)
            let refusal = try await stage.refusal(of: "work", as: TemporarilyUnavailableError.self)
            #expect(refusal.retryAtUSec != nil)
            #expect(refusal.failure != nil)

            let failures = feed.changes.count
            await issuer.clearFaults()
            try await feed.next("token-refreshed", of: "work", from: failures)
            #expect(try await stage.acquire("work") != token)
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test(arguments: ["invalid_request", "unauthorized_client"])
    func `a refresh token that is dead at its first use is not a misconfiguration, with any error`(
        error: String
    ) async throws {
        try await withSignInStage { stage, daemon, issuer in
            let call = try stage.signIn()
            let answer = try await Person("alice").decide(at: try #require(try await call.started().url))
            _ = try await RawWeb.get(answer)
            try await call.completed()
            try await issuer.script(.answer(.oauthError(error)), times: nil)
            #expect(try await stage.authctl("refresh", "work").end != .exited(0))
            let status = try await stage.status("work")
            #expect(status.state == "retrying", "\(status)")
            #expect(status.failure?.oauthError == error)
            // The code has brought a token, which is still valid.
            try await stage.acquire("work")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `no request is sent before Retry-After, whoever asks`() async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await issuer.script(.answer(.unavailable(retryAfterSeconds: 600)))
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let failed = try await feed.next("refresh-failed", of: "work")
            let sequence = await issuer.lastSequence

            let refusal = try await stage.refusal(of: "work", as: TemporarilyUnavailableError.self)
            #expect(refusal.failure?.httpStatus == 503)
            #expect((refusal.retryAtUSec ?? 0) >= failed.atUSec + 600_000_000)
            let refresh = try await stage.authctl("refresh", "work")
            #expect(refresh.end == .exited(75))
            #expect(await issuer.entries(after: sequence).filter { $0.path == "/token" }.isEmpty)
            try await stage.passToNextAttempt(of: "work")
            let next = try await issuer.waitForRequest(after: sequence) { $0.path == "/token" }
            #expect(next.timeUSec >= failed.atUSec + 600_000_000)
            #expect(next.outcome == .rotated)
            try await feed.next("token-refreshed", of: "work")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a missing server is awaited, and found when it is back`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let feed = try await ChangeFeed(stage)
        // Below the ports that the system assigns by itself, so nobody else listens there by chance.
        let port = Int.random(in: 20_000..<32_000)
        let url = "http://127.0.0.1:\(port)"
        try await stage.add("work", issuer: url, refreshToken: "not-issued-yet")
        let failed = try await feed.next("refresh-failed", of: "work")
        #expect(failed.accounts.first?.failure?.httpStatus == nil)
        let refusal = try await stage.refusal(of: "work", as: TemporarilyUnavailableError.self)
        #expect(refusal.retryAtUSec != nil)

        try await withIssuer(port: port) { issuer, _ in
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "work")
            try await feed.next("token-refreshed", of: "work")
            #expect(try await stage.status("work").state == "fresh")
        }
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a slow server is asked again within its grace period, without losing the token`()
        async throws
    {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(policy: GrantPolicy(gracePeriod: .seconds(60)), now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await issuer.script(.delayAfter(.seconds(3600)))
            // Half of the grace period is for the answer, the rest for asking again.
            let grant = try await issuer.issueGrant(clientID: "app")
            try await stage.add("work", issuer: url, grant: grant, rotationGraceSec: 50)
            _ = try await issuer.waitForRequest { $0.outcome == .rotated }
            try await stage.pass(.seconds(26))
            try await feed.next("refresh-failed", of: "work")
            try await daemon.says("the answer to a refresh was lost")
            try await feed.next("token-refreshed", of: "work")
            #expect(await issuer.counters.graceRepeats == 1)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an ended grant is reported with the provider profile's note`() async throws {
        let profile = "notes: [{about: lifetime, text: \"Sign-ins of projects in testing end after 7 days.\"}]\n"
        try await withSignInStage(profile: profile) { stage, _, issuer in
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.revokeGrant(grant.family)
            try await stage.importGrant(grant, into: "work")
            let refused = try await stage.authctl("token", "work")
            #expect(refused.end == .exited(3))
            #expect(refused.errors.contains("authctl login work (Sign-ins of projects in testing end after 7 days.)"))
        }
    }
}
