import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// Stopping the daemon during its work.
struct StopTests {
    @Test(arguments: [Fault.delayBefore(.seconds(3600)), .delayAfter(.seconds(3600))])
    func `an expected answer is stored before the end, and not requested again`(fault: Fault) async throws {
        try await withIssuer(policy: GrantPolicy(accessTokenLifetime: .seconds(600))) { issuer, url in
            let stage = try DaemonStage()
            let first = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await issuer.script(fault)
            let grant = try await issuer.issueGrant(clientID: "app")
            try await stage.add("work", issuer: url, grant: grant)
            _ = try await issuer.waitForRequest { $0.path == "/token" }
            first.signal(15)
            try await first.says("authrefreshd is stopping")
            await issuer.endDelays()
            #expect(try await first.ended() == .exited(0))
            #expect(feed.afterReady.last?.event == "token-refreshed")

            let second = try await stage.start()
            let status = try await stage.status("work")
            #expect(status.state == "fresh")
            #expect(status.generation == 2)
            try await stage.acquire("work")
            #expect(await issuer.counters.tokenRequests == 1)
            try await stage.acquire("work", force: true)
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await second.terminate() == .exited(0))
        }
    }

    @Test(arguments: [#"{"account":"work","scopes":["other"]}"#, #"{"account":"second","force":true}"#])
    func `a stopping daemon hangs up on late callers and does not refuse them`(parameters: String) async throws {
        try await withIssuer(policy: GrantPolicy(accessTokenLifetime: .seconds(600))) { issuer, url in
            let stage = try DaemonStage()
            try stage.configure("max_concurrent_refreshes: 1\n")
            let daemon = try await stage.start()
            for name in ["work", "second"] {
                try await stage.add(name, issuer: url, grant: try await issuer.issueGrant(clientID: "app"))
                try await stage.acquire(name)
            }
            let sequence = await issuer.lastSequence
            try await issuer.script(.delayAfter(.seconds(3600)))
            async let forced = stage.acquire("work", force: true)
            _ = try await issuer.waitForRequest(after: sequence) { $0.path == "/token" }
            // This caller wants another request, which must wait for the one in flight. An answer to a later caller
            // shows that it waits.
            let waiting = try RawConnection(stage.socket)
            try waiting.send(#"{"method":"io.authrefresh.AcquireToken","parameters":\#(parameters)}"# + "\0")
            _ = try await stage.status("work")
            daemon.signal(15)
            try await daemon.says("authrefreshd is stopping")
            await issuer.endDelays()
            #expect(try await daemon.ended() == .exited(0))
            // The request in flight is still answered.
            _ = try await forced
            #expect(try await onOwnThread { try waiting.receive() }.isEmpty)
            #expect(await issuer.counters.tokenRequests == 3)

            let successor = try await stage.start()
            try await stage.acquire("work")
            #expect(try await successor.terminate() == .exited(0))
        }
    }

    @Test func `a daemon that cannot listen stores expected answers before it ends`() async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            try await stage.start().withAccountDue(stage, issuer, url)
            try await issuer.script(.delayAfter(.seconds(1)))
            // A path that is too long for a socket.
            let path = stage.folder.path + "/" + String(repeating: "x", count: 120)
            let failing = try stage.spawn(["--socket", path])
            #expect(try await failing.ended() == .exited(78))
            #expect(failing.logText.contains("authrefreshd: error: "))

            let daemon = try await stage.start()
            #expect(try await stage.status("work").state == "fresh")
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(await issuer.counters.graceRepeats == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `SIGINT ends the daemon like SIGTERM`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        daemon.signal(2)
        #expect(try await daemon.ended() == .exited(0))
        #expect(stage.notify.messages.all.contains { $0.contains("STOPPING=1") })
    }
}

extension DaemonProcess {
    /// Leaves an account whose first refresh is due, because its grant was imported while the server was away.
    fileprivate func withAccountDue(_ stage: DaemonStage, _ issuer: DemoIssuer, _ url: String) async throws {
        let feed = try await ChangeFeed(stage)
        try await issuer.script(.answer(.unavailable()))
        try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
        let failed = try await feed.next("refresh-failed", of: "work")
        try await terminate()
        let due = failed.accounts.first?.nextAttemptAtUSec ?? 0
        // The next daemon must find the deadline passed.
        stage.passWithoutDaemon(.microseconds(max(0, due - stage.nowUSec)))
    }
}
