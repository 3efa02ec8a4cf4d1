internal import Foundation
internal import TestSupport

/// Shared by the benches: the programs to measure, the floor programs, and stores that take long to fill.
actor Workshop {
    nonisolated let effort: Effort
    nonisolated let folder: TemporaryFolder
    nonisolated let authctl: String
    nonisolated let floor: FloorPrograms
    private var large: FilledStore?

    /// Builds the floor programs.
    ///
    /// - Throws: `BenchError` if a program is missing or the floor cannot be built.
    init(effort: Effort) async throws {
        self.effort = effort
        for name in ["authrefreshd", "authctl"] {
            let path = Program.products + "/" + name
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw BenchError("there is no '\(path)' to be measured", hint: "Tests/bench")
            }
        }
        authctl = Program.products + "/authctl"
        folder = try TemporaryFolder()
        floor = try await FloorPrograms(in: folder)
    }

    /// The store with many accounts, which is filled at the first use.
    func largeStore() throws -> FilledStore {
        if let large { return large }
        Report.note("filling a store with \(effort.manyAccounts) accounts")
        let store = try FilledStore(accounts: effort.manyAccounts)
        large = store
        return store
    }
}
