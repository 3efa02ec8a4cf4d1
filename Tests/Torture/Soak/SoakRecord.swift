internal import Foundation
internal import TestSupport

/// The resources of a daemon at the end of a day.
struct SoakSample {
    let residentKiB: Int
    let descriptors: Int
    let walBytes: Int
    let logBytes: Int
    let hasOutage: Bool

    init(of daemon: VirtualDaemon, hasOutage: Bool) throws {
        let state = try ProcessState(of: daemon.daemon.pid)
        residentKiB = state.residentKiB
        descriptors = state.descriptors
        walBytes = try Self.size(of: daemon.stage.store + "-wal")
        logBytes = try Self.size(of: daemon.logFile)
        self.hasOutage = hasOutage
    }

    var text: String { "\(residentKiB) KiB, \(descriptors) descriptors, WAL of \(walBytes / 1024) KiB" }

    private static func size(of path: String) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
}

/// All days, and the conditions that they must meet.
struct SoakRecord {
    let samples: [SoakSample]
    let accounts: Int

    /// The most that a daemon may grow.
    private static let growthMax = 1.05
    /// The largest log. SQLite writes it back to the database at the next commit after a thousand pages.
    private static let walMax = 6 << 20
    /// The most bytes logged on a day: forty refreshes with a line of some 300 bytes each, and other events.
    private static let calmDayMax = 32 << 10
    /// The most bytes logged on a day with an outage. Attempts come at most every few minutes, with a line each.
    private static let outageDayMax = 96 << 10

    /// The number of first days, in which caches fill: a tenth, but at least six, because everything happens within six
    /// days.
    private var warmUp: Int { min(max(samples.count / 10, 6), samples.count / 2) }
    private var settled: ArraySlice<SoakSample> { samples[warmUp...].prefix(max(1, (samples.count - warmUp) / 4)) }
    private var last: ArraySlice<SoakSample> { samples.suffix(max(1, (samples.count - warmUp) / 4)) }

    func judge(_ checks: Checks) {
        let (before, after) = (Self.median(settled.map(\.residentKiB)), Self.median(last.map(\.residentKiB)))
        let hasGrown = Double(after) > Double(before) * Self.growthMax
        checks.add("its memory does not grow", surprises: hasGrown ? ["\(before) KiB, then \(after) KiB"] : [])
        let (few, many) = (Self.median(settled.map(\.descriptors)), Self.median(last.map(\.descriptors)))
        checks.add("it keeps no descriptors", surprises: many > few + 1 ? ["\(few), then \(many)"] : [])
        let wal = samples.map(\.walBytes).max() ?? 0
        checks.add("the store's log is bounded", surprises: wal > Self.walMax ? ["\(wal) bytes"] : [])
        let (calm, outage) = (mostLogged(inOutage: false), mostLogged(inOutage: true))
        var surprises = calm > Self.calmDayMax ? ["\(calm) bytes on a calm day"] : []
        if outage > Self.outageDayMax { surprises.append("\(outage) bytes on a day with an outage") }
        checks.add("the journal is bounded", surprises: surprises)
    }

    var rows: [[String]] {
        [
            ["resident memory after \(warmUp) days, at the end", memory],
            ["descriptors after \(warmUp) days, at the end", descriptors],
            ["the store's log, at most", "\((samples.map(\.walBytes).max() ?? 0) / 1024) KiB"],
            ["journal of one account in one day, at most", "\(mostLogged(inOutage: false)) bytes"],
            ["… with three hours of outage", "\(mostLogged(inOutage: true)) bytes"],
        ]
    }

    private var memory: String {
        let (before, after) = (Self.median(settled.map(\.residentKiB)), Self.median(last.map(\.residentKiB)))
        return String(format: "%d KiB, %d KiB (%+.1f %%)", before, after, Double(after - before) * 100 / Double(before))
    }

    private var descriptors: String {
        "\(Self.median(settled.map(\.descriptors))), \(Self.median(last.map(\.descriptors)))"
    }

    /// The bytes for each account on the day with the most.
    private func mostLogged(inOutage hasOutage: Bool) -> Int {
        zip(samples, samples.dropFirst()).filter { $1.hasOutage == hasOutage }
            .map { ($1.logBytes - $0.logBytes) / accounts }.max() ?? 0
    }

    private static func median(_ values: [Int]) -> Int {
        values.sorted()[values.count / 2]
    }
}
