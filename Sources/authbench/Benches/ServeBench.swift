internal import TestSupport

/// Measures `AcquireToken` with a new connection for each request, alternating with two C servers. Neither of them
/// parses JSON or checks the caller. One answers one caller after the other, the other answers all waiting callers
/// together.
extension Workshop {
    /// What is required beside the C servers: how many times as long a request may take, and which share of their rates
    /// there must be.
    private struct Limits {
        var time = 2.0
        var worst = 2.0
        var rate = 0.6
        var rateBesideBatches = 0.8
    }

    nonisolated func serve() async throws -> [Figure] {
        var figures = try await measure(FilledStore(accounts: 10), prefix: "serve", Limits())
        figures += try await measure(
            FilledStore(accounts: min(10_000, effort.manyAccounts)),
            prefix: "serve/ten-thousand",
            Limits()
        )
        // The daemon's memory has no room for so many tokens, so the coordinator answers many calls from the store. With 32
        // clients 0.3 of the rate and five times the worst time were seen.
        let limits = Limits(time: 2, worst: 8, rate: 0.2, rateBesideBatches: 0.18)
        return figures + (try await measure(try await largeStore(), prefix: "serve/million", limits))
    }

    /// Measures one store.
    private nonisolated func measure(_ store: FilledStore, prefix: String, _ limits: Limits) async throws -> [Figure] {
        let daemon = try await store.stage.start()
        let reply = try await store.reply()
        let single = try await FloorServer(floor.server, in: self, reply: reply)
        let batches = try await FloorServer(floor.batchServer, in: self, reply: reply)
        let alone = try await slices(store, [single], clients: 1)
        let together = try await slices(store, [single, batches], clients: 32)
        single.stop()
        batches.stop()
        try await daemon.terminate()
        return [
            Figure(
                name: "\(prefix)/1-client/p50",
                value: alone.ours.map(\.median).median,
                unit: .microseconds,
                floor: alone.floors[0].map(\.median).median,
                limit: .timesFloor(atMost: limits.time)
            ),
            Figure(
                name: "\(prefix)/32-clients/throughput",
                value: together.ours.map(\.rate).median,
                unit: .perSecond,
                floor: together.floors[0].map(\.rate).median,
                limit: .partOfFloor(atLeast: limits.rate)
            ),
            Figure(
                name: "\(prefix)/32-clients/throughput-beside-batches",
                value: together.ours.map(\.rate).median,
                unit: .perSecond,
                floor: together.floors[1].map(\.rate).median,
                limit: .partOfFloor(atLeast: limits.rateBesideBatches)
            ),
            Figure(
                name: "\(prefix)/32-clients/p99",
                value: together.ours.map(\.worst).median,
                unit: .microseconds,
                floor: together.floors[0].map(\.worst).median,
                limit: .timesFloor(atMost: limits.worst)
            ),
        ]
    }

    private struct Slice {
        /// Requests per second.
        let rate: Double
        /// The time of one request in µs: the median and the 99th percentile.
        let median: Double
        let worst: Double
    }

    /// Slices of the daemon and of each floor, alternating.
    private nonisolated func slices(
        _ store: FilledStore,
        _ servers: [FloorServer],
        clients: Int
    ) async throws -> (ours: [Slice], floors: [[Slice]]) {
        var (ours, floors) = ([Slice](), [[Slice]](repeating: [], count: servers.count))
        for _ in 0..<effort.slices {
            for (index, server) in servers.enumerated() {
                floors[index].append(try await slice(server.socket, clients, of: store))
            }
            try store.readIn()
            ours.append(try await slice(store.stage.socket, clients, of: store))
        }
        return (ours, floors)
    }

    private nonisolated func slice(_ socket: String, _ clients: Int, of store: FilledStore) async throws -> Slice {
        let parts = FilledStore.requestParts
        let lines = try await FloorPrograms.output(
            of: floor.load,
            [
                socket, String(clients), String(effort.sliceMilliseconds), parts.head, parts.tail,
                String(store.accounts),
            ]
        )
        let fields = (lines.first ?? "").split(separator: " ").compactMap { Double($0) }
        guard fields.count == 4 else { throw BenchError.unreadable("load", output: lines.first ?? "") }
        return Slice(rate: fields[0] / (fields[1] / 1e9), median: fields[2] / 1e3, worst: fields[3] / 1e3)
    }
}
