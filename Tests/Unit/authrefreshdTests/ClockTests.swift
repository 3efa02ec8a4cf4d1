import AccountStorage
import DemoIssuer
import Glibc
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// Clocks that are set or have lost the time, without the coordinator being told.
struct ClockTests {
    @Test func `a clock that is set back is noticed in the next turn, and delays nothing`() async throws {
        try await withFreshAccount { rig, issuer, _ in
            await rig.stepClock(by: .seconds(-86_400))
            try await rig.log.first("the step") { $0.contains("the wall clock was stepped") }
            let sequence = await issuer.lastSequence
            await rig.pass(.seconds(39 * 60))
            #expect(await issuer.counters.tokenRequests == 1)
            await rig.pass(.seconds(2 * 60))
            _ = try await issuer.waitForRequest(after: sequence) { $0.outcome == .rotated }
        }
    }

    @Test func `after a boot that lost the time all accounts are checked, and not when the time is back`()
        async throws
    {
        try await withFreshAccount { rig, issuer, _ in
            await rig.reboot(losing: .seconds(20_000 * 86_400))
            try await rig.log.first("the second token") {
                $0.hasPrefix("access token refreshed") && $0.contains("AUTHREFRESH_GENERATION=3")
            }
            #expect(try await rig.state(of: "work")?.state.generation == Generation(3))
            await rig.pass(.seconds(39 * 60))
            #expect(await issuer.counters.tokenRequests == 2)
        }
    }

    @Test func `a misconfiguration caused by a wrong clock is retried when the clock is set`() async throws {
        try await withFreshAccount { rig, issuer, _ in
            // What has worked is believed to be a wrong setting after three equal refusals in more than an hour. An
            // untrusted certificate of the server has the same effect.
            for _ in 1...3 {
                try await issuer.script(.answer(CannedAnswer(status: 404, headers: [:], body: "")))
                let (before, lines) = (await issuer.lastSequence, rig.log.all.count)
                await rig.pass(.seconds(41 * 60))
                _ = try await issuer.waitForRequest(after: before) { $0.path == "/token" }
                try await rig.log.first("its answer", from: lines) { $0.contains("retrying") }
            }
            try await rig.log.first("the failure") { $0.contains("the server rejects the account's settings") }
            let sequence = await issuer.lastSequence
            await rig.stepClock(by: .seconds(-10))
            try await rig.log.first("the step") { $0.contains("the wall clock was stepped") }
            await rig.pass(.seconds(3))
            _ = try await issuer.waitForRequest(after: sequence) { $0.outcome == .rotated }
        }
    }

    @Test func `a server that was not found a moment ago is looked for again when the clock is set`() async throws {
        let (descriptor, port) = try LoopbackSocket.listening()
        close(descriptor)
        let issuer = DemoIssuer(configuration: IssuerConfiguration(clients: [DemoClient(id: "app")], port: Int(port)))
        let rig = try CoordinatorRig()
        // So nothing is tried again by itself.
        try rig.clock.stop()
        try await rig.start()
        let id = try await rig.add("work", "http://127.0.0.1:\(port)", try await issuer.issueGrant(clientID: "app"))
        guard case .backingOff? = await rig.waitForToken(of: id).snapshot?.state.phase else {
            Issue.record("the server was found")
            return
        }
        _ = try await issuer.start()
        await rig.stepClock(by: .seconds(-10))
        try await rig.log.first("the step") { $0.contains("the wall clock was stepped") }
        await rig.pass(.seconds(3))
        _ = try await issuer.waitForRequest { $0.outcome == .rotated }
        await rig.stop()
        await issuer.shutdown()
    }

    @Test func `a step is reported once, after it can be stored`() async throws {
        try await withFreshAccount { rig, _, _ in
            let isStep = { @Sendable (line: String) in line.contains("the wall clock was stepped") }
            try rig.setStoreIsThere(false)
            await rig.stepClock(by: .seconds(-86_400))
            for _ in 0..<3 { await rig.pass(StoreOutage.retryInterval) }
            #expect(await rig.inside { $0.trouble != nil })
            #expect(!rig.log.all.contains(where: isStep))
            try rig.setStoreIsThere(true)
            await rig.pass(StoreOutage.retryInterval)
            try await rig.log.first("the step", where: isStep)
            await rig.pass(StoreOutage.retryInterval)
            #expect(await rig.inside { $0.trouble == nil })
            #expect(rig.log.all.count(where: isStep) == 1)
        }
    }

    @Test func `an answer during an unstored clock step is kept and passed to its callers`()
        async throws
    {
        try await withFreshAccount { rig, issuer, id in
            try await issuer.script(.delayAfter(.seconds(3600)))
            let sequence = await issuer.lastSequence
            await rig.pass(.seconds(41 * 60))
            _ = try await issuer.waitForRequest(after: sequence) { $0.path == "/token" }
            try await rig.inside { coordinator in
                try rig.setStoreIsThere(false)
                rig.clock.step(by: .seconds(-86_400))
                var answer = QueuedEvent(
                    account: id,
                    event: .answer(.tokensIssued(Generation(2), Issuance(lifetime: .seconds(3_600))))
                )
                answer.tokens = StoredTokens(accessToken: AccessToken(Secret("late")))
                coordinator.submit(answer)
            }
            #expect(
                await rig.inside { $0.trouble != nil && $0.records.unstored(id) != nil && !$0.scheduler.hasArrivals }
            )
            try rig.setStoreIsThere(true)
            await issuer.endDelays()
        }
    }

    @Test(arguments: [true, false])
    func `nothing is sent before a sleep, and everything continues after it or without it`(
        isWakingTold: Bool
    ) async throws {
        try await withFreshAccount(isClockStopped: true) { rig, issuer, account in
            await rig.pass(RequestThrottle.interval)
            let outcomes = EventLog<WaitOutcome>()
            await rig.inside { coordinator in
                coordinator.sleepBegins()
                _ = coordinator.wait(for: .attempt, of: account, after: .demand(.refreshRequested)) {
                    outcomes.append($0)
                }
            }
            // After the turns that have decided about it.
            for _ in 0..<3 { #expect(await rig.inside { $0.scheduler.requests.isEmpty }) }
            if isWakingTold {
                await rig.inside { $0.resumed() }
            } else {
                await rig.pass(.seconds(30))
            }
            let outcome = try await outcomes.first("the outcome") { _ in true }
            #expect(outcome.snapshot?.state.generation == Generation(3))
            #expect(await issuer.counters.tokenRequests == 2)
        }
    }
}
