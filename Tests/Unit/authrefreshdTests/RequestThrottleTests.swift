import AccountStorage
import DemoIssuer
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// Callers who ask again and again, and requests that hang.
struct RequestThrottleTests {
    @Test(arguments: [(Event.demand(.tokenNeeded), true), (.demand(.refreshRequested), false)])
    func `callers within the same second share one request at its end`(
        event: Event,
        isForToken: Bool
    ) async throws {
        try await withFreshAccount(isClockStopped: true) { rig, issuer, account in
            let purpose: Waiter.Purpose = isForToken ? .token(minimumValidity: nil, isForced: true) : .attempt
            for round in 1...2 {
                let outcomes = EventLog<WaitOutcome>()
                await rig.inside { coordinator in
                    for _ in 0..<20 {
                        _ = coordinator.wait(for: purpose, of: account, after: event) { outcomes.append($0) }
                    }
                }
                // A report that comes too soon to replace the token ends no caller's wait.
                await rig.inside { $0.submit(.demand(.accessTokenRejected(issuedAt: nil)), for: account) }
                // After the turn that has decided about them.
                #expect(await rig.inside { $0.scheduler.requests.isEmpty })
                await rig.pass(RequestThrottle.interval)
                try await outcomes.first("the last outcome", from: 19) { _ in true }
                #expect(outcomes.all.allSatisfy { $0.snapshot?.state.generation == Generation(Int64(2 + round)) })
                #expect(await issuer.counters.tokenRequests == 1 + round)
            }
        }
    }

    @Test func `a refused token that was named is replaced at the end of its second`() async throws {
        try await withFreshAccount(isClockStopped: true) { rig, issuer, account in
            let outcomes = EventLog<WaitOutcome>()
            await rig.inside { coordinator in
                let held = (try? coordinator.records.record(of: account))?.state.accessToken
                let event = Event.demand(.accessTokenRejected(issuedAt: held?.issuedAt))
                for _ in 0..<2 {
                    _ = coordinator.wait(for: .attempt, of: account, after: event) { outcomes.append($0) }
                }
            }
            // After the turn that has decided about them.
            #expect(await rig.inside { $0.scheduler.requests.isEmpty })
            await rig.pass(RequestThrottle.interval)
            try await outcomes.first("the last outcome", from: 1) { _ in true }
            #expect(outcomes.all.allSatisfy { $0.snapshot?.state.generation == Generation(3) })
            #expect(await issuer.counters.tokenRequests == 2)
        }
    }

    @Test func `requests that hang do not block other accounts`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            try await issuer.script(.delayBefore(.seconds(120)), times: 8)
            for number in 1...8 {
                _ = try await rig.add("hanging\(number)", url, try await issuer.issueGrant(clientID: "app"))
            }
            let healthy = try await rig.add("healthy", url, try await issuer.issueGrant(clientID: "app"))
            var arrived = 0
            for _ in 1...8 {
                arrived = try await issuer.waitForRequest(after: arrived) { $0.outcome == .held }.sequence
            }
            #expect(await rig.inside { $0.scheduler.requests.count } == 8)
            async let outcome = rig.waitForToken(of: healthy)
            await rig.pass(IssuerGate.patience)
            #expect(await outcome.snapshot?.state.generation == Generation(2))
            #expect(await rig.inside { $0.scheduler.requests.count } == 8)
            // The shutdown would wait for their answers.
            await rig.inside { $0.scheduler.requests.giveUpAnswers { _ in true } }
            await rig.stop()
        }
    }

    @Test func `two throttled accounts hold the others back for as long as the server says`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try rig.clock.stop()
            try await rig.start()
            try await issuer.script(.answer(.unavailable(status: 429, retryAfterSeconds: 30)), times: 2)
            for name in ["work", "home"] {
                let throttled = try await rig.add(name, url, try await issuer.issueGrant(clientID: "app"))
                #expect(await rig.waitForToken(of: throttled).snapshot?.shown == .retrying)
            }
            let third = try await rig.add("third", url, try await issuer.issueGrant(clientID: "app"))
            // After the turn in which it was due.
            #expect(await rig.inside { $0.scheduler.requests.isEmpty })
            await rig.pass(.seconds(30))
            #expect(await rig.waitForToken(of: third).snapshot?.shown == .fresh)
            await rig.stop()
        }
    }

    @Test func `a token set whose caller has left a closed gate is not requested when the gate opens`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try rig.clock.stop()
            try await rig.start()
            let work = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            #expect(await rig.waitForToken(of: work).snapshot?.shown == .fresh)
            try await issuer.script(.answer(.unavailable(status: 429, retryAfterSeconds: 20)), times: 2)
            var throttled: [AccountID] = []
            for name in ["one", "two"] {
                throttled.append(try await rig.add(name, url, try await issuer.issueGrant(clientID: "app")))
                #expect(await rig.waitForToken(of: throttled[throttled.count - 1]).snapshot?.shown == .retrying)
            }
            let before = await issuer.counters.tokenRequests
            let target = try TokenTarget(scopes: ["read"])
            let purpose = Waiter.Purpose.token(minimumValidity: nil, isForced: false)
            let caller = await rig.coordinator.wait(for: purpose, of: work, after: .demand(.targetNeeded(target))) {
                _ in
            }
            // After the turn that has decided about it.
            #expect(await rig.inside { $0.callers.targets(of: work) } == [target])
            await rig.inside { $0.callers.forget(caller, of: work) }
            await rig.pass(.seconds(30))
            for account in throttled { #expect(await rig.waitForToken(of: account).snapshot?.shown == .fresh) }
            #expect(await issuer.counters.tokenRequests == before + 2)
            await rig.stop()
        }
    }
}
