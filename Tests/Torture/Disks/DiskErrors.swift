internal import AccountStorage
internal import TestSupport

/// The disk refuses an operation, once or for a while, at any moment of a store's life; the caller repeats what failed, as the daemon
/// does.
///
/// A call that throws must have written nothing, the store must go on without being opened anew once the fault has gone, and a power cut
/// after the last call must take nothing back.
struct DiskErrors {
    /// How many operations fail in a row: a hiccup, and a disk that is away for some commits.
    private static let lengths = [1, 40]

    private let script: Script
    private let files: StoreFiles
    private var random: SplitMix64

    init(seed: UInt64, steps: Int) throws {
        script = Script(seed: seed, length: steps)
        files = try StoreFiles()
        random = SplitMix64(seed: seed)
    }

    /// Lives the life again and again, with each kind of fault at another moment, until it has none left.
    ///
    /// - Parameter density: after so many operations the distance between two moments grows by one.
    mutating func run(density: Int, _ checks: Checks) {
        for kind in Recorder.Fault.Kind.allCases {
            for length in Self.lengths {
                var first = 0
                var hasCome = true
                while hasCome {
                    // A life that goes wrong is the last one.
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

    /// - Returns: whether the fault came.
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

    /// A daemon that cannot open its store ends, and is started again.
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
                // Reading may fail, too, for as long as the fault lasts.
                guard let found = try? Grants(in: store) else { continue }
                guard found == script.grants[index] else {
                    throw Violation("step \(index) failed (\(error)), and yet the store holds \(found)")
                }
            }
        }
    }

    /// What a disk does is told as such, and only while it does it.
    private func expect(_ error: StoreError) throws {
        switch error {
        case .inputOutput, .diskFull, .cannotOpen: break
        default: throw Violation("a fault of the disk is called: \(error)")
        }
        guard Recorder.hasFailed else { throw Violation("nothing is wrong with the disk: \(error)") }
    }

    /// The power fails after the last step; the store that was not closed is left where it is.
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
