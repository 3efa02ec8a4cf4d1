import AccountStorage
import DemoIssuer
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// The coordinator with a real store and client against a real server.
struct RefreshCoordinatorTests {
    @Test func `one request serves all callers that wait at an issuer's gate`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig(limits: IssuerGate.Limits(concurrent: 1, perSecond: 100))
            try await issuer.script(.delayAfter(.seconds(3600)))
            try await rig.start()
            _ = try await rig.add("first", url, try await issuer.issueGrant(clientID: "app"))
            let second = try await rig.add("second", url, try await issuer.issueGrant(clientID: "app"))
            _ = try await issuer.waitForRequest { $0.path == "/token" }
            let outcomes = await withTaskGroup(of: WaitOutcome.self) { group in
                for _ in 0..<10 { group.addTask { await rig.waitForToken(of: second) } }
                // They come while the first request is at the gate, or find the token that this brings.
                for _ in 0..<100 { await rig.inside { _ in } }
                await issuer.endDelays()
                return await group.reduce(into: []) { $0.append($1) }
            }
            for outcome in outcomes {
                let snapshot = try #require(outcome.snapshot)
                #expect(snapshot.state.generation == Generation(2))
            }
            await rig.stop()
            #expect(await issuer.counters.tokenRequests == 2)
        }
    }

    @Test func `a refresh follows at its time and not before`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            _ = await rig.waitForToken(of: id)
            // The token lives an hour and the jitter is average, so it is due after forty minutes.
            await rig.pass(.seconds(39 * 60))
            #expect(try await rig.state(of: "work")?.state.generation == Generation(2))
            #expect(await issuer.counters.tokenRequests == 1)
            let sequence = await issuer.lastSequence
            await rig.pass(.seconds(2 * 60))
            _ = try await issuer.waitForRequest(after: sequence) { $0.outcome == .rotated }
            await rig.stop()
            #expect(await issuer.counters.tokenRequests == 2)
        }
    }

    @Test func `a caller is released after its time limit, and the refresh continues`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            try await issuer.script(.delayAfter(.seconds(3600)))
            let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            async let outcome = rig.waitForToken(of: id)
            _ = try await issuer.waitForRequest { $0.outcome == .rotated }
            await rig.pass(Waiter.timeLimit + .seconds(1))
            guard case .timedOut = await outcome else {
                Issue.record("the caller was told something else")
                return
            }
            await issuer.endDelays()
            #expect(await rig.waitForToken(of: id).snapshot?.state.generation == Generation(2))
            await rig.stop()
        }
    }

    @Test(arguments: [29, 20])
    func `a valid token near its end is handed out before it ends while the server is silent`(left: Int) async throws {
        try await withFreshAccount(isClockStopped: true) { rig, issuer, id in
            let sequence = await issuer.lastSequence
            try await issuer.script(.delayAfter(.seconds(3600)))
            // The refresh that is due by now also goes to a server that does not answer.
            await rig.pass(.seconds(3600 - left))
            let held = try #require(try await rig.state(of: "work")).state.accessToken
            let outcomes = EventLog<WaitOutcome>()
            let purpose = Waiter.Purpose.token(minimumValidity: nil, isForced: false)
            _ = await rig.coordinator.wait(for: purpose, of: id, after: .demand(.tokenNeeded), holding: held) {
                outcomes.append($0)
            }
            _ = try await issuer.waitForRequest(after: sequence) { $0.path == "/token" }
            await rig.pass(.seconds(left) / 2)
            guard case .timedOut = try await outcomes.first("the outcome", where: { _ in true }) else {
                Issue.record("the caller was told something else")
                return
            }
            let snapshot = try #require(try await rig.state(of: "work"))
            #expect(snapshot.state.holdsAccessToken(for: .zero, at: snapshot.at))
            await issuer.endDelays()
        }
    }

    @Test func `if the commit before a request fails, nothing is sent`() async throws {
        try await withFreshAccount { rig, issuer, account in
            let sequence = await issuer.lastSequence
            rig.clock.pass(.seconds(41 * 60))
            let (isFailed, isSent) = try await rig.inside { coordinator -> (Bool, Bool) in
                let due = QueuedEvent(account: account, event: .host(.deadlineReached))
                var isFailed = false
                try rig.setStoreIsThere(false)
                do throws(StoreError) {
                    try coordinator.decideNow(due, at: coordinator.timebase.now())
                } catch {
                    isFailed = true
                }
                try rig.setStoreIsThere(true)
                return (isFailed, !coordinator.scheduler.requests.isEmpty)
            }
            #expect(isFailed && !isSent)
            // The account is still due, and its refresh token unspent.
            await rig.coordinator.wake()
            _ = try await issuer.waitForRequest(after: sequence) { $0.outcome == .rotated }
            #expect(await issuer.counters.tokenRequests == 2)
        }
    }

    @Test func `an answer that the daemon cannot store is kept, handed out, and stored when the store is back`()
        async throws
    {
        try await withFreshAccount { rig, issuer, account in
            let before = try await rig.inside { try $0.records.accessToken(of: account)?.secret }
            let sequence = await issuer.lastSequence
            try await issuer.script(.delayAfter(.seconds(3600)))
            let outcomes = EventLog<WaitOutcome>()
            await rig.inside { coordinator in
                _ = coordinator.wait(for: .attempt, of: account, after: .demand(.refreshRequested)) {
                    outcomes.append($0)
                }
            }
            _ = try await issuer.waitForRequest(after: sequence) { $0.path == "/token" }
            try rig.setStoreIsThere(false)
            try await rig.log.first("the news of it") { $0.contains("the store cannot be used") }
            await issuer.endDelays()
            try await outcomes.first("the answer") { _ in true }
            #expect(await rig.inside { $0.trouble != nil && $0.records.unstored.count == 1 })
            let held = try await rig.inside { try $0.records.accessToken(of: account)?.secret }
            #expect(held != nil && held != before)
            try rig.setStoreIsThere(true)
            await rig.pass(StoreOutage.retryInterval + .seconds(1))
            #expect(await rig.inside { $0.trouble == nil && $0.records.areStored })
            #expect(try await rig.inside { try $0.store.tokens.accessToken(of: account)?.secret } == held)
        }
    }

    @Test func `an answer that cannot be decided waits, though another answer for its account is kept`() async throws {
        try await withFreshAccount { rig, _, account in
            @Sendable func answer(_ token: String, _ lifetime: Duration, _ now: Moment) -> QueuedEvent {
                QueuedEvent(
                    account: account,
                    event: .grant(.accessTokenObtained(Issuance(lifetime: lifetime), sentAt: now)),
                    tokens: StoredTokens(accessToken: AccessToken(Secret(token), type: "Bearer"))
                )
            }
            try await rig.inside { coordinator in
                let now = coordinator.timebase.now()
                let conditions = coordinator.conditions(at: now)
                let plan = try coordinator.scheduler.plan(
                    [answer("first", .seconds(3600), now)],
                    for: &coordinator.callers,
                    &coordinator.settings,
                    conditions,
                    at: now
                )
                coordinator.scheduler.keepAnswers(of: plan)
                // The store could not be read.
                let second = answer("second", .seconds(7200), now)
                coordinator.noteStoreFailure(.diskFull(path: "/"), with: [second], at: now)
                #expect(coordinator.scheduler.hasArrivals)
            }
            await rig.pass(StoreOutage.retryInterval + .seconds(1))
            #expect(await rig.inside { $0.trouble == nil && $0.records.areStored })
            let stored = try await rig.inside { try $0.store.tokens.accessToken(of: account)?.secret.reveal() }
            #expect(stored == "second")
        }
    }

    @Test func `a caller that asks for a validity or a new token waits its full time`() throws {
        let now = try CoordinatorClock().timebase().now()
        let held = AccessTokenTimes(issuedAt: now, lifetime: .seconds(10), refreshAfter: .seconds(5))
        let limits = [
            Waiter.Purpose.token(minimumValidity: .seconds(60), isForced: false),
            .token(minimumValidity: nil, isForced: true), .attempt,
        ].map { Waiter.patience(for: $0, holding: held, at: now) }
        #expect(limits == [Waiter.timeLimit, Waiter.timeLimit, Waiter.timeLimit])
        let plain = Waiter.Purpose.token(minimumValidity: nil, isForced: false)
        #expect(Waiter.patience(for: plain, holding: held, at: now) == .seconds(5))
        #expect(Waiter.patience(for: plain, holding: nil, at: now) == Waiter.timeLimit)
    }

    @Test func `an unreadable store is not a misconfiguration, but a token that does not open is`() {
        let passing: [StoreError] = [
            .inputOutput(path: "f", code: 266), .corrupt(path: "f"), .gone(path: "f"), .refused(path: "f", code: 7),
        ]
        for error in passing {
            let failure = RefreshFailure(readingToken: error)
            #expect(failure.failureClass == .unreachable && failure.detail.summary == error.description)
        }
        let damage = StoreError.sealBroken(AccountID(1), column: .refreshToken)
        #expect(RefreshFailure(readingToken: damage).failureClass == .misconfigured)
    }

    @Test func `the log names the account, its issuer and the server's reason, and holds no token`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            let id = try await rig.add("work", url, grant)
            _ = await rig.waitForToken(of: id)
            let account = try #require(try await rig.state(of: "work")).account
            let held = try await rig.inside { try $0.records.accessToken(of: account.id)?.secret.reveal() }
            let token = try #require(held)
            try await issuer.revokeGrant(grant.family)
            await rig.pass(.seconds(3600))
            let line = try await rig.log.first("the line") { $0.hasPrefix("interaction required ") }
            #expect(line.contains("AUTHREFRESH_ACCOUNT=work"))
            #expect(line.contains("AUTHREFRESH_ISSUER=\(url)"))
            #expect(line.contains("AUTHREFRESH_ERROR=invalid_grant"))
            #expect(line.contains("MESSAGE_ID=1d3ab0a9135947a19bd31705c1a0d0ea"))
            await rig.stop()
            for line in rig.log.all {
                #expect(!line.contains(grant.refreshToken))
                #expect(!line.contains(token))
            }
        }
    }

    @Test func `an import while a refresh is under way wins over its answer`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await issuer.script(.delayAfter(.seconds(3600)))
            try await rig.start()
            let old = try await issuer.issueGrant(clientID: "app")
            let id = try await rig.add("work", url, old)
            _ = try await issuer.waitForRequest { $0.family == old.family }
            let new = try await issuer.issueGrant(clientID: "app")
            try await rig.coordinator.replaceGrant(RefreshToken(Secret(new.refreshToken)), for: id, by: nil)
            await issuer.endDelays()
            try await rig.log.first("the stale answer") { $0.hasPrefix("an answer for an earlier grant was dropped") }
            await rig.stop()
            #expect(await issuer.grant(new.family)?.generation == 2)
            #expect(await issuer.counters.spentTokenUses == 0)
        }
    }
}
