import AuthRefreshInterface
import DemoIssuer
import OAuthMessages
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// A server that needs longer than `request_timeout`, and whose answer has the only refresh token that it still
/// accepts.
struct SlowServerTests {
    @Test func `callers are released at the time limit, and the answer is used when it arrives`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig(limits: IssuerGate.Limits(concurrent: 1), requestTimeout: .seconds(8))
            // The clock stops, because the gate's patience with the request would also end and free its slot.
            try rig.clock.stop()
            try await rig.start()
            try await issuer.script(.delayAfter(.seconds(3600)))
            let slow = try await rig.add("slow", url, try await issuer.issueGrant(clientID: "app"))
            guard case .notNow(let complaint, _) = await rig.waitForToken(of: slow) else {
                Issue.record("the caller was told something else")
                return
            }
            #expect(complaint.reason.hasPrefix("the server has not answered yet"))
            // The only slot of the issuer is free, and no new caller waits for the slow request.
            let other = try await rig.add("other", url, try await issuer.issueGrant(clientID: "app"))
            #expect(await rig.waitForToken(of: other).snapshot?.shown == .fresh)
            guard case .notNow = await rig.waitForToken(of: slow) else {
                Issue.record("a caller waited for the slow server")
                return
            }
            #expect(try await rig.state(of: "slow")?.shown == .refreshing)

            await issuer.endDelays()
            _ = try await rig.log.first("the answer") { $0.contains("ACCOUNT=slow") && $0.contains("refreshed") }
            #expect(try await rig.state(of: "slow")?.state.generation == Generation(2))
            #expect(try await rig.state(of: "slow")?.shown == .fresh)
            #expect(await issuer.counters.tokenRequests == 2)
            #expect(await issuer.counters.spentTokenUses == 0)
            await rig.stop()
        }
    }

    @Test func `a server that is known not to rotate is asked again after the time limit`() async throws {
        try await withIssuer(policy: GrantPolicy(isRotating: false)) { issuer, url in
            let rig = try CoordinatorRig(requestTimeout: .seconds(8))
            try await rig.start()
            let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            #expect(await rig.waitForToken(of: id).snapshot?.state.isRotating == false)
            try await issuer.script(.delayAfter(.seconds(3600)))
            await rig.pass(.seconds(3600))
            #expect(await rig.waitForToken(of: id).snapshot?.shown == .retrying)
            // The first wait after a failure. The timer does not end it, because it follows the machine's clock, and
            // the rig's clock is ahead.
            await rig.pass(.seconds(2))
            _ = try await issuer.waitForRequest(after: 2) { $0.path == "/token" }
            await rig.stop()
        }
    }

    @Test func `the daemon's end does not wait for an overdue answer`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig(requestTimeout: .seconds(8))
            try await rig.start()
            try await issuer.script(.delayAfter(.seconds(3600)))
            let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            _ = await rig.waitForToken(of: id)
            await rig.stop()
            let line = try await rig.log.first("the journal's line") { $0.contains("the answer to a refresh was lost") }
            #expect(line.contains("ACCOUNT=work"))
        }
    }

    @Test func `after a resume an overdue connection counts as lost, and a new request continues`()
        async throws
    {
        try await withIssuer(policy: GrantPolicy(gracePeriod: .seconds(60))) { issuer, url in
            let rig = try CoordinatorRig(requestTimeout: .seconds(8))
            try await rig.start()
            try await issuer.script(.delayAfter(.seconds(3600)))
            let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            _ = try await issuer.waitForRequest { $0.path == "/token" }
            await rig.inside { $0.noteResume() }
            #expect(try await rig.state(of: "work")?.shown == .refreshing)
            guard case .notNow = await rig.waitForToken(of: id) else {
                Issue.record("the caller was told something else")
                return
            }
            await rig.inside { $0.noteResume() }
            _ = try await rig.log.first("the journal's line") { $0.contains("the answer to a refresh was lost") }
            #expect(await rig.waitForToken(of: id).snapshot != nil)
            await rig.stop()
        }
    }

    @Test func `a request under way continues without a route, and its answer is used`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            // Without a route, servers on this machine are still asked. So the issuer must seem to be elsewhere.
            var profile = ProviderProfile(name: "far", tokenEndpoint: Endpoint(url + "/token"))
            profile.issuer = try Issuer(url: "https://as.example")
            let profiles = ProviderProfiles([profile])
            await rig.inside { $0.settings.profiles = profiles }
            try await issuer.script(.delayAfter(.seconds(3600)))
            _ = try await rig.add("work", "https://as.example", try await issuer.issueGrant(clientID: "app"))
            _ = try await issuer.waitForRequest { $0.path == "/token" }
            await rig.inside { $0.routeChanged(isOnline: false) }
            await issuer.endDelays()
            _ = try await rig.log.first("the answer") { $0.contains("ACCOUNT=work") && $0.contains("refreshed") }
            #expect(try await rig.state(of: "work")?.state.generation == Generation(2))
            await rig.stop()
        }
    }
}
