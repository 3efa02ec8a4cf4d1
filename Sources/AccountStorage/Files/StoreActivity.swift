internal import Synchronization

/// Tells other threads whether the store's owner waits for the disk, where a slow one may keep it for any time.
package final class StoreActivity: Sendable {
    private let depth = Atomic(0)

    package init() {}

    /// Whether a call of SQLite or of the store's files is under way. May be called on any thread.
    package var isUnderWay: Bool { depth.load(ordering: .sequentiallyConsistent) > 0 }

    /// Runs `body`, which may wait for the disk.
    func during<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        depth.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { depth.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        return try body()
    }
}
