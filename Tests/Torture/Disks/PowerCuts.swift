internal import AccountStorage
internal import RefreshCore
internal import TestSupport

/// Power failures at moments in a store's history. Data that was not synced is lost completely or in parts.
///
/// Afterwards, the effect of each call that had returned must be there, a call in progress must have its whole effect
/// or none, and the store must open, be intact, and accept the next write (DESIGN §6.1).
struct PowerCuts {
    private static let losses: [Disk.Loss] = [
        .all, .nothing, .sectors(kept: 0.1), .sectors(kept: 0.5), .sectors(kept: 0.9),
    ]

    private let script: Script
    private let files: StoreFiles
    private var random: SplitMix64
    private var operations: [RecordedOperation] = []
    /// The number of operations at the end of each step.
    private var ends: [Int] = []

    /// Runs the whole history once, and records it.
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

    /// Cuts the power at `count` moments, spread over the history.
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

    /// Opens the remaining files, and once more after another power failure during the opening.
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

    /// Opens the store, compares its content, checks it completely, and writes to it.
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

/// Does the check of `authctl store check`.
func expectSound(_ store: AccountStore) throws {
    let copying = try StoreCopy(of: store, for: .check)
    var copy: FinishedCopy?
    while copy == nil { copy = try copying.advance(pages: 1_000) }
    guard let copy else { return }
    var findings: [StoreFinding] = []
    StoreCheck.run(on: copy, at: Timestamp(microseconds: 1_700_000_000_000_000)) { findings += $0.findings }
    guard findings.isEmpty else { throw Violation("the store is damaged: \(findings)") }
}
