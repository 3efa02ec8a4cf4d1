internal import TestSupport

/// Measures `authctl token NAME` as a whole process, alternating with the C client.
///
/// The dynamically linked client asks the C server. The static one asks the daemon, as `authctl` does, so that only the
/// two commands differ.
extension Workshop {
    nonisolated func tokenProcess() async throws -> [Figure] {
        let store = try FilledStore(accounts: 1)
        let daemon = try await store.stage.start()
        let floorServer = try await FloorServer(floor.server, in: self, reply: try await store.reply())
        let issuer = try await LocalIssuer(in: self.folder, tokenLifetime: .seconds(86_400))
        let agent = try await OIDCAgent(at: issuer)
        var environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "AUTHREFRESH_SOCKET": store.stage.socket]
        environment.merge(agent?.environment ?? [:]) { ours, _ in ours }
        let commands =
            [
                [floor.client, floorServer.socket, FilledStore.request(0)],
                [floor.staticClient, store.stage.socket, FilledStore.request(0)],
                [authctl, "token", FilledStore.name(0)],
            ] + (agent.map { [$0.tokenCommand] } ?? [])
        let runs = try await time(commands, environment)
        var calls: [Double] = []
        for command in commands { calls.append(try await count(command, environment)) }
        floorServer.stop()
        await issuer.shutdown()
        try await daemon.terminate()
        return [
            Figure(
                name: "token-process/wall",
                value: runs[2].map(\.wall).median,
                unit: .microseconds,
                floor: runs[0].map(\.wall).median,
                limit: .timesFloor(atMost: 1.5),
                oidcAgent: agent.map { _ in runs[3].map(\.wall).median }
            ),
            Figure(
                name: "token-process/wall-beside-static",
                value: runs[2].map(\.wall).median,
                unit: .microseconds,
                floor: runs[1].map(\.wall).median,
                limit: .timesFloor(atMost: 1.6)
            ),
            Figure(
                name: "token-process/rss",
                value: runs[2].map(\.peak).max() ?? 0,
                unit: .mebibytes,
                floor: runs[0].map(\.peak).max(),
                limit: .value(atMost: 4),
                oidcAgent: agent.map { _ in runs[3].map(\.peak).max() ?? 0 }
            ),
            Figure(
                name: "token-process/syscalls",
                value: calls[2],
                unit: .calls,
                floor: calls[0],
                limit: .value(atMost: 80),
                oidcAgent: agent.map { _ in calls[3] }
            ),
        ]
    }

    private struct Run {
        /// The time in µs.
        let wall: Double
        /// The peak resident set size in MiB.
        let peak: Double
    }

    /// The runs of each command.
    private nonisolated func time(_ commands: [[String]], _ environment: [String: String]) async throws -> [[Run]] {
        let words = ["time", String(effort.processRuns)] + commands.flatMap { ["--"] + $0 }
        let lines = try await FloorPrograms.output(of: floor.runner, words, environment: environment)
        var runs = [[Run]](repeating: [], count: commands.count)
        for line in lines {
            let fields = line.split(separator: " ").compactMap { Double($0) }
            guard fields.count == 4, runs.indices.contains(Int(fields[0])) else {
                throw BenchError.unreadable("runner", output: line)
            }
            runs[Int(fields[0])].append(Run(wall: fields[1] / 1e3, peak: fields[3] / 1024))
        }
        return runs
    }

    private nonisolated func count(_ command: [String], _ environment: [String: String]) async throws -> Double {
        let lines = try await FloorPrograms.output(
            of: floor.runner,
            ["count"] + command,
            environment: environment
        )
        guard let calls = lines.first.flatMap(Double.init) else {
            throw BenchError.unreadable("runner", output: lines.joined(separator: "\n"))
        }
        return calls
    }
}
