internal import TestSupport

/// A daemon with one account that has been refreshed, left alone.
struct IdleBench {
    let workshop: Workshop

    func figures() async throws -> [Figure] {
        let effort = workshop.effort
        let issuer = try await LocalIssuer(in: workshop.folder, tokenLifetime: .seconds(3600))
        let stage = try DaemonStage()
        try stage.configure(issuer.configuration(concurrency: 8))
        let daemon = try await stage.start()
        try await stage.add("work", issuer: issuer.url, refreshToken: try await issuer.grant())
        try await stage.acquire("work", force: true)

        try await Task.sleep(for: effort.settling)
        let before = try ProcessFootprint(of: daemon.pid)
        try await Task.sleep(for: effort.watching)
        let after = try ProcessFootprint(of: daemon.pid)
        try await daemon.terminate()
        await issuer.shutdown()
        return [
            Figure(
                name: "idle/private-dirty",
                value: after.privateDirty,
                unit: .mebibytes,
                limit: .value(atMost: 6)
            ),
            Figure(name: "idle/rss", value: after.residentSet, unit: .mebibytes, limit: .value(atMost: 40)),
            Figure(
                name: "idle/wake-ups",
                value: Double(after.sleeps - before.sleeps) / (effort.watching / .seconds(1)),
                unit: .perSecond,
                limit: .value(atMost: 0.05)
            ),
        ]
    }
}
