internal import TestSupport

/// Measures an idle daemon with one account that has been refreshed.
extension Workshop {
    nonisolated func idle() async throws -> [Figure] {
        let effort = effort
        let issuer = try await LocalIssuer(in: self.folder, tokenLifetime: .seconds(3600))
        let stage = try DaemonStage()
        try stage.configure(issuer.configuration(concurrency: 8))
        let daemon = try await stage.start()
        try await stage.add("work", issuer: issuer.url, refreshToken: try await issuer.grant())
        try await stage.acquire("work", force: true)
        let agent = try await OIDCAgent(at: issuer)

        try await Task.sleep(for: effort.settling)
        let before = (ours: try ProcessFootprint(of: daemon.pid), agent: try agent?.footprint())
        try await Task.sleep(for: effort.watching)
        let after = (ours: try ProcessFootprint(of: daemon.pid), agent: try agent?.footprint())
        let wakeUps = { (before: ProcessFootprint, after: ProcessFootprint) in
            Double(after.sleeps - before.sleeps) / (effort.watching / .seconds(1))
        }
        try await daemon.terminate()
        await issuer.shutdown()
        return [
            Figure(
                name: "idle/private-dirty",
                value: after.ours.privateDirty,
                unit: .mebibytes,
                limit: .value(atMost: 6),
                oidcAgent: after.agent?.privateDirty
            ),
            Figure(
                name: "idle/rss",
                value: after.ours.residentSet,
                unit: .mebibytes,
                limit: .value(atMost: 40),
                oidcAgent: after.agent?.residentSet
            ),
            Figure(
                name: "idle/wake-ups",
                value: wakeUps(before.ours, after.ours),
                unit: .perSecond,
                limit: .value(atMost: 0.05),
                oidcAgent: before.agent.flatMap { before in after.agent.map { wakeUps(before, $0) } }
            ),
        ]
    }
}
