internal import TestSupport

/// `AcquireToken` with a new connection for each request, in turn with the C server of the floor.
struct ServeBench {
    let workshop: Workshop

    func figures() async throws -> [Figure] {
        let one = try FilledStore(accounts: 1)
        let small = try await measure(one, prefix: "serve")
        return small + (try await measure(try await workshop.largeStore(), prefix: "serve/million"))
    }

    private func measure(_ store: FilledStore, prefix: String) async throws -> [Figure] {
        let daemon = try await store.stage.start()
        let floorServer = try await FloorServer(workshop, reply: try await store.reply())
        let alone = try await slices(store, floorServer, clients: 1)
        let together = try await slices(store, floorServer, clients: 32)
        floorServer.stop()
        try await daemon.terminate()
        return [
            Figure(
                name: "\(prefix)/1-client/p50",
                value: alone.ours.map(\.median).median,
                unit: .microseconds,
                floor: alone.floor.map(\.median).median,
                limit: .timesFloor(atMost: 2)
            ),
            Figure(
                name: "\(prefix)/32-clients/throughput",
                value: together.ours.map(\.rate).median,
                unit: .perSecond,
                floor: together.floor.map(\.rate).median,
                limit: .partOfFloor(atLeast: 0.6)
            ),
            Figure(
                name: "\(prefix)/32-clients/p99",
                value: together.ours.map(\.worst).median,
                unit: .microseconds,
                floor: together.floor.map(\.worst).median,
                limit: .timesFloor(atMost: 2)
            ),
        ]
    }

    private struct Slice {
        /// Requests per second.
        let rate: Double
        /// µs of one request: the median, and the 99th percentile.
        let median: Double
        let worst: Double
    }

    private func slices(
        _ store: FilledStore,
        _ floorServer: FloorServer,
        clients: Int
    ) async throws -> (ours: [Slice], floor: [Slice]) {
        var (ours, floor): ([Slice], [Slice]) = ([], [])
        for _ in 0..<workshop.effort.slices {
            floor.append(try await slice(floorServer.socket, clients, of: store))
            try store.readIn()
            ours.append(try await slice(store.stage.socket, clients, of: store))
        }
        return (ours, floor)
    }

    private func slice(_ socket: String, _ clients: Int, of store: FilledStore) async throws -> Slice {
        let parts = FilledStore.requestParts
        let lines = try await FloorPrograms.output(
            of: workshop.floor.load,
            [
                socket, String(clients), String(workshop.effort.sliceMilliseconds), parts.head, parts.tail,
                String(store.accounts),
            ]
        )
        let fields = (lines.first ?? "").split(separator: " ").compactMap { Double($0) }
        guard fields.count == 4 else { throw BenchError.unreadable(program: "load", output: lines.first ?? "") }
        return Slice(rate: fields[0] / (fields[1] / 1e9), median: fields[2] / 1e3, worst: fields[3] / 1e3)
    }
}
