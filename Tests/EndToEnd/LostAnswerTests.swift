import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// An answer with a rotated refresh token never arrives.
struct LostAnswerTests {
    @Test(arguments: [Fault.cutAfter, .truncate, .replaceAnswer(.html(status: 502))])
    func `a lost answer within a grace period loses nothing`(fault: Fault) async throws {
        try await withIssuer(policy: GrantPolicy(gracePeriod: .seconds(60))) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await issuer.script(fault)
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await feed.next("refresh-failed", of: "work")
            try await feed.next("token-refreshed", of: "work")
            #expect(try await stage.status("work").state == "fresh")
            #expect(await issuer.counters.graceRepeats == 1)
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `without a grace period the refusal is confirmed once, with the lost answer as the reason`() async throws
    {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            let grant = try await issuer.issueGrant(clientID: "app")
            try await stage.add("work", issuer: url, grant: grant)
            try await feed.next("token-refreshed", of: "work")
            try await issuer.script(.cutAfter)

            let token = try await stage.acquire("work")
            let seen = feed.changes.count
            let required = try await stage.passAttempts(of: "work", until: "interaction-required", feed, from: seen)
            #expect(required.accounts.first?.reason == "outcomeUnknown")
            // Valid tokens are still returned.
            #expect(try await stage.acquire("work") == token)
            try await stage.pass(until: token.expiresAtUSec)
            let refusal = try await stage.refusal(of: "work", as: InteractionRequiredError.self)
            #expect(refusal.reason == "outcomeUnknown")
            #expect(refusal.oauthError == "invalid_grant")
            // The request with the lost answer, the first refusal, and the refusal that confirms it.
            let sent = await issuer.entries().filter { $0.family == grant.family && $0.generation == 2 }
            #expect(sent.map(\.outcome) == [.rotated, .spentTokenUsed, .spentTokenUsed])
            try await daemon.log.first("the journal's line") {
                $0.contains("the answer to a refresh was lost, and the refresh token may be used up")
            }
            try await daemon.log.first("the journal's reason") {
                $0.contains("interaction required") && $0.contains("AUTHREFRESH_REASON=outcomeUnknown")
            }
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
