internal import TestSupport

/// Measures start and memory of a daemon with very many accounts, alternating with one that has ten.
extension Workshop {
    nonisolated func million() async throws -> [Figure] {
        let small = try FilledStore(accounts: 10)
        let large = try await largeStore()
        var (few, many): ([Start], [Start]) = ([], [])
        for _ in 0..<effort.starts {
            few.append(try await start(small))
            many.append(try await start(large))
        }
        return [
            Figure(
                name: "million/start-to-answer",
                value: many.map(\.took).median,
                unit: .milliseconds,
                floor: few.map(\.took).median,
                limit: .timesFloor(atMost: 3)
            ),
            Figure(
                name: "million/private-dirty",
                value: many.map(\.footprint.privateDirty).median,
                unit: .mebibytes,
                floor: few.map(\.footprint.privateDirty).median,
                limit: .timesFloor(atMost: 1.25)
            ),
        ]
    }

    private struct Start {
        /// The time from the start of the process to its first answer, in ms.
        let took: Double
        let footprint: ProcessFootprint
    }

    private nonisolated func start(_ store: FilledStore) async throws -> Start {
        let from = ContinuousClock.now
        let daemon = try await store.stage.start()
        _ = try await store.reply()
        let took = ContinuousClock.now - from
        let footprint = try ProcessFootprint(of: daemon.pid)
        try await daemon.terminate()
        return Start(took: took / .milliseconds(1), footprint: footprint)
    }
}
