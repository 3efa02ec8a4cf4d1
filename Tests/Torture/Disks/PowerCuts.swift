internal import AccountStorage
internal import RefreshCore
internal import TestSupport

/// The power fails at a moment of a store's life, and what had not been synced is gone, wholly or in parts.
///
/// Whatever a call of the store had done when it returned must be found afterwards, what was under way must be there whole or not at
/// all, and the store must open, be sound, and take the next write (DESIGN §6.1).
struct PowerCuts {
    private static let losses: [Disk.Loss] = [
        .all, .nothing, .sectors(kept: 0.1), .sectors(kept: 0.5), .sectors(kept: 0.9),
    ]

    private let script: Script
    private let files: StoreFiles
    private var random: SplitMix64
    private var operations: [RecordedOperation] = []
    /// How many operations there had been when each step was done.
    private var ends: [Int] = []

    /// Lives the whole life once, and records it.
    init(seed: UInt64, steps: Int) throws {
        script = Script(seed: seed, length: steps)
        files = try StoreFiles()
        random = SplitMix64(seed: seed)
        Recorder.begin()
        let store = try files.open()
        for (step, grants) in zip(script.steps, script.grants) {
            try step.perform(on: store, grants)
            ends.append(Recorder.count)
        }
        try store.close()
        operations = Recorder.end()
    }

    /// Cuts the power at `count` moments, spread over the life.
    mutating func run(count: Int, _ checks: Checks) {
        var disk = Disk()
        var applied = 0
        for number in 0..<count {
            let moment = operations.count * number / count
            while applied < moment {
                disk.apply(operations[applied])
                applied += 1
            }
            for loss in Self.losses {
                checks.check("power cut \(loss) after operation \(moment) of \(operations.count)") {
                    try check(disk.contents(after: loss, &random), at: moment)
                }
            }
        }
    }

    /// Opens what is left, and once more after the power has failed while it was being opened.
    private mutating func check(_ contents: [String: [UInt8]], at moment: Int) throws {
        try files.put(contents)
        Recorder.begin()
        do {
            try expectGrants(at: moment)
        } catch {
            _ = Recorder.end()
            throw error
        }
        let recovery = Recorder.end()
        var disk = Disk(contents)
        for operation in recovery.prefix(Int(random.next() % UInt64(recovery.count + 1))) { disk.apply(operation) }
        try files.put(disk.contents(after: .sectors(kept: 0.5), &random))
        try expectGrants(at: moment)
    }

    /// Opens the store, compares, has it checked whole, and writes to it.
    private func expectGrants(at moment: Int) throws {
        let store = try files.open()
        let done = ends.prefix { $0 <= moment }.count
        let found = try Grants(in: store)
        let possible = script.grants[done...].prefix(2)
        guard possible.contains(found) else {
            throw Violation("after \(done) of \(script.steps.count) steps the store holds \(found)")
        }
        try store.probe()
        try expectSound(store)
        try store.close()
    }
}

/// Runs the check of `authctl store check`.
func expectSound(_ store: AccountStore) throws {
    let copying = try StoreCopy(of: store, for: .check)
    var copy: FinishedCopy?
    while copy == nil { copy = try copying.advance(pages: 1_000) }
    guard let copy else { return }
    var findings: [StoreFinding] = []
    StoreCheck.run(on: copy, at: Timestamp(microseconds: 1_700_000_000_000_000)) { findings += $0.findings }
    guard findings.isEmpty else { throw Violation("the store is damaged: \(findings)") }
}
