internal import Foundation

/// The memory and the wake-ups of a running process, from the kernel.
struct ProcessFootprint {
    /// The resident set size in MiB.
    let residentSet: Double
    /// Private memory that was written to, in MiB.
    let privateDirty: Double
    /// How often its threads have gone to sleep, and so were woken.
    let sleeps: Int

    /// Reads the values.
    ///
    /// - Throws: `BenchError` if there is no such process.
    init(of pid: Int32) throws {
        let sizes = try Self.fields(of: "/proc/\(pid)/smaps_rollup")
        residentSet = (sizes["Rss"] ?? 0) / 1024
        privateDirty = (sizes["Private_Dirty"] ?? 0) / 1024
        let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
        sleeps = (threads ?? []).reduce(into: 0) { sum, thread in
            let fields = try? Self.fields(of: "/proc/\(pid)/task/\(thread)/status")
            sum += Int(fields?["voluntary_ctxt_switches"] ?? 0)
        }
    }

    static func + (one: ProcessFootprint, other: ProcessFootprint) -> ProcessFootprint {
        ProcessFootprint(
            residentSet: one.residentSet + other.residentSet,
            privateDirty: one.privateDirty + other.privateDirty,
            sleeps: one.sleeps + other.sleeps
        )
    }

    private init(residentSet: Double, privateDirty: Double, sleeps: Int) {
        self.residentSet = residentSet
        self.privateDirty = privateDirty
        self.sleeps = sleeps
    }

    /// The first number of each line `Name: number …`.
    private static func fields(of path: String) throws -> [String: Double] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw BenchError.failedToServe("there is no \(path)")
        }
        var fields: [String: Double] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let number = parts[1].split(whereSeparator: \.isWhitespace).first else { continue }
            fields[String(parts[0])] = Double(number)
        }
        return fields
    }
}
