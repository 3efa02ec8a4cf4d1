internal import AccountStorage
internal import TestSupport

/// Disks that refuse operations, once or for a while, at any moment of a store's history. The caller repeats what
/// failed, as the daemon does.
///
/// A call that throws must have written nothing, the store must continue without being opened again when the fault is
/// over, and a power failure after the last call must undo nothing.
struct DiskErrors {
    /// How many operations fail in a row: a short fault, and a disk that is away for some commits.
    private static let lengths = [1, 40]

    private let script: Script
    private let files: StoreFiles
    private var random: SplitMix64

    init(seed: UInt64, steps: Int) throws {
        script = Script(seed: seed, length: steps)
        files = try StoreFiles()
        random = SplitMix64(seed: seed)
    }

    /// Repeats the history with each kind of fault at a later moment, until the history is over before the fault.
    ///
    /// - Parameter density: after so many operations, the distance between two moments grows by one.
    mutating func run(density: Int, _ checks: Checks) {
        for kind in Recorder.Fault.Kind.allCases {
            for length in Self.lengths {
                var first = 0
                var hasCome = true
                while hasCome {
                    // If a history fails, no further one is tried.
                    hasCome = false
                    let fault = Recorder.Fault(kind: kind, first: first, count: length)
                    checks.check("\(kind.name), \(length) times from number \(first)") {
                        hasCome = try live(with: fault)
                    }
                    first += 1 + first / density
                }
            }
        }
    }

    /// - Returns: whether the fault occurred.
    private mutating func live(with fault: Recorder.Fault) throws -> Bool {
        try files.clear()
        Recorder.begin(fault)
        do {
            let store = try opened()
            for (index, step) in script.steps.enumerated() {
                try insist(on: step, index, store)
            }
            let hasCome = Recorder.hasFailed
            try expectAll(after: Recorder.end())
            return hasCome
        } catch {
            _ = Recorder.end()
            throw error
        }
    }

    /// Opens the store. If that fails, tries again, as a daemon that ends and is restarted.
    private func opened() throws -> AccountStore {
        while true {
            do {
                return try files.open()
            } catch let error as StoreError {
                try expect(error)
            }
        }
    }

    private func insist(on step: Step, _ index: Int, _ store: AccountStore) throws {
        while true {
            do {
                return try step.perform(on: store, script.grants[index])
            } catch let error as StoreError {
                try expect(error)
                // Reading may also fail during the fault.
                guard let found = try? Grants(in: store) else { continue }
                guard found == script.grants[index] else {
                    throw Violation("step \(index) failed (\(error)), and yet the store holds \(found)")
                }
            }
        }
    }

    /// Checks that the error is one of the disk, and occurs only during the fault.
    private func expect(_ error: StoreError) throws {
        switch error {
        case .inputOutput, .diskFull, .cannotOpen: break
        default: throw Violation("a fault of the disk is called: \(error)")
        }
        guard Recorder.hasFailed else { throw Violation("nothing is wrong with the disk: \(error)") }
    }

    /// Checks the content after a power failure after the last step. The store was not closed.
    private mutating func expectAll(after operations: [RecordedOperation]) throws {
        var disk = Disk()
        for operation in operations { disk.apply(operation) }
        for loss in [Disk.Loss.all, .sectors(kept: 0.5)] {
            try files.put(disk.contents(after: loss, &random))
            let store = try files.open()
            let found = try Grants(in: store)
            guard found == script.grants.last else { throw Violation("after a power cut the store holds \(found)") }
            try expectSound(store)
            try store.close()
        }
    }
}
